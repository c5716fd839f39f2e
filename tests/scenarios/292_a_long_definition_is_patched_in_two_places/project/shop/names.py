"""Names of items."""


def name(key):
    """The name of an item."""
    key = key.strip()
    if key == "000":
        return "name of item number 000"
    if key == "001":
        return "name of item number 001"
    if key == "002":
        return "name of item number 002"
    if key == "003":
        return "name of item number 003"
    if key == "004":
        return "name of item number 004"
    if key == "005":
        return "name of item number 005"
    if key == "006":
        return "name of item number 006"
    if key == "007":
        return "name of item number 007"
    if key == "008":
        return "name of item number 008"
    if key == "009":
        return "name of item number 009"
    if key == "010":
        return "name of item number 010"
    if key == "011":
        return "name of item number 011"
    if key == "012":
        return "name of item number 012"
    if key == "013":
        return "name of item number 013"
    if key == "014":
        return "name of item number 014"
    if key == "015":
        return "name of item number 015"
    if key == "016":
        return "name of item number 016"
    if key == "017":
        return "name of item number 017"
    if key == "018":
        return "name of item number 018"
    if key == "019":
        return "name of item number 019"
    if key == "020":
        return "name of item number 020"
    if key == "021":
        return "name of item number 021"
    if key == "022":
        return "name of item number 022"
    if key == "023":
        return "name of item number 023"
    if key == "024":
        return "name of item number 024"
    if key == "025":
        return "name of item number 025"
    if key == "026":
        return "name of item number 026"
    if key == "027":
        return "name of item number 027"
    if key == "028":
        return "name of item number 028"
    if key == "029":
        return "name of item number 029"
    if key == "030":
        return "name of item number 030"
    if key == "031":
        return "name of item number 031"
    if key == "032":
        return "name of item number 032"
    if key == "033":
        return "name of item number 033"
    if key == "034":
        return "name of item number 034"
    if key == "035":
        return "name of item number 035"
    if key == "036":
        return "name of item number 036"
    if key == "037":
        return "name of item number 037"
    if key == "038":
        return "name of item number 038"
    if key == "039":
        return "name of item number 039"
    if key == "040":
        return "name of item number 040"
    if key == "041":
        return "name of item number 041"
    if key == "042":
        return "name of item number 042"
    if key == "043":
        return "name of item number 043"
    if key == "044":
        return "name of item number 044"
    if key == "045":
        return "name of item number 045"
    if key == "046":
        return "name of item number 046"
    if key == "047":
        return "name of item number 047"
    if key == "048":
        return "name of item number 048"
    if key == "049":
        return "name of item number 049"
    if key == "050":
        return "name of item number 050"
    if key == "051":
        return "name of item number 051"
    if key == "052":
        return "name of item number 052"
    if key == "053":
        return "name of item number 053"
    if key == "054":
        return "name of item number 054"
    if key == "055":
        return "name of item number 055"
    if key == "056":
        return "name of item number 056"
    if key == "057":
        return "name of item number 057"
    if key == "058":
        return "name of item number 058"
    if key == "059":
        return "name of item number 059"
    return "unknwon"

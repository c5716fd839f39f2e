"""An answer on a terminal: laid out while its words come."""

import sys

import pytest

from scripted import Pieces

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_an_answer_is_laid_out_while_its_words_come(project, engine, columns):
    from terminal import Terminal, rendered

    text = "`discount` takes **the percentage** off the total and rounds nothing, whatever the total may be.\n\n- a total of 200 with 10 percent gives a price of 180 in the end\n\n```python\ndiscount(200, 10)  # a line of code stays one line, however long it is, here and there\n```\n"
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    server = engine(Pieces([*pieces, "Done."]))
    with Terminal(columns, "ask", "what does discount return?", "--project", str(project)) as terminal:
        assert server.waiting.wait(60)
        # The words are there before the reply has ended.
        terminal.expect("however")
        server.go_on.set()
        assert terminal.ended() == 0
    shown = "\n".join(rendered(terminal.everything, columns))
    broken = {40: "`discount` takes the percentage off the\ntotal and rounds nothing, whatever the\ntotal may be.\n", 80: "rounds nothing, whatever the\ntotal may be.\n", 200: "whatever the total may be.\n"}
    assert broken[columns] in shown, shown
    assert ("- a total of 200 with 10 percent gives a\n  price of 180" in shown) == (columns == 40)
    assert "\x1b[0;1mthe percentage\x1b[0m" in terminal.everything.replace("\x1b[0;1mthe\x1b[0m \x1b[0;1m", "\x1b[0;1mthe ")
    assert shown.count("Done.") == 1 and "\nchecked:\n" in shown


def test_without_colour_an_answer_stays_what_the_model_wrote(project, engine):
    from terminal import Terminal, rendered

    engine("## Why\n**Because** of `percent`, which is subtracted from the total as it is.\n")
    with Terminal(40, "ask", "what does discount return?", "--project", str(project), NO_COLOR="1") as terminal:
        assert terminal.ended() == 0
    shown = "\n".join(rendered(terminal.everything, 40))
    assert "## Why\n**Because** of `percent`, which is\nsubtracted from the total as it is.\n" in shown

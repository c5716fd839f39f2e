//! The words of English that tell a name from what is said around it.

/// A longer text is no sentence about a rename.
pub(super) const MOST_WORDS: usize = 1000;
/// Words that say what kind of thing a name is.
pub(super) const KINDS: &str = "function method class variable parameter argument param arg attribute attr field property \
    constant module package file name symbol identifier helper decorator exception type enum member local script test";
/// What may stand before a name or its kind and belongs to neither.
pub(super) const BEFORE_NAMES: &str = "the a an my our your this that these those its their every all each both of uses usages \
    occurrences references instances from private public local global static existing current old new python \
    please kindly everywhere globally just now also i we you i'd we'd want would like need to have let make get \
    should could can";
/// Words of a sentence that go on after a name; none of them is taken for a name behind a word of kind.
pub(super) const AFTER_NAMES: &str = "in on of at by for from with within inside into onto across throughout through over under \
    around about above below behind between beside besides against everywhere anywhere somewhere wherever where \
    whenever when while before after until till since because so as if unless whether then than and or but nor yet \
    too also only just even again now today tomorrow tonight yesterday soon asap pronto immediately quickly finally \
    eventually first next later afterwards afterward once always forever instead rather per via without plus \
    including excluding except along together all every each any some both either the a an this that these those my \
    our your its their his her it they them we you i he she us me please pls plz kindly thanks thank thankyou thx ty \
    cheers ok okay yes right alright btw globally locally consistently accordingly completely entirely fully properly \
    correctly carefully safely simply possibly preferably automatically directly permanently project-wide projectwide \
    repo-wide repowide to be is are was were will would should could can may might must shall do does did has have \
    had not no don't dont never let let's lets want need like which who whose what how why there here up down out off \
    already still anyway though however using keeping leaving making updating ensuring changing note everyone everybody everything mate buddy dear sir folks guys man";
/// Words that stand where a name would and are none.
pub(super) const NO_NAMES: &str = "it this that these those the something anything everything a an be to all them from at in on of by for with \
    and or as so not like";
/// Words that go on with "to" and are no old name: "rename a to b, similar to c".
pub(super) const LEADING_ON: &str = "according due thanks prior similar easier harder nicer better simpler clearer quicker \
    closer close compared contrary relative owing next up back in it is remember want try need uses usages references \
    calls callers occurrences imports";

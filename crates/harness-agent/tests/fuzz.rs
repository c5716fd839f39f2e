//! Runs the fuzz bodies for replies on texts made of what models write.

#[path = "../../../fuzz/replies.rs"]
#[expect(unreachable_pub, reason = "the fuzzer's own package calls them too")]
mod replies;

use proptest::prelude::*;

/// Pieces of replies in every form that is read.
const PIECES: &[&str] = &[
    "```python\n",
    "```\n",
    "~~~\n",
    "````\n",
    "def f():\n",
    "    return 1\n",
    "    return 2\n",
    "class A:\n",
    "    def m(self):\n",
    "        return 1\n",
    "        return 3\n",
    "import os\n",
    "from a import (\n",
    ")\n",
    "\n",
    "\r\n",
    "\t",
    "a.py\n",
    "`a.py`\n",
    "<<<<<<< SEARCH\n",
    "=======\n",
    ">>>>>>> REPLACE\n",
    "--- a/a.py\n",
    "+++ b/a.py\n",
    "+++ /dev/null\n",
    "@@ -1,2 +1,2 @@ def f():\n",
    "@@\n",
    "-    return 1\n",
    "+    return 2\n",
    " def f():\n",
    "*** Begin Patch\n",
    "*** Update File: a.py\n",
    "*** Add File: b.py\n",
    "*** Delete File: a.py\n",
    "*** Move to: c.py\n",
    "*** End Patch\n",
    "Action: patch\n",
    "Action: edit\n",
    "Action: done\n",
    "Path: a.py\n",
    "Name: A.m\n",
    "Find:\n",
    "Replace:\n",
    "Append:\n",
    "Summary: x\n",
    "{\"tool\": \"patch\", \"path\": \"a.py\", \"old\": \"return 1\", ",
    "\"new\": \"return 2\"}",
    "{\"tool\": \"edit\", \"path\": \"a.py\", \"content\": \"",
    "\"}",
    "'",
    "\"",
    "{",
    "}",
    "[",
    "]",
    "<think>\n",
    "</think>\n",
    "<|channel|>",
    "<|message|>",
    "<function=patch>",
    "<parameter=path>a.py</parameter>",
    "</function>",
    "<invoke name=\"edit\">",
    "</invoke>",
    "...\n",
    "# ... existing code ...\n",
    "1 | def f():\n",
    "\\",
    "é",
    "漢",
    "\u{1F600}",
    "\u{0}",
    "\u{85}",
    "\"\"\"",
    "x = 1\n",
    ":start_line:3\n",
    "-------\n",
    "Some words. ",
    "RATE = 3\n",
];

const FILES: &[&str] = &[
    "def f():\n    return 1\n\n\nclass A:\n    def m(self):\n        return 1\n",
    "import os\r\n\r\n\r\ndef f():\r\n\treturn 1\r\n",
    "def f(:\n",
    "",
    "x = '''\ndef f():\n    return 1\n'''\nif x:\n    def f():\n        return 1",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replies_never_break_a_file(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30),
        file in proptest::sample::select(FILES),
    ) {
        replies::reply(file, &pieces.concat());
    }

    #[test]
    fn any_text_is_read(text in ".{0,300}") {
        replies::reply(FILES[0], &text);
    }
}

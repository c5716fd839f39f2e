//! Runs the fuzz bodies on inputs that look like code, on real code cut to pieces, and on inputs known to be hard.

#[path = "../../../fuzz/bodies.rs"]
#[expect(unreachable_pub, reason = "the fuzzer's own package calls them too")]
mod bodies;

use proptest::prelude::*;

/// Pieces from which the generated texts are made: what parsers of many languages stumble over.
const PIECES: &[&str] = &[
    "def f(",
    "):\n",
    "    ",
    "\t",
    "class A",
    "(B):\n",
    "\n",
    "\r\n",
    "\r",
    "\"\"\"",
    "'''",
    "\"",
    "'",
    "`",
    "#",
    "@d\n",
    "import a.b",
    "from . import ",
    "from ...x import (",
    "__all__ = [",
    "return ",
    "lambda x: ",
    "f\"{",
    "}\"",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ":",
    ",",
    ".",
    "=",
    "=>",
    "->",
    "::",
    "fn f(",
    "impl X for Y {",
    "#[a]\n",
    "///d\n",
    "//",
    "/*",
    "*/",
    "pub mod m;",
    "use a::{b, c::*};",
    "struct S",
    "function f(",
    "class C extends ",
    "const a = (",
    "export default ",
    "async ",
    "func (r *T) ",
    "package p\n",
    "type T struct",
    "public void m(",
    "namespace N",
    "template<",
    "#include \"x\"\n",
    "#define M(x) ",
    "module M\n",
    "end\n",
    "do |x|",
    "<?php ",
    "?>",
    "$x",
    "f() {",
    "if [ ",
    "<<EOF\n",
    "é",
    "漢",
    "\u{1F600}",
    "\u{0}",
    "\u{feff}",
    "\\",
    "\u{85}",
    "x",
    "1",
    "0x",
    "if x:\n",
    "else",
    "try:\n",
    "except ",
    "match x:\n",
    "case ",
    "type X = ",
    "await ",
    "\u{c}",
    "a b c",
];

fn code() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..60)
        .prop_map(|pieces| pieces.concat())
}

/// Real files of this repository, in several languages.
const FILES: &[&str] = &[
    include_str!("../src/text.rs"),
    include_str!("../../../fuzz/bodies.rs"),
    include_str!("../../../python/harness/__init__.py"),
];

fn torn() -> impl Strategy<Value = String> {
    let cut = (
        0..FILES.len(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
    );
    cut.prop_map(|(file, start, length)| {
        let text = FILES[file];
        let start = text.floor_char_boundary(start.index(text.len()));
        let end = text.floor_char_boundary((start + length.index(600)).min(text.len()));
        format!(
            "{}{}",
            &text[..start.min(3000)],
            &text[end..text.len().min(end + 3000).max(end)]
        )
        .chars()
        .take(2500)
        .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        bodies::path(&data);
        bodies::text(&data);
        bodies::symbols(&data);
        bodies::edit(&data);
        bodies::passage(&data);
        bodies::companions(&data);
    }

    #[test]
    fn code_like_text(content in code()) {
        bodies::text(content.as_bytes());
        bodies::symbols(content.as_bytes());
        bodies::edit(content.as_bytes());
        bodies::passage(content.as_bytes());
        bodies::companions(content.as_bytes());
    }

    #[test]
    fn torn_files(content in torn()) {
        bodies::symbols(content.as_bytes());
        bodies::edit(content.as_bytes());
        bodies::passage(content.as_bytes());
        bodies::companions(content.as_bytes());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "projects are laid out in a temporary folder"
)]
fn lay_out(folder: &std::path::Path, names: &[&str], contents: &[String]) {
    for (name, content) in names.iter().zip(contents) {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            let _ = std::fs::create_dir_all(parent);
        }
        let _ = std::fs::write(path, content);
    }
}

const NAMES: &[&str] = &[
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "package.json",
    "README.md",
    "Cargo.toml",
    "go.mod",
    "Makefile",
    "tox.ini",
    "a/__init__.py",
    "a/b.py",
    "test_c.py",
    "src/d.rs",
    "e.ts",
    "f.go",
    ".gitignore",
    "pom.xml",
    "AGENTS.md",
    "g.h",
    "noext",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn projects_of_anything(contents in proptest::collection::vec(code(), NAMES.len()), data in code()) {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path(), NAMES, &contents);
        bodies::project(folder.path(), data.as_bytes());
    }
}

/// Pieces of tasks: what people and their tools paste.
const SAID: &[&str] = &[
    "fix ",
    "the ",
    "`",
    "```",
    "```python\n",
    "\n",
    "\r\n",
    "Traceback (most recent call last):\n",
    "  File \"",
    "a/b.py",
    "src/d.rs",
    "\", line ",
    "7",
    "99999999999999999999",
    ", in ",
    "f\n",
    "::",
    "test_c.py::test_x",
    "ValueError: ",
    "\"",
    "'",
    "a.b.c",
    "from a import b",
    "import a.b as c\n",
    "A.b()",
    "/etc/passwd",
    "../../x",
    "C:\\x",
    "\\",
    "é",
    "漢",
    "\u{0}",
    "L027",
    ">>> ",
    "$ ",
    "- ",
    "# ",
    "https://x.y/z?q=1",
    "(",
    ")",
    ".",
    "..",
    "rename ",
    " to ",
    "why ",
    "?",
    "SourceTree",
    "decode",
    "Text.decode",
    "crates",
    "text.rs",
    ":12:3",
    "\u{1F600}",
    "\t",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tasks_of_anything(said in proptest::collection::vec(proptest::sample::select(SAID), 0..80), data in proptest::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let contents = [FILES[0].to_owned(), FILES[2].to_owned(), "def f(x):\n    raise ValueError('no')\n".to_owned()];
        lay_out(folder.path(), &["src/text.rs", "a/__init__.py", "a/b.py"], &contents);
        let tree = harness_code::tree::SourceTree::read(folder.path(), None).unwrap();
        bodies::task(&tree, said.concat().as_bytes());
        bodies::task(&tree, &data);
    }
}

#[test]
fn inputs_known_to_be_hard() {
    // Error recovery is quadratic in some grammars; this is deep enough for every stack.
    let deep = 3_000;
    let hard = [
        "(".repeat(deep),
        "[".repeat(deep) + &"]".repeat(deep),
        "{".repeat(deep),
        "a(".repeat(deep),
        "x = ".repeat(deep),
        "1+".repeat(deep),
        "not ".repeat(deep),
        "\"\"\"".to_string() + &"a".repeat(deep),
        "if x:\n ".repeat(200),
        "<".repeat(deep),
        "/*".repeat(deep),
        "class A { ".repeat(500),
        "f\"{".repeat(500),
        "a::".repeat(deep),
        "use a::{".repeat(500),
        "@".repeat(deep),
        "\n".repeat(deep),
        "#".repeat(deep),
        "const a = () => ".repeat(500),
        "a.b().c".repeat(500),
    ];
    for content in hard {
        let started = std::time::Instant::now();
        bodies::symbols(content.as_bytes());
        assert!(started.elapsed().as_secs() < 60, "{}…", &content[..20]);
    }
}

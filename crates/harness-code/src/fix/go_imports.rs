//! The imports of a changed Go file: those that its code lacks are added, those that it uses no longer go. The compiler
//! takes neither for granted.

use crate::language::Language;
use crate::symbols;
use crate::symbols::code::{CodeToken, code_tokens};
use crate::text::line_ending;
use crate::tree::SourceTree;

/// Packages of the standard library whose last word names one of them only.
const STANDARD: &str = "bufio bytes cmp compress/gzip container/heap container/list context crypto/hmac crypto/md5 \
crypto/sha1 crypto/sha256 crypto/sha512 crypto/tls crypto/x509 database/sql embed encoding/base64 encoding/binary \
encoding/csv encoding/hex encoding/json encoding/xml errors expvar flag fmt hash/crc32 hash/fnv html io io/fs io/ioutil \
iter log log/slog maps math math/big math/bits math/cmplx mime mime/multipart net net/http net/http/httptest net/mail \
net/netip net/textproto net/url os os/exec os/signal os/user path path/filepath reflect regexp runtime runtime/debug \
slices sort strconv strings sync sync/atomic syscall testing text/tabwriter time unicode unicode/utf16 unicode/utf8 unsafe";

/// One import of a file.
struct Imported {
    /// The name that the code knows it by.
    name: String,
    path: String,
    /// Its line, from 0.
    line: usize,
}

/// Returns a Go file with its imports in order, and what was done, where that is certain.
pub fn go_imports(
    tree: &SourceTree,
    before: Option<&str>,
    after: &str,
) -> Option<(String, Vec<String>)> {
    if !symbols::parses(Language::Go, after) {
        return None;
    }
    let tokens = code_tokens(Language::Go, after);
    let imports = imports(after);
    let had = before.map(|text| code_tokens(Language::Go, text));
    let was_used = |one: &Imported| had.as_ref().is_some_and(|had| uses(had, &one.name));
    let unused: Vec<&Imported> = imports
        .iter()
        .filter(|one| !uses(&tokens, &one.name) && was_used(one))
        .collect();
    let mut lacking: Vec<String> = packages_used(&tokens)
        .into_iter()
        .filter(|name| !imports.iter().any(|one| one.name == *name))
        .filter_map(|name| path_of(tree, name))
        .collect();
    lacking.sort();
    lacking.dedup();
    if unused.is_empty() && lacking.is_empty() {
        return None;
    }
    let ending = line_ending(after).as_str();
    let mut lines: Vec<Option<String>> = after
        .split_inclusive('\n')
        .map(|line| Some(line.to_owned()))
        .collect();
    let mut done = Vec::new();
    for path in lacking {
        let (at, line) = new_line(&imports, after, &path, ending);
        if let Some(Some(old)) = lines.get_mut(at) {
            old.push_str(&line);
            done.push(format!("`import \"{path}\"` added"));
        }
    }
    for one in unused {
        // What was added behind it stays.
        if let Some(line) = lines.get_mut(one.line)
            && let Some(text) = line
        {
            *text = text.split_inclusive('\n').skip(1).collect();
            done.push(format!("`import \"{}\"` removed", one.path));
        }
    }
    let text: String = lines.into_iter().flatten().collect();
    symbols::parses(Language::Go, &text).then_some((text, done))
}

/// Returns the line, from 0, that a new import follows, and the new import's own.
fn new_line(imports: &[Imported], text: &str, path: &str, ending: &str) -> (usize, String) {
    let is_grouped = |one: &&Imported| {
        let line = text.lines().nth(one.line).unwrap_or_default();
        !line.trim_start().starts_with("import")
    };
    let smaller = imports
        .iter()
        .filter(is_grouped)
        .rfind(|one| one.path.as_str() < path);
    if let Some(one) = smaller {
        return (one.line, format!("\t\"{path}\"{ending}"));
    }
    if let Some(first) = imports.iter().find(is_grouped) {
        return (
            first.line.saturating_sub(1),
            format!("\t\"{path}\"{ending}"),
        );
    }
    if let Some(last) = imports.last() {
        return (last.line, format!("import \"{path}\"{ending}"));
    }
    let clause = text.lines().position(|line| line.starts_with("package "));
    (
        clause.unwrap_or_default(),
        format!("{ending}import \"{path}\"{ending}"),
    )
}

fn imports(text: &str) -> Vec<Imported> {
    let found = symbols::read(Language::Go, text).imports;
    found
        .into_iter()
        .filter_map(|import| {
            let path = import.module.trim_matches(['"', '`']).to_owned();
            let line = (import.line as usize).checked_sub(1)?;
            let shown = text.lines().nth(line)?.trim();
            let shown = shown.strip_prefix("import").unwrap_or(shown).trim();
            let alias = shown.split(['"', '`']).next()?.trim();
            let name = match alias {
                "" => last_word(&path).to_owned(),
                alias => alias.to_owned(),
            };
            Some(Imported { name, path, line })
        })
        .collect()
}

/// Returns the name that a package has, by its path: versions do not count.
fn last_word(path: &str) -> &str {
    let mut words = path.rsplit('/');
    let last = words.next().unwrap_or(path);
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|rest| rest.parse::<u32>().is_ok());
    let last = if is_version {
        words.next().unwrap_or(last)
    } else {
        last
    };
    last.split(".v").next().unwrap_or(last)
}

/// Says whether code takes something out of a package.
fn uses(tokens: &[CodeToken], name: &str) -> bool {
    let mut pairs = tokens.windows(2);
    pairs.any(|pair| pair[0].text == name && pair[1].text == ".")
}

/// Returns the names that stand before a dot and an exported name, and nowhere else.
fn packages_used(tokens: &[CodeToken]) -> Vec<&str> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let is_qualifier = |at: usize| {
        let exported = text(at + 2).chars().next().is_some_and(char::is_uppercase);
        text(at + 1) == "." && exported && (at == 0 || text(at - 1) != ".")
    };
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let mut names: Vec<&str> = (0..tokens.len())
        .filter(|at| is_name(text(*at)) && is_qualifier(*at))
        .map(text)
        .collect();
    names.sort_unstable();
    names.dedup();
    // A variable of the same name is declared somewhere.
    let is_variable = |name: &str| {
        (0..tokens.len())
            .any(|at| text(at) == name && text(at + 1) != "." && !is_in_string(tokens, at))
    };
    names.retain(|name| !is_variable(name));
    names
}

fn is_in_string(tokens: &[CodeToken], at: usize) -> bool {
    let quote = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        token.is_some_and(|token| matches!(token.text.as_str(), "\"" | "`"))
    };
    quote(at.checked_sub(1)) && quote(Some(at + 1))
}

/// Returns the path of a package by its name: one that the project imports somewhere, or one of the standard library.
fn path_of(tree: &SourceTree, name: &str) -> Option<String> {
    let files = || {
        tree.files()
            .iter()
            .filter(|file| file.language == Language::Go)
    };
    // A variable of the package, in another file.
    let mut definitions = files().flat_map(|file| &file.facts.definitions);
    if definitions.any(|one| one.name() == name) {
        return None;
    }
    let mut known: Vec<String> = files()
        .flat_map(|file| &file.facts.imports)
        .map(|import| import.module.trim_matches(['"', '`']).to_owned())
        .filter(|path| last_word(path) == name)
        .collect();
    known.sort();
    known.dedup();
    match known.as_slice() {
        [] => {
            let mut standard = STANDARD.split_whitespace();
            standard
                .find(|path| last_word(path) == name)
                .map(str::to_owned)
        }
        [only] => Some(only.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::disallowed_methods,
        reason = "the project of a test is a temporary folder"
    )]

    use super::*;
    use std::fs;

    fn put_right(before: &str, after: &str) -> Option<(String, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("a.go"),
            "package a\n\nimport \"example.org/own/v2\"\n",
        )
        .unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        go_imports(&tree, Some(before), after)
    }

    #[test]
    fn imports_follow_the_code() {
        for (before, after, expected) in [
            (
                "package a\n",
                "package a\n\nvar m = sync.Map{}\n",
                "package a\n\nimport \"sync\"\n\nvar m = sync.Map{}\n",
            ),
            (
                "package a\n\nimport \"fmt\"\n\nfunc f() { fmt.Println() }\n",
                "package a\n\nimport \"fmt\"\n\nfunc f() { os.Exit(own.Code) }\n",
                "package a\n\nimport \"example.org/own/v2\"\nimport \"os\"\n\nfunc f() { os.Exit(own.Code) }\n",
            ),
            (
                "package a\n",
                "package a\n\nimport (\n\t\"fmt\"\n\t\"time\"\n)\n\nfunc f() { fmt.Println(strings.ToUpper(time.RFC3339), errors.New(\"\")) }\n",
                "package a\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n\t\"strings\"\n\t\"time\"\n)\n\nfunc f() { fmt.Println(strings.ToUpper(time.RFC3339), errors.New(\"\")) }\n",
            ),
        ] {
            let (text, done) = put_right(before, after).unwrap();
            assert_eq!(text, expected);
            assert!(!done.is_empty());
        }
    }

    #[test]
    fn what_is_not_certain_stays() {
        for after in [
            // A variable.
            "package a\n\nfunc f(sync T) { sync.Go() }\n",
            // Two packages of one name.
            "package a\n\nvar n = rand.Int()\n",
            "package a\n\nvar n = unheard.Of()\n",
            // It was not used before either.
            "package a\n\nimport \"fmt\"\n",
            "package a\n\nfunc f( {\n",
        ] {
            assert_eq!(put_right("package a\n", after), None, "{after}");
        }
    }
}

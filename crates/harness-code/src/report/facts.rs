//! Questions of fact, answered from the code: where something is defined, what calls it, what it returns, where an error comes from.

use crate::mention::{Mentions, NamedDefinition};
use crate::path::RelPath;
use crate::request::Request;
use crate::symbols::Definition;
use crate::text::is_among;
use crate::tree::{SourceFile, SourceTree};

/// Something that was read off the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What is so.
    pub text: String,
    /// The file that shows it.
    pub path: RelPath,
    /// The line that shows it, from 1.
    pub line: u32,
}

impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}:{})", self.text, self.path, self.line)
    }
}

/// Definitions that are looked into: a question is about one or two.
const MOST_DEFINITIONS: usize = 3;
/// Callers, returns and calls that are listed of each.
const MOST_EACH: usize = 8;

/// What a question wants to know, told from its words.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    place: bool,
    callers: bool,
    calls: bool,
    returns: bool,
}

impl Wanted {
    fn read(question: &Request) -> Wanted {
        let words: Vec<String> = question.words().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let says = |known: &str| words.iter().any(|word| is_among(known, word));
        // "what does X call" asks for what X calls, every other use of the word for who calls X.
        let calls = words
            .windows(2)
            .any(|pair| matches!(pair, ["does" | "do", _]))
            && words
                .last()
                .is_some_and(|last| matches!(*last, "call" | "use"));
        let calling = "\
            call calls called caller callers use uses used usage usages depends invokes invoked";
        let callers = !calls && says(calling);
        let returns = says("return returns returned result yield yields");
        let place = says("where defined defines definition declared located implemented signature");
        Wanted {
            place: place || callers || calls || returns,
            callers,
            calls,
            returns,
        }
    }
}

/// Returns what the code says to `question`; `mentions` is what the question names.
pub fn facts(tree: &SourceTree, question: &Request, mentions: &Mentions) -> Vec<Fact> {
    let wanted = Wanted::read(question);
    let mut found = Vec::new();
    for frame in mentions.frames.iter().rev().take(1) {
        let error = mentions.errors.first().map_or_else(
            || "the error".to_owned(),
            |error| format!("`{}`", error.kind),
        );
        let line = line_of(tree, &frame.path, frame.line);
        found.push(Fact {
            text: format!("{error} is raised by `{}`", line.trim()),
            path: frame.path.clone(),
            line: frame.line,
        });
    }
    let asked = mentions.definitions.iter().filter(|_| wanted.place);
    for named in asked.take(MOST_DEFINITIONS) {
        let Some((file, definition)) = find(tree, named) else {
            continue;
        };
        found.push(Fact {
            text: format!(
                "`{}` is defined: `{}`",
                definition.qualified, definition.signature
            ),
            path: file.path.clone(),
            line: definition.line,
        });
        if wanted.returns {
            found.extend(returns(tree, file, definition));
        }
        if wanted.callers {
            found.extend(callers(tree, definition));
        }
        if wanted.calls {
            found.extend(calls(tree, file, definition));
        }
    }
    found.dedup();
    found
}

fn find<'t>(
    tree: &'t SourceTree,
    named: &NamedDefinition,
) -> Option<(&'t SourceFile, &'t Definition)> {
    let file = tree.file(&named.path)?;
    let mut same = file.facts.definitions.iter();
    let definition = same.find(|d| *d.qualified == *named.qualified && d.line == named.line)?;
    Some((file, definition))
}

fn line_of(tree: &SourceTree, path: &RelPath, line: u32) -> String {
    let text = tree.text(path).ok();
    let at = (line as usize).checked_sub(1);
    text.and_then(|text| Some(text.content().lines().nth(at?)?.to_owned()))
        .unwrap_or_default()
}

/// The `return` and `yield` lines inside a definition; what inner functions return is theirs.
fn returns(tree: &SourceTree, file: &SourceFile, definition: &Definition) -> Vec<Fact> {
    let Ok(text) = tree.text(&file.path) else {
        return Vec::new();
    };
    let inner: Vec<(u32, u32)> = file
        .facts
        .definitions
        .iter()
        .filter(|other| other.line > definition.line && other.end_line <= definition.end_line)
        .map(|other| (other.line, other.end_line))
        .collect();
    let lines = text.content().lines().zip(1u32..);
    lines
        .filter(|(_, line)| (definition.line..=definition.end_line).contains(line))
        .filter(|(_, line)| !inner.iter().any(|(from, to)| (*from..=*to).contains(line)))
        .filter(|(content, _)| {
            let word = content.split_whitespace().next().unwrap_or("");
            matches!(word, "return" | "yield") || word.starts_with("return;")
        })
        .take(MOST_EACH)
        .map(|(content, line)| Fact {
            text: format!("`{}` has `{}`", definition.qualified, content.trim()),
            path: file.path.clone(),
            line,
        })
        .collect()
}

/// Definitions whose code calls something of this name. Two definitions of one name cannot be told apart here.
fn callers(tree: &SourceTree, definition: &Definition) -> Vec<Fact> {
    let name = definition.name();
    let mut found = Vec::new();
    for file in tree.files() {
        for caller in &file.facts.definitions {
            let calls = caller
                .calls
                .iter()
                .any(|&id| file.facts.names.get(id) == name);
            // A class calls what its methods call: the method is the one to name.
            if calls && caller.kind.is_function() && found.len() < MOST_EACH {
                found.push(Fact {
                    text: format!("`{}` calls `{name}`", caller.qualified),
                    path: file.path.clone(),
                    line: call_line(tree, file, caller, name).unwrap_or(caller.line),
                });
            }
        }
    }
    found
}

/// A call of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The file.
    pub path: RelPath,
    /// The line, from 1.
    pub line: u32,
    /// The line as it stands there, without the blanks around it.
    pub code: String,
}

/// Returns lines outside of tests that call a definition, the nearest first. Where several definitions bear the name,
/// nobody can tell which one is called: then there are none.
pub fn uses(tree: &SourceTree, home: &RelPath, name: &str, most: usize) -> Vec<CallSite> {
    let bearers = tree.definitions().filter(|(_, other)| other.name() == name);
    if name.is_empty() || bearers.take(2).count() != 1 {
        return Vec::new();
    }
    let mut files: Vec<&SourceFile> = tree.files().iter().filter(|file| !file.test).collect();
    files.sort_by_key(|file| &file.path != home);
    let callers = files.into_iter().flat_map(|file| {
        let calls = |caller: &&Definition| {
            let mut calls = caller.calls.iter();
            caller.kind.is_function()
                && caller.name() != name
                && calls.any(|&id| file.facts.names.get(id) == name)
        };
        let callers = file.facts.definitions.iter().filter(calls);
        callers.filter_map(move |caller| {
            let line = call_line(tree, file, caller, name)?;
            Some(CallSite {
                path: file.path.clone(),
                line,
                code: line_of(tree, &file.path, line).trim().to_owned(),
            })
        })
    });
    callers.take(most).collect()
}

fn call_line(tree: &SourceTree, file: &SourceFile, caller: &Definition, name: &str) -> Option<u32> {
    let text = tree.text(&file.path).ok()?;
    let call = format!("{name}(");
    let body = text.content().lines().zip(1u32..);
    body.filter(|(_, line)| (caller.line..=caller.end_line).contains(line))
        .find(|(content, line)| *line > caller.line && content.contains(&call))
        .map(|(_, line)| line)
}

/// The project's own definitions that this one calls, where the name is theirs alone.
fn calls(tree: &SourceTree, file: &SourceFile, definition: &Definition) -> Vec<Fact> {
    let mut found = Vec::new();
    for &id in &definition.calls {
        let name = file.facts.names.get(id);
        let mut bearers = tree
            .definitions()
            .filter(|(_, other)| other.name() == name && other.kind.is_function());
        if let (Some((at, called)), None) = (bearers.next(), bearers.next())
            && found.len() < MOST_EACH
        {
            found.push(Fact {
                text: format!("`{}` calls `{}`", definition.qualified, called.qualified),
                path: at.path.clone(),
                line: called.line,
            });
        }
    }
    found
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay a project out")]
mod tests {
    use super::*;

    fn answers(question: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("price.py"),
            "def net_price(x):\n    if x:\n        return x\n    return 0\n\n\ndef gross_price(x):\n    return net_price(x) * 2\n",
        )
        .unwrap();
        std::fs::write(
            folder.path().join("cart.py"),
            "from price import net_price\n\n\nclass Cart:\n    def total_of(self):\n        return net_price(3)\n",
        )
        .unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let question = &Request::read(question);
        let mentions = Mentions::of(question, &tree);
        facts(&tree, question, &mentions)
            .iter()
            .map(Fact::to_string)
            .collect()
    }

    #[test]
    fn where_it_is_defined() {
        assert_eq!(
            answers("where is gross_price defined?"),
            ["`gross_price` is defined: `def gross_price(x)` (price.py:7)"]
        );
    }

    #[test]
    fn what_calls_it() {
        assert_eq!(
            answers("what calls net_price?")[1..],
            [
                "`Cart.total_of` calls `net_price` (cart.py:6)",
                "`gross_price` calls `net_price` (price.py:8)"
            ]
        );
    }

    #[test]
    fn calls_are_shown_as_they_stand_nearest_first() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "price.py",
            "def net(x):\n    return x\n\n\ndef gross(x):\n    return net(x) * 2\n",
        );
        write(
            "a.py",
            "from price import net\n\n\ndef total():\n    return net(3)\n",
        );
        write(
            "test_a.py",
            "from price import net\n\n\ndef test():\n    assert net(3)\n",
        );
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let home = RelPath::parse("price.py").unwrap();
        let shown = |name: &str, most| -> Vec<String> {
            let found = uses(&tree, &home, name, most);
            found
                .iter()
                .map(|one| format!("{}:{} {}", one.path, one.line, one.code))
                .collect()
        };
        assert_eq!(
            shown("net", 5),
            ["price.py:6 return net(x) * 2", "a.py:5 return net(3)"]
        );
        assert_eq!(shown("net", 1).len(), 1);
        assert!(shown("gross", 5).is_empty() && shown("absent", 5).is_empty());
        write(
            "b.py",
            "class Cart:\n    def net(self):\n        return 1\n",
        );
        let tree = SourceTree::read(folder.path(), None).unwrap();
        assert!(uses(&tree, &home, "net", 5).is_empty());
    }

    #[test]
    fn what_it_calls_and_returns() {
        assert_eq!(
            answers("what does gross_price call?")[1..],
            ["`gross_price` calls `net_price` (price.py:1)"]
        );
        assert_eq!(
            answers("what does net_price return?")[1..],
            [
                "`net_price` has `return x` (price.py:3)",
                "`net_price` has `return 0` (price.py:4)"
            ]
        );
    }

    #[test]
    fn what_a_traceback_means() {
        let told = answers(
            "what does this mean?\n\nTraceback (most recent call last):\n  File \"cart.py\", line 6, in total_of\n    return net_price(3)\nTypeError: no\n",
        );
        assert_eq!(
            told[0],
            "`TypeError` is raised by `return net_price(3)` (cart.py:6)"
        );
    }

    #[test]
    fn nothing_named_nothing_known() {
        assert!(answers("how does this work?").is_empty());
        assert!(answers("why is net_price so odd?").is_empty());
    }
}

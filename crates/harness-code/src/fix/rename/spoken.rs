//! Names that something other than Python reads: test runners, dispatchers of the standard library, printed texts.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

use super::super::members::{MemberKind, last_name};
use super::super::program::{File, FileId};
use super::super::values::ClassRef;
use super::family::Family;
use super::target::whole_words;
use super::{Renaming, Step, Stop};
use crate::scope::{BindingKind, SymbolId};

/// Classes of the standard library that look for methods by how their names begin.
const DISPATCHERS: &[(&str, &[&str])] = &[
    ("BaseHTTPRequestHandler", &["do_"]),
    ("Cmd", &["do_", "help_", "complete_"]),
    ("NodeVisitor", &["visit_"]),
    ("SMTPChannel", &["smtp_"]),
];

impl<'s> Renaming<'_, 's> {
    /// Refuses when a function or class of a module is known by its name to more than the code that refers to it.
    pub(super) fn check_spoken(&self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        let mut made = file
            .scopes
            .bindings_of(symbol)
            .filter_map(|binding| match binding.kind {
                BindingKind::Function(_) => Some(("test", false)),
                BindingKind::Class(node) => {
                    let bases = node.arguments.iter().flat_map(|arguments| &arguments.args);
                    let by_base = bases
                        .into_iter()
                        .any(|base| last_name(base).is_some_and(|name| name.ends_with("TestCase")));
                    Some(("Test", by_base))
                }
                _ => None,
            });
        let Some((prefix, by_base)) = made.next() else {
            return Ok(());
        };
        let is_test_file = self
            .program
            .path(file.id)
            .is_some_and(|path| is_collected(path.as_str()));
        if is_test_file && !by_base {
            self.check_still_a_test(prefix)?;
        }
        self.check_code_texts(file)?;
        self.check_dispatched()?;
        let records = file
            .scopes
            .bindings_of(symbol)
            .any(|binding| matches!(binding.kind, BindingKind::Class(node) if shows_itself(node)));
        self.check_printed(records, |before, after| {
            before.is_empty() && after.is_empty()
                || after.starts_with(['(', '[', '<', '>', ':', '.', '\'', '"', '='])
                || before.ends_with(['<', '\''])
        })
    }

    /// Refuses when a method or attribute is known by its name to more than the code that refers to it.
    pub(super) fn check_spoken_member(&self, family: &Family) -> Step<()> {
        self.check_template_texts()?;
        for &class in &family.own {
            let is_method = self.has_method(class);
            for base in self
                .program
                .lineage(class)
                .classes
                .iter()
                .filter(|_| is_method)
            {
                let ClassRef::Standard(_, name) = base else {
                    continue;
                };
                if *name == "TestCase" {
                    self.check_still_a_test("test")?;
                }
                let prefixes = DISPATCHERS.iter().find(|(class, _)| class == name);
                for prefix in prefixes.into_iter().flat_map(|(_, prefixes)| *prefixes) {
                    if self.old.starts_with(prefix) || self.new.starts_with(prefix) {
                        return Err(Stop::because(format!(
                            "`{name}` calls methods whose names begin with `{prefix}`"
                        )));
                    }
                }
            }
            if let ClassRef::Read(id, _) = class {
                let collected = |id: FileId| {
                    self.program
                        .path(id)
                        .is_some_and(|path| is_collected(path.as_str()))
                };
                if is_method && collected(id) && self.class_name(class).starts_with("Test") {
                    self.check_still_a_test("test")?;
                }
            }
        }
        if self.is_enumeration(family) {
            return self.check_printed(true, |before, after| {
                before.is_empty() && after.is_empty() || before.ends_with('.')
            });
        }
        if self.is_field(family) {
            return self.check_printed(true, |_, after| after.starts_with('='));
        }
        Ok(())
    }

    /// Refuses when a string is a template that reaches an attribute of the name: `"{{order.total}}"`.
    fn check_template_texts(&self) -> Step<()> {
        for file in self.files() {
            let mut spans = strings(&file, |text| {
                text.contains('{')
                    && whole_words(text, self.old).any(|at| text[..at].ends_with('.'))
            });
            spans.retain(|span| !self.is_edited(file.id, span));
            if !spans.is_empty() {
                return Err(Stop::Refuse(
                    format!("`{}` is reached by its name from a template", self.old),
                    self.places(&file, spans),
                ));
            }
        }
        Ok(())
    }

    fn has_method(&self, class: ClassRef) -> bool {
        let ClassRef::Read(id, scope) = class else {
            return false;
        };
        self.program.file(id).is_some_and(|file| {
            let members = file.members();
            let found = members
                .classes
                .get(&scope)
                .and_then(|class| class.members.get(self.old));
            found
                .into_iter()
                .flatten()
                .any(|member| matches!(member.kind, MemberKind::Body(BindingKind::Function(_))))
        })
    }

    /// Test runners find tests by their names.
    fn check_still_a_test(&self, prefix: &str) -> Step<()> {
        match (self.old.starts_with(prefix), self.new.starts_with(prefix)) {
            (true, false) => Err(Stop::because(format!(
                "tests are found by their names, and `{}` would not be found any more",
                self.new
            ))),
            (false, true) => Err(Stop::because(format!(
                "tests are found by their names, and `{}` would be taken for one",
                self.new
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses when a string holds the name in a way that a printed name looks like, and names are printed: a class
    /// that shows its own, or code that reads `__name__`.
    fn check_printed(
        &self,
        shows_itself: bool,
        looks_printed: impl Fn(&str, &str) -> bool,
    ) -> Step<()> {
        let mut printed: Option<(Rc<File<'s>>, Vec<Range<usize>>)> = None;
        for file in self.files() {
            let mut spans = strings(&file, |text| {
                whole_words(text, self.old)
                    .any(|at| looks_printed(&text[..at], &text[at + self.old.len()..]))
            });
            spans.retain(|span| !self.is_edited(file.id, span));
            if !spans.is_empty() {
                printed = Some((file, spans));
                break;
            }
        }
        let Some((file, spans)) = printed else {
            return Ok(());
        };
        let reads_names = |text: &str| {
            [".__name__", ".__qualname__"]
                .iter()
                .any(|word| text.contains(word))
        };
        if !shows_itself && self.program.sources.where_text(reads_names).is_empty() {
            return Ok(());
        }
        Err(Stop::Refuse(
            format!(
                "the name `{}` is shown as text, and a string may expect it",
                self.old
            ),
            self.places(&file, spans),
        ))
    }

    /// Refuses when a function is found through the name of this one: `getattr(self, f"visit_{type(node).__name__}")`.
    fn check_dispatched(&self) -> Step<()> {
        let readers = self.program.sources.where_text(|text| {
            [".__name__", ".__qualname__"]
                .iter()
                .any(|word| text.contains(word))
        });
        let mut beginnings: Vec<&str> = readers
            .iter()
            .flat_map(|id| beginnings(self.program.sources.text(*id)))
            .collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        let mut spelled = vec![
            self.old.to_string(),
            self.old.to_lowercase(),
            in_snake_case(self.old),
        ];
        spelled.dedup();
        for name in beginnings.iter().flat_map(|begin| {
            spelled
                .iter()
                .map(move |rest| format!("def {begin}{rest}("))
        }) {
            for id in self.program.sources.holding(&name) {
                let Some(file) = self.program.file(id) else {
                    continue;
                };
                let spans = file
                    .content()
                    .match_indices(&name)
                    .map(|(at, _)| at..at + name.len());
                return Err(Stop::Refuse(
                    format!(
                        "functions are found through names like `{}`, and one is named after it",
                        self.old
                    ),
                    self.places(&file, spans),
                ));
            }
        }
        Ok(())
    }

    /// Refuses when the file runs texts as code, and one of them holds the name.
    fn check_code_texts(&self, file: &Rc<File<'s>>) -> Step<()> {
        let runs = file.scopes.calls.iter().any(|call| {
            matches!(
                last_name(&call.node.func),
                Some("exec" | "eval" | "compile")
            ) && call.node.func.is_name_expr()
        });
        if !runs {
            return Ok(());
        }
        let mut spans = strings(file, |text| whole_words(text, self.old).next().is_some());
        spans.retain(|span| !self.is_edited(file.id, span));
        if spans.is_empty() {
            return Ok(());
        }
        Err(Stop::Refuse(
            format!("texts are run as code, and one holds `{}`", self.old),
            self.places(file, spans),
        ))
    }
}

/// The beginnings of names that a text puts before something else: `"visit_" + x`, `f"visit_{x}"`, `"visit_%s" % x`.
fn beginnings(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, quote) in text.match_indices(['"', '\'']) {
        let rest = &text[at + quote.len()..];
        let length = rest
            .find(|letter: char| letter != '_' && !letter.is_alphanumeric())
            .unwrap_or(rest.len());
        let (begin, after) = rest.split_at(length);
        if begin.len() > 1 && begin.ends_with('_') && after.starts_with(['"', '\'', '{', '%']) {
            found.push(begin);
        }
    }
    found
}

/// `CallBlock` as `call_block`.
fn in_snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Whether test runners look into a file for tests.
fn is_collected(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.trim_end_matches(".py");
    stem.starts_with("test") || stem.ends_with("_test") || stem.ends_with("_tests")
}

/// Whether Python itself prints the name of a class with its values.
fn shows_itself(node: &ruff_python_ast::StmtClassDef) -> bool {
    let decorated = node.decorator_list.iter().any(|decorator| {
        matches!(
            last_name(&decorator.expression),
            Some("dataclass" | "define" | "attrs" | "frozen" | "s")
        )
    });
    let bases = node.arguments.iter().flat_map(|arguments| &arguments.args);
    decorated
        || bases.into_iter().any(|base| {
            last_name(base).is_some_and(|name| {
                matches!(name, "NamedTuple" | "BaseModel" | "Struct")
                    || name.ends_with("Enum")
                    || name.ends_with("Flag")
            })
        })
}

/// The string literals of a file that are as wanted, docstrings left out.
fn strings(file: &File<'_>, wanted: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let tokens = file.source.parsed().tokens();
    let mut found = Vec::new();
    let mut begins_line = true;
    let mut iter = tokens.iter().peekable();
    while let Some(token) = iter.next() {
        let kind = token.kind();
        let ends_line = matches!(
            iter.peek().map(|next| next.kind()),
            Some(TokenKind::Newline) | None
        );
        let is_docstring = begins_line && ends_line;
        let is_string = matches!(kind, TokenKind::String | TokenKind::FStringMiddle);
        let text = super::computed::unquoted(file.text(token.range()));
        if is_string && !is_docstring && wanted(text) {
            found.push(token.range().into());
        }
        begins_line = matches!(
            kind,
            TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent
        ) || begins_line
            && matches!(kind, TokenKind::Comment | TokenKind::NonLogicalNewline);
    }
    found
}

//! Names that are put together while a program runs: `getattr(self, "visit_" + kind)`, `globals()[name]`.
//!
//! A computed name alone says nothing. Together with a string that spells the old name, or begins or ends like it,
//! it may be the renamed thing, and then the list of references is not complete.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::Expr;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged, TextRange};

use super::super::members::{MemberKind, last_name};
use super::super::program::{File, FileId, Module};
use super::super::values::{ClassRef, Value};
use super::family::Family;
use super::member::Belongs;
use super::taken::{Use, used};
use super::{Renaming, Step, Stop};
use crate::scope::BindingKind;

/// Functions that take an object and the name of one of its attributes.
const WITH_OBJECT: &[&str] = &["getattr", "setattr", "hasattr", "delattr"];

/// Methods that take the name of an attribute of what they are called on.
const ON_OBJECT: &[&str] = &[
    "__getattribute__",
    "__getattr__",
    "__setattr__",
    "__delattr__",
];

/// Functions that take a name now and the object later.
const WITHOUT_OBJECT: &[&str] = &["attrgetter", "methodcaller"];

/// What the renamed name belongs to.
#[derive(Clone, Copy)]
pub(super) enum Owner<'o> {
    /// Classes, and so their instances.
    Family(&'o Family),
    /// Modules.
    Modules(&'o [FileId]),
}

/// Whose attribute is reached by a computed name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// One of the owner.
    Owner,
    /// Nobody can tell whose.
    Unknown,
    /// One of something else.
    Other,
}

impl<'s> Renaming<'_, 's> {
    /// Refuses when a string spells the name, whole or in part, and attributes are reached by computed names.
    pub(super) fn check_computed(&self, owner: Owner<'_>) -> Step<()> {
        let mut spelled: Vec<(Rc<File<'s>>, Vec<Range<usize>>)> = Vec::new();
        let old = self.old;
        let candidates = self
            .program
            .sources
            .where_text(|text| text.contains(old) || may_spell(text, old));
        for id in candidates {
            let Some(file) = self.program.file(id) else {
                continue;
            };
            let strings = Strings::of(&file, self.old);
            if let Some(span) = strings.formatted.first() {
                return Err(Stop::Refuse(
                    format!("`{}` is reached through a string", self.old),
                    self.places(&file, [span.clone()]),
                ));
            }
            let mut spans = strings.spans;
            if let Owner::Family(family) = owner {
                spans.extend(self.handed_by_keyword(&file, family));
            }
            spans.retain(|span| !self.is_edited(id, span));
            if !spans.is_empty() {
                spelled.push((file, spans));
            }
        }
        if spelled.is_empty() {
            return Ok(());
        }
        // Something unknown that is reached by a computed name is counted only beside the string.
        let beside = spelled
            .iter()
            .find(|(file, _)| self.reaches(file, owner, Reached::Unknown));
        if let Some((file, spans)) = beside {
            return self.refuse_computed(file, spans);
        }
        let anywhere = self
            .files_about(owner)
            .iter()
            .any(|file| self.reaches(file, owner, Reached::Owner));
        match spelled.first() {
            Some((file, spans)) if anywhere => self.refuse_computed(file, spans),
            _ => Ok(()),
        }
    }

    fn refuse_computed(&self, file: &File<'s>, spans: &[Range<usize>]) -> Step<()> {
        Err(Stop::Refuse(
            format!(
                "attributes are reached by computed names, and a string may spell `{}`",
                self.old
            ),
            self.places(file, spans.iter().cloned()),
        ))
    }

    /// The files in which code of the owner, or with the owner's name, stands.
    fn files_about(&self, owner: Owner<'_>) -> Vec<Rc<File<'s>>> {
        let mut ids: Vec<FileId> = Vec::new();
        match owner {
            Owner::Modules(homes) => {
                ids.extend(homes);
                ids.extend(&self.holding);
            }
            Owner::Family(family) => {
                for own in &family.own {
                    ids.extend(self.program.sources.holding(&self.class_name(*own)));
                    for class in &self.program.lineage(*own).classes {
                        if let ClassRef::Read(id, _) = class {
                            ids.push(*id);
                        }
                    }
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
            .filter(|id| {
                let text = self.program.sources.text(*id);
                self.program.path(*id).is_some() && COMPUTING.iter().any(|word| text.contains(word))
            })
            .filter_map(|id| self.program.file(id))
            .collect()
    }

    /// Whether a file reaches attributes by computed names, of the owner or (`Reached::Unknown`) of something unknown.
    fn reaches(&self, file: &Rc<File<'s>>, owner: Owner<'_>, least: Reached) -> bool {
        // Something unknown is a module only where modules are got while the program runs.
        let may_be_owner = match owner {
            Owner::Family(_) => true,
            Owner::Modules(_) => ["sys.modules", "import_module", "__import__"]
                .iter()
                .any(|word| file.content().contains(word)),
        };
        let counts = |reached: Reached| {
            reached == Reached::Owner
                || reached == Reached::Unknown && least == Reached::Unknown && may_be_owner
        };
        let called = file.scopes.calls.iter().any(|call| {
            let arguments = &call.node.arguments.args;
            let Some(name) = last_name(&call.node.func) else {
                return false;
            };
            let computed = |argument: Option<&Expr>| {
                argument.is_some_and(|argument| !argument.is_string_literal_expr())
            };
            let value = |expression: &Expr| self.program.value(file, call.scope, expression);
            if WITH_OBJECT.contains(&name) && matches!(call.node.func.as_ref(), Expr::Name(_)) {
                return computed(arguments.get(1))
                    && arguments
                        .first()
                        .is_some_and(|first| counts(self.whose(&value(first), owner)));
            }
            if let (true, Expr::Attribute(method)) =
                (ON_OBJECT.contains(&name), call.node.func.as_ref())
            {
                // `object.__setattr__(self, name, value)` names the object first.
                let (object, attribute) = match arguments.len() {
                    2 if name != "__setattr__" => (arguments.first(), arguments.get(1)),
                    3 => (arguments.first(), arguments.get(1)),
                    _ => (None, arguments.first()),
                };
                let object = object.unwrap_or(&method.value);
                return computed(attribute) && counts(self.whose(&value(object), owner));
            }
            if WITHOUT_OBJECT.contains(&name) {
                return arguments.iter().any(|argument| computed(Some(argument)))
                    && counts(Reached::Unknown);
            }
            if name == "vars" {
                return used(file, call.node.range()) == Use::OneByOne
                    && arguments
                        .first()
                        .is_some_and(|first| counts(self.whose(&value(first), owner)));
            }
            matches!((name, owner), ("globals", Owner::Modules(homes)) if homes.contains(&file.id))
                && used(file, call.node.range()) == Use::OneByOne
        });
        called
            || file.scopes.attributes.iter().any(|attribute| {
                attribute.node.attr.as_str() == "__dict__"
                    && used(file, attribute.node.range()) == Use::OneByOne
                    && {
                        let value =
                            self.program
                                .value(file, attribute.scope, &attribute.node.value);
                        counts(self.whose(&value, owner))
                    }
            })
    }

    fn whose(&self, value: &Value, owner: Owner<'_>) -> Reached {
        match owner {
            Owner::Modules(homes) => match value {
                Value::Module(Module::File(id)) if homes.contains(id) => Reached::Owner,
                Value::Module(Module::Unknown | Module::Opaque) | Value::Unknown => {
                    Reached::Unknown
                }
                _ => Reached::Other,
            },
            Owner::Family(family) => match value {
                Value::Class(class) | Value::Instance(class) | Value::Super(class)
                    if self.is_kin(*class, family) =>
                {
                    Reached::Owner
                }
                _ => match self.belongs(value, family) {
                    Belongs::Family => Reached::Owner,
                    Belongs::Unknown => Reached::Unknown,
                    Belongs::Other => Reached::Other,
                },
            },
        }
    }

    /// Keyword arguments of the old name that a class of the family takes as `**options`.
    fn handed_by_keyword(&self, file: &Rc<File<'s>>, family: &Family) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for call in &file.scopes.calls {
            for keyword in &call.node.arguments.keywords {
                let Some(name) = keyword
                    .arg
                    .as_ref()
                    .filter(|name| name.as_str() == self.old)
                else {
                    continue;
                };
                let Value::Class(class) = self.program.value(file, call.scope, &call.node.func)
                else {
                    continue;
                };
                let declared = self.program.find_member(class, "__init__").is_some_and(|(_, member)| {
                    matches!(member.kind, MemberKind::Body(BindingKind::Function(node))
                        if node.parameters.iter_non_variadic_params().any(|parameter| parameter.name().as_str() == self.old))
                });
                if self.is_kin(class, family) && !declared {
                    found.push(name.range.into());
                }
            }
        }
        found
    }
}

/// Words without which no attribute is reached by a computed name.
const COMPUTING: &[&str] = &[
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "attrgetter",
    "methodcaller",
    "__getattribute__",
    "__dict__",
    "vars(",
    "globals()",
];

/// Whether a text may hold a string that spells a name, its beginning or its end: a quick look at every quote.
fn may_spell(text: &str, name: &str) -> bool {
    let bytes = text.as_bytes();
    let name = name.as_bytes();
    let is_gap = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\'' | b'{' | b'}' | b'%' | b's'));
    let computing = COMPUTING.iter().any(|word| text.contains(word));
    memchr::memchr2_iter(b'"', b'\'', bytes).any(|at| {
        let after = bytes.get(at + 1..).unwrap_or_default();
        let same = after
            .iter()
            .zip(name)
            .take_while(|(one, other)| one == other)
            .count();
        let before = bytes.get(..at).unwrap_or_default();
        let ending = before.iter().rev().zip(name.iter().rev());
        let same_end = ending.take_while(|(one, other)| one == other).count();
        same == name.len() && is_gap(after.get(same))
            || computing && same > 0 && is_gap(after.get(same))
            || computing && same_end > 0 && is_gap(before.iter().rev().nth(same_end))
    }) || text.contains('{') && reads_attribute(text, std::str::from_utf8(name).unwrap_or_default())
}

/// Functions whose first argument says again which name their result gets.
const SAYS_ITSELF: &[&str] = &[
    "TypeVar",
    "TypeVarTuple",
    "ParamSpec",
    "NewType",
    "namedtuple",
    "NamedTuple",
    "TypedDict",
];

/// The strings of a file that spell a name.
struct Strings {
    /// Those that are the name, or that something is added to which could make it the name.
    spans: Vec<Range<usize>>,
    /// Those that `format` reads the attribute from: `"{0.name}"`.
    formatted: Vec<Range<usize>>,
}

impl Strings {
    fn of(file: &File<'_>, old: &str) -> Strings {
        let mut found = Strings {
            spans: Vec::new(),
            formatted: Vec::new(),
        };
        let tokens: Vec<&Token> = file
            .source
            .parsed()
            .tokens()
            .iter()
            .filter(|token| {
                !matches!(
                    token.kind(),
                    TokenKind::Comment | TokenKind::NonLogicalNewline
                )
            })
            .collect();
        let kind = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map(|token| token.kind());
        for (at, token) in tokens.iter().enumerate() {
            let range: TextRange = token.range();
            let previous = kind(at.checked_sub(1));
            let next = kind(Some(at + 1));
            match token.kind() {
                TokenKind::String => {
                    let text = unquoted(file.text(range));
                    let method = tokens.get(at + 2).map(|name| file.text(name.range()));
                    let (begins, ends) = match (previous, next) {
                        (_, Some(TokenKind::Percent)) => around(text, '%'),
                        (_, Some(TokenKind::Dot)) if method == Some("format") => around(text, '{'),
                        (Some(TokenKind::Plus), Some(TokenKind::Plus)) => (text, text),
                        (_, Some(TokenKind::Plus)) => (text, ""),
                        (Some(TokenKind::Plus), _) => ("", text),
                        _ => ("", ""),
                    };
                    let maker = at.checked_sub(2).and_then(|at| tokens.get(at));
                    let says_itself = previous == Some(TokenKind::Lpar)
                        && maker.is_some_and(|name| SAYS_ITSELF.contains(&file.text(name.range())));
                    if (text == old && !says_itself) || is_part(old, begins, ends) {
                        found.spans.push(range.into());
                    }
                    if reads_attribute(text, old) {
                        found.formatted.push(range.into());
                    }
                }
                TokenKind::FStringMiddle => {
                    let text = file.text(range);
                    let begins = (previous == Some(TokenKind::FStringStart)
                        && next == Some(TokenKind::Lbrace))
                    .then_some(text);
                    let ends = (previous == Some(TokenKind::Rbrace)
                        && next == Some(TokenKind::FStringEnd))
                    .then_some(text);
                    if is_part(old, begins.unwrap_or_default(), ends.unwrap_or_default()) {
                        found.spans.push(range.into());
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// What stands before the first and after the last gap of a pattern.
fn around(text: &str, gap: char) -> (&str, &str) {
    let begins = text.split(gap).next().unwrap_or_default();
    let ends = match gap {
        '{' => text.rsplit('}').next().unwrap_or_default(),
        // A conversion such as `%s` is two letters long; longer ones do not make names.
        _ => text.rsplit_once("%s").map_or("", |(_, rest)| rest),
    };
    (begins, ends)
}

/// Whether a name begins or ends with a given text, and is more than that.
fn is_part(name: &str, begins: &str, ends: &str) -> bool {
    !begins.is_empty() && name.len() > begins.len() && name.starts_with(begins)
        || !ends.is_empty() && name.len() > ends.len() && name.ends_with(ends)
}

/// Whether `format` would read the attribute: `{0.name}`, `{item.name!r}`.
fn reads_attribute(text: &str, name: &str) -> bool {
    let accessed = format!(".{name}");
    text.match_indices(&accessed).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + accessed.len()..]);
        let field = before.rsplit('{').next().filter(|_| before.contains('{'));
        let inside = field.is_some_and(|field| {
            field
                .chars()
                .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '[' | ']'))
        });
        inside && after.starts_with(['}', '!', ':', '.', '['])
    })
}

/// The inside of a string literal, prefixes and quotes taken away.
pub(super) fn unquoted(literal: &str) -> &str {
    let text = literal.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    for quotes in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(inner) = text
            .strip_prefix(quotes)
            .and_then(|text| text.strip_suffix(quotes))
        {
            return inner;
        }
    }
    text
}

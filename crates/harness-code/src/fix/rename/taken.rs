//! Classes and modules whose names are all taken at once: `vars(x)`, `dir(x)`, `x.__dict__` and their kin.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::super::members::{Member, MemberKind, last_name};
use super::super::program::{File, FileId, Module};
use super::super::values::{ClassRef, Value};
use super::family::Family;
use super::{Renaming, Step, Stop};
use crate::scope::{BindingKind, Role, ScopeId};

/// Methods of a namespace that read or set single names, or copy it as it is.
const ONE_BY_ONE: &[&str] = &[
    "update",
    "copy",
    "get",
    "pop",
    "setdefault",
    "clear",
    "values",
    "__contains__",
    "__getitem__",
    "__setitem__",
];

/// Functions that give the names of what they are handed, and what each looks at.
const TAKERS: &[(&str, Names)] = &[
    ("vars", Names::Namespace),
    ("dir", Names::All),
    ("getmembers", Names::All),
    ("getmembers_static", Names::All),
    ("classify_class_attrs", Names::All),
    ("asdict", Names::Fields),
    ("fields", Names::Fields),
    ("fields_dict", Names::Fields),
    ("get_type_hints", Names::Fields),
    ("get_annotations", Names::Fields),
];

/// Attributes that give the names of what they belong to.
const TAKING: &[(&str, Names)] = &[
    ("__dict__", Names::Namespace),
    ("_asdict", Names::Fields),
    ("__annotations__", Names::Fields),
    ("__dataclass_fields__", Names::Fields),
    ("__attrs_attrs__", Names::Fields),
    ("model_dump", Names::Fields),
    ("model_fields", Names::Fields),
    ("__members__", Names::Members),
];

/// Which names of a thing are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Those that the instance itself holds, or that the class itself holds.
    Namespace,
    /// Every name that can be reached.
    All,
    /// The fields of a record.
    Fields,
    /// The members of an enumeration.
    Members,
}

/// Where the renamed member is kept.
struct Kept {
    in_instances: bool,
    in_class: bool,
    as_field: bool,
    in_enumeration: bool,
}

/// How the names of something are used at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// One name after the other: `x.__dict__[name]`, `name in vars(x)`, `x.__dict__.update(...)`.
    OneByOne,
    /// Walked, printed, handed on.
    Whole,
}

impl<'s> Renaming<'_, 's> {
    /// Refuses when code takes all names of one of the modules at once: `vars(module)`, `dir(module)`, `module.__dict__`.
    pub(super) fn check_taken_whole(&self, homes: &[FileId]) -> Step<()> {
        for file in self.files_that_take() {
            let is_home = |scope: ScopeId, expression: &Expr| {
                let value = self.program.value(&file, scope, expression);
                matches!(value, Value::Module(Module::File(id)) if homes.contains(&id))
            };
            let calls = file.scopes.calls.iter().filter(|call| {
                let arguments = &call.node.arguments;
                match (call.node.func.as_ref(), arguments.args.first()) {
                    (Expr::Name(name), Some(first)) => {
                        matches!(name.id.as_str(), "vars" | "dir") && is_home(call.scope, first)
                    }
                    // The names of this very module, unless they are reached one by one.
                    (Expr::Name(name), None) => {
                        let own = name.id.as_str() == "globals"
                            || (call.scope == 0
                                && matches!(name.id.as_str(), "vars" | "dir" | "locals"));
                        own && homes.contains(&file.id)
                            && arguments.is_empty()
                            && !self.is_handed_to_code(&file, call.node.range())
                            && used(&file, call.node.range()) == Use::Whole
                    }
                    _ => false,
                }
            });
            let attributes = file.scopes.attributes.iter().filter(|attribute| {
                attribute.node.attr.as_str() == "__dict__"
                    && is_home(attribute.scope, &attribute.node.value)
            });
            let spans: Vec<Range<usize>> = calls
                .map(|call| crate::scope::bytes(call.node))
                .chain(attributes.map(|attribute| crate::scope::bytes(attribute.node)))
                .collect();
            self.refuse_taken("the module", &file, spans)?;
        }
        Ok(())
    }

    /// Refuses when code takes all names of a class of the family, or of its instances, at once.
    pub(super) fn check_members_taken(&self, family: &Family) -> Step<()> {
        let kept = self.kept(family);
        for file in self.files_that_take() {
            let reaches = |scope: ScopeId, expression: &Expr, names: Names, place: TextRange| {
                let (class, on_instance) = match self.program.value(&file, scope, expression) {
                    Value::Class(class) => (class, false),
                    Value::Instance(class) => (class, true),
                    _ => return false,
                };
                let held = match names {
                    Names::Namespace if on_instance => kept.in_instances,
                    Names::Namespace => kept.in_class,
                    Names::All => kept.in_class || on_instance,
                    Names::Fields => kept.as_field,
                    Names::Members => kept.in_enumeration,
                };
                let taken = match names {
                    Names::Namespace => {
                        used(&file, place) == Use::Whole && !self.only_looks_up(&file, place)
                    }
                    Names::All => !self.only_looks_up(&file, place),
                    Names::Fields | Names::Members => true,
                };
                held && taken && self.is_kin(class, family)
            };
            let calls = file.scopes.calls.iter().filter_map(|call| {
                let name = last_name(&call.node.func)?;
                let (_, names) = TAKERS.iter().find(|(taker, _)| *taker == name)?;
                let first = call.node.arguments.args.first()?;
                let place = call.node.range();
                reaches(call.scope, first, *names, place).then(|| place.into())
            });
            let attributes = file.scopes.attributes.iter().filter_map(|attribute| {
                let name = attribute.node.attr.as_str();
                let (_, names) = TAKING.iter().find(|(taking, _)| *taking == name)?;
                let place = attribute.node.range();
                reaches(attribute.scope, &attribute.node.value, *names, place).then(|| place.into())
            });
            let spans: Vec<Range<usize>> = calls.chain(attributes).collect();
            self.refuse_taken(&self.owner_name(family), &file, spans)?;
        }
        if kept.in_enumeration {
            self.check_looked_up(family)?;
        }
        self.check_makers(family, &kept)
    }

    fn refuse_taken(&self, owner: &str, file: &File<'s>, spans: Vec<Range<usize>>) -> Step<()> {
        if spans.is_empty() {
            return Ok(());
        }
        Err(Stop::Refuse(
            format!(
                "all names of {owner} are taken at once, `{}` among them",
                self.old
            ),
            self.places(file, spans),
        ))
    }

    fn owner_name(&self, family: &Family) -> String {
        let name = family.own.first().map(|class| self.class_name(*class));
        format!("`{}`", name.unwrap_or_default())
    }

    /// The files that hold a word with which all names of something can be taken.
    fn files_that_take(&self) -> Vec<Rc<File<'s>>> {
        let words = TAKERS
            .iter()
            .map(|(name, _)| format!("{name}("))
            .chain(TAKING.iter().map(|(name, _)| (*name).to_string()))
            .chain(["globals()".to_string()]);
        let mut files: Vec<FileId> = Vec::new();
        for word in words {
            let begins = |text: &str, at: usize| {
                !text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
            };
            let found = self.program.sources.holding(&word);
            files.extend(found.into_iter().filter(|id| {
                let text = self.program.sources.text(*id);
                text.match_indices(&word).any(|(at, _)| begins(text, at))
            }));
        }
        files.sort_unstable();
        files.dedup();
        files
            .into_iter()
            .filter_map(|id| self.program.file(id))
            .collect()
    }

    /// Whether what holds for a class can hold for the family: it inherits from it, or `self` may be of the family.
    pub(super) fn is_kin(&self, class: ClassRef, family: &Family) -> bool {
        let below = self.program.lineage(class);
        below.classes.iter().any(|base| family.own.contains(base))
            || matches!(class, ClassRef::Read(..))
                && family
                    .own
                    .iter()
                    .any(|own| self.program.lineage(*own).classes.contains(&class))
    }

    fn kept(&self, family: &Family) -> Kept {
        let mut kept = Kept {
            in_instances: false,
            in_class: false,
            as_field: self.is_field(family),
            in_enumeration: self.is_enumeration(family),
        };
        for &class in &family.own {
            let ClassRef::Read(id, scope) = class else {
                continue;
            };
            let Some(file) = self.program.file(id) else {
                continue;
            };
            let members = file.members();
            let found = members.classes.get(&scope);
            for member in found.into_iter().flat_map(|class| {
                let members: Option<&Vec<Member<'_>>> = class.members.get(self.old);
                members.into_iter().flatten()
            }) {
                match member.kind {
                    MemberKind::Body(BindingKind::Function(node)) => {
                        kept.in_class = true;
                        kept.in_instances |= !stays_in_class(node);
                    }
                    MemberKind::Body(_) => {
                        kept.in_class = true;
                        kept.in_instances |= kept.as_field;
                    }
                    MemberKind::Slot => kept.in_class = true,
                    MemberKind::Set(_, set_in) => {
                        let on_class =
                            file.scopes
                                .function_around(set_in)
                                .is_some_and(|(_, node)| {
                                    super::super::members::method_kind(node)
                                        == super::super::members::MethodKind::Class
                                });
                        kept.in_class |= on_class;
                        kept.in_instances |= !on_class;
                    }
                }
            }
        }
        kept
    }

    /// Refuses when the members of an enumeration are looked up by a computed name: `Color[name]`.
    fn check_looked_up(&self, family: &Family) -> Step<()> {
        let mut names: Vec<String> = family.own.iter().map(|own| self.class_name(*own)).collect();
        names.dedup();
        for name in names.iter().filter(|name| !name.is_empty()) {
            for file in self.program.sources.holding(name) {
                let Some(file) = self.program.file(file) else {
                    continue;
                };
                let scopes = &file.scopes;
                let loads = scopes.occurrences.iter().filter(|occurrence| {
                    occurrence.role == Role::Load && scopes.name(occurrence.name) == name
                });
                let accesses = scopes
                    .attributes
                    .iter()
                    .filter(|attribute| attribute.node.attr.as_str() == name);
                let spans: Vec<Range<usize>> = loads
                    .map(|occurrence| occurrence.span)
                    .chain(accesses.map(|attribute| attribute.node.range()))
                    .filter(|span| {
                        let after = after(&file, *span);
                        let kinds =
                            [after.first(), after.get(1)].map(|token| token.map(|t| t.kind()));
                        kinds[0] == Some(TokenKind::Lsqb)
                            && kinds[1] != Some(TokenKind::String)
                            && !is_annotation(&file, *span)
                    })
                    .map(Range::from)
                    .collect();
                if !spans.is_empty() {
                    return Err(Stop::Refuse(
                        format!(
                            "members of `{name}` are looked up by computed names, `{}` may be one",
                            self.old
                        ),
                        self.places(&file, spans),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Refuses when what makes a class of the family looks at its names: a metaclass, or a decorator of the project.
    fn check_makers(&self, family: &Family, kept: &Kept) -> Step<()> {
        if !kept.in_class {
            return Ok(());
        }
        for &own in &family.own {
            for &class in &self.program.lineage(own).classes {
                let ClassRef::Read(id, scope) = class else {
                    continue;
                };
                let Some(file) = self.program.file(id) else {
                    continue;
                };
                let members = file.members();
                let Some(found) = members.classes.get(&scope) else {
                    continue;
                };
                let outer = file
                    .scopes
                    .scopes
                    .get(scope as usize)
                    .and_then(|scope| scope.parent);
                for maker in makers(found.node) {
                    let value = self.program.value(&file, outer.unwrap_or(0), maker);
                    if self.looks_at_names(&value) {
                        let name = last_name(maker).unwrap_or_default();
                        return Err(Stop::Refuse(
                            format!(
                                "`{name}` takes all names of the classes it makes, `{}` among them",
                                self.old
                            ),
                            self.places(&file, [maker.range().into()]),
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a metaclass or decorator of the project walks the names of the class that it is given.
    fn looks_at_names(&self, maker: &Value) -> bool {
        let (id, range) = match maker {
            Value::Function(id, body) => {
                let Some(file) = self.program.file(*id) else {
                    return false;
                };
                let Some(crate::scope::ScopeKind::Function(node)) = file
                    .scopes
                    .scopes
                    .get(*body as usize)
                    .map(|scope| scope.kind)
                else {
                    return false;
                };
                (*id, node.range())
            }
            Value::Class(ClassRef::Read(id, scope)) => {
                let Some(file) = self.program.file(*id) else {
                    return false;
                };
                match file.members().classes.get(scope) {
                    Some(class) => (*id, class.node.range()),
                    None => return false,
                }
            }
            _ => return false,
        };
        let Some(file) = self.program.file(id) else {
            return false;
        };
        let taken = file.scopes.calls.iter().any(|call| {
            range.contains_range(call.node.range())
                && matches!(
                    last_name(&call.node.func),
                    Some("vars" | "dir" | "getmembers")
                )
        });
        let walked = file.scopes.attributes.iter().any(|attribute| {
            range.contains_range(attribute.node.range())
                && (attribute.node.attr.as_str() == "__dict__"
                    && used(&file, attribute.node.range()) == Use::Whole
                    || matches!(attribute.node.attr.as_str(), "items" | "keys")
                        && matches!(maker, Value::Class(_)))
        });
        taken || walked
    }

    /// Whether `globals()` is only handed to `exec` or `eval`, whose text is looked at on its own.
    fn is_handed_to_code(&self, file: &File<'s>, place: TextRange) -> bool {
        file.scopes.calls.iter().any(|call| {
            matches!(
                last_name(&call.node.func),
                Some("exec" | "eval" | "compile" | "runctx")
            ) && call.node.arguments.range().contains_range(place)
        })
    }
}

/// Whether a method leaves nothing of its own name in the instance; what caches does.
fn stays_in_class(node: &ast::StmtFunctionDef) -> bool {
    node.decorator_list.iter().all(|decorator| {
        matches!(
            last_name(&decorator.expression),
            Some(
                "property"
                    | "staticmethod"
                    | "classmethod"
                    | "abstractmethod"
                    | "overload"
                    | "override"
                    | "final"
                    | "setter"
                    | "getter"
                    | "deleter"
                    | "contextmanager"
                    | "wraps"
                    | "lru_cache"
                    | "cache"
            )
        )
    })
}

/// The metaclass and the decorators of a class.
fn makers(node: &ast::StmtClassDef) -> impl Iterator<Item = &Expr> {
    let keywords = node
        .arguments
        .iter()
        .flat_map(|arguments| &arguments.keywords);
    let metaclass = keywords
        .filter(|keyword| {
            keyword
                .arg
                .as_ref()
                .is_some_and(|name| name.as_str() == "metaclass")
        })
        .map(|keyword| &keyword.value);
    let decorators = node
        .decorator_list
        .iter()
        .map(|decorator| match &decorator.expression {
            Expr::Call(call) => call.func.as_ref(),
            other => other,
        });
    metaclass.chain(decorators)
}

/// The tokens after a place, comments and line ends inside brackets left out.
pub(super) fn after<'f>(
    file: &File<'f>,
    place: TextRange,
) -> Vec<&'f ruff_python_ast::token::Token> {
    let tokens = file.source.parsed().tokens();
    let at = tokens.partition_point(|token| token.start() < place.end());
    let rest = tokens.get(at..).unwrap_or_default();
    rest.iter()
        .filter(|token| !is_blank(token.kind()))
        .take(2)
        .collect()
}

/// The tokens before a place, the nearest first.
pub(super) fn before<'f>(
    file: &File<'f>,
    place: TextRange,
) -> impl Iterator<Item = &'f ruff_python_ast::token::Token> {
    let tokens = file.source.parsed().tokens();
    let at = tokens.partition_point(|token| token.start() < place.start());
    let rest = tokens.get(..at).unwrap_or_default();
    rest.iter().rev().filter(|token| !is_blank(token.kind()))
}

fn is_blank(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Comment | TokenKind::NonLogicalNewline)
}

/// Whether `Color[...]` stands in an annotation, where it looks nothing up.
fn is_annotation(file: &File<'_>, place: TextRange) -> bool {
    matches!(
        before(file, place).next().map(|token| token.kind()),
        Some(TokenKind::Colon | TokenKind::Rarrow)
    )
}

/// How a namespace is used at a place.
pub(super) fn used(file: &File<'_>, place: TextRange) -> Use {
    let next = after(file, place);
    let text = |token: &ruff_python_ast::token::Token| file.text(token.range());
    match next.first().map(|token| token.kind()) {
        Some(TokenKind::Lsqb | TokenKind::Equal | TokenKind::EqEqual | TokenKind::NotEqual) => {
            return Use::OneByOne;
        }
        Some(TokenKind::Dot)
            if next
                .get(1)
                .is_some_and(|name| ONE_BY_ONE.contains(&text(name))) =>
        {
            return Use::OneByOne;
        }
        _ => {}
    }
    let mut earlier = before(file, place);
    match earlier.next().map(|token| token.kind()) {
        Some(TokenKind::EqEqual | TokenKind::NotEqual | TokenKind::Del) => Use::OneByOne,
        Some(TokenKind::In) if !is_loop(earlier.by_ref().map(|token| token.kind())) => {
            Use::OneByOne
        }
        Some(TokenKind::Lpar) => {
            let callee: Vec<&str> = earlier.take(3).map(text).collect();
            match callee.as_slice() {
                ["len" | "bool", ..] | ["update", ".", "__dict__"] => Use::OneByOne,
                _ => Use::Whole,
            }
        }
        _ => Use::Whole,
    }
}

/// Whether the `in` that these tokens lead up to, nearest first, is that of a `for`.
fn is_loop(tokens: impl Iterator<Item = TokenKind>) -> bool {
    for kind in tokens {
        match kind {
            TokenKind::For => return true,
            TokenKind::Name
            | TokenKind::Comma
            | TokenKind::Lpar
            | TokenKind::Rpar
            | TokenKind::Lsqb
            | TokenKind::Rsqb
            | TokenKind::Star
            | TokenKind::Dot => {}
            _ => return false,
        }
    }
    false
}

//! Classes and modules whose names are all taken at once: `vars(x)`, `dir(x)`, `x.__dict__`, metaclasses, `Color[name]`.

use std::rc::Rc;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{self as ast, Expr, helpers::map_callable};
use ruff_text_size::{Ranged, TextRange};

use super::super::family::Family;
use super::super::walk::{NameUse, after, before, used};
use super::{Doubt, Owner, Renaming, Spelled};
use crate::fix::members::{MemberKind, MethodKind, is_only_decorated, last_name, method_kind};
use crate::fix::program::File;
use crate::fix::resolved::{ClassRef, ResolvedModule, Value};
use crate::scope::{BindingKind, Role, ScopeId, ScopeKind};

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

/// Functions that give the names of what they are handed.
const FUNCTIONS: &[(&str, Names)] = &[
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
const ATTRIBUTES: &[(&str, Names)] = &[
    ("__dict__", Names::Namespace),
    ("_asdict", Names::Fields),
    ("__annotations__", Names::Fields),
    ("__dataclass_fields__", Names::Fields),
    ("__attrs_attrs__", Names::Fields),
    ("model_dump", Names::Fields),
    ("model_fields", Names::Fields),
    ("__members__", Names::Members),
];

/// Where the renamed member is kept.
#[derive(Default)]
struct Kept {
    in_instances: bool,
    in_class: bool,
    as_field: bool,
    in_enumeration: bool,
}

/// A place at which names are taken.
struct Taking<'a> {
    names: Names,
    scope: ScopeId,
    object: &'a Expr,
    place: TextRange,
}

impl<'s> Renaming<'_, 's> {
    /// Code that takes all names of the module, of a class of the family or of its instances.
    pub(super) fn taken_at_once(&self, owner: Owner<'_>, _: &[Spelled<'s>]) -> Vec<Doubt> {
        let (kept, name) = match owner {
            Owner::Modules(..) => (Kept::default(), "the module".to_string()),
            Owner::Family(family) => {
                let first = family.own.first().map(|class| self.class_name(*class));
                (
                    self.kept(family),
                    format!("`{}`", first.unwrap_or_default()),
                )
            }
        };
        let mut found = Vec::new();
        for file in self.files_that_take() {
            let taken = takings(&file).filter(|taking| match owner {
                Owner::Modules(homes, _) => {
                    let value = self.program.value(&file, taking.scope, taking.object);
                    matches!(taking.names, Names::Namespace | Names::All)
                        && matches!(value, Value::Module(ResolvedModule::File(id)) if homes.contains(&id))
                }
                Owner::Family(family) => self.takes_member(&file, taking, family, &kept),
            });
            let mut spans: Vec<TextRange> = taken.map(|taking| taking.place).collect();
            if matches!(owner, Owner::Modules(homes, _) if homes.contains(&file.id)) {
                spans.extend(own_names(&file));
            }
            let reason = format!(
                "all names of {name} are taken at once, `{}` among them",
                self.old
            );
            found.extend(self.at_places(reason, &file, spans.into_iter().map(Into::into)));
        }
        found
    }

    fn takes_member(
        &self,
        file: &Rc<File<'s>>,
        taking: &Taking<'_>,
        family: &Family,
        kept: &Kept,
    ) -> bool {
        let (class, on_instance) = match self.program.value(file, taking.scope, taking.object) {
            Value::Class(class) => (class, false),
            Value::Instance(class) => (class, true),
            _ => return false,
        };
        let held = match taking.names {
            Names::Namespace if on_instance => kept.in_instances,
            Names::Namespace => kept.in_class,
            Names::All => kept.in_class || on_instance,
            Names::Fields => kept.as_field,
            Names::Members => kept.in_enumeration,
        };
        let one_by_one =
            taking.names == Names::Namespace && used(file, taking.place) == NameUse::OneByOne;
        let looks_up = matches!(taking.names, Names::Namespace | Names::All)
            && (one_by_one || self.only_looks_up(file, taking.place));
        held && !looks_up && self.is_kin(class, family)
    }

    /// The files that hold a word with which all names of something can be taken.
    fn files_that_take(&self) -> Vec<Rc<File<'s>>> {
        let words: Vec<String> = FUNCTIONS
            .iter()
            .map(|(name, _)| format!("{name}("))
            .chain(ATTRIBUTES.iter().map(|(name, _)| (*name).to_string()))
            .chain(["globals()".to_string(), "locals()".to_string()])
            .collect();
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let files = self.program.sources.where_text(|text| {
            words.iter().any(|word| {
                text.match_indices(word.as_str())
                    .any(|(at, _)| !text[..at].ends_with(is_part))
            })
        });
        files
            .into_iter()
            .filter_map(|id| self.program.file(id))
            .collect()
    }

    /// Whether what holds for a class can hold for the family: it inherits from it, or `self` may be of the family.
    pub(super) fn is_kin(&self, class: ClassRef, family: &Family) -> bool {
        let above = |own: &ClassRef| self.program.is_a(*own, &[class]);
        self.program.is_a(class, &family.own)
            || matches!(class, ClassRef::Read(..)) && family.own.iter().any(above)
    }

    fn kept(&self, family: &Family) -> Kept {
        let mut kept = Kept {
            as_field: self.is_field(family),
            in_enumeration: self.is_enumeration(family),
            ..Kept::default()
        };
        for class in &family.own {
            let ClassRef::Read(id, _) = *class else {
                continue;
            };
            let Some(file) = self.program.file(id) else {
                continue;
            };
            for member in self.program.own_members(*class, self.old) {
                let (in_class, in_instances) = match member.kind {
                    MemberKind::Body(BindingKind::Function(node)) => (true, !stays_in_class(node)),
                    MemberKind::Body(_) => (true, kept.as_field),
                    MemberKind::Slot => (true, false),
                    MemberKind::Set(_, set_in) => {
                        let around = file.scopes.function_around(set_in);
                        let on_class =
                            around.is_some_and(|(_, node)| method_kind(node) == MethodKind::Class);
                        (on_class, !on_class)
                    }
                };
                kept.in_class |= in_class;
                kept.in_instances |= in_instances;
            }
        }
        kept
    }

    /// Members of an enumeration that are looked up by computed names: `Color[name]`.
    pub(super) fn looked_up_by_key(&self, owner: Owner<'_>, _: &[Spelled<'s>]) -> Vec<Doubt> {
        let Owner::Family(family) = owner else {
            return Vec::new();
        };
        if !self.is_enumeration(family) {
            return Vec::new();
        }
        let mut names: Vec<String> = family.own.iter().map(|own| self.class_name(*own)).collect();
        names.dedup();
        let mut found = Vec::new();
        for name in names.iter().filter(|name| !name.is_empty()) {
            found.extend(self.program.files_holding(name).filter_map(|file| {
                let spans = uses_of(&file, name)
                    .into_iter()
                    .filter(|span| is_looked_up(&file, *span));
                let reason = format!(
                    "members of `{name}` are looked up by computed names, `{}` may be one",
                    self.old
                );
                self.at_places(reason, &file, spans.map(Into::into))
            }));
        }
        found
    }

    /// A metaclass or decorator of the project that looks at the names of the classes it makes.
    pub(super) fn taken_by_makers(&self, owner: Owner<'_>, _: &[Spelled<'s>]) -> Vec<Doubt> {
        let Owner::Family(family) = owner else {
            return Vec::new();
        };
        if !self.kept(family).in_class {
            return Vec::new();
        }
        let mut classes: Vec<ClassRef> = Vec::new();
        for own in &family.own {
            classes.extend(&self.program.lineage(*own).classes);
        }
        let mut found: Vec<Doubt> = Vec::new();
        for class in classes {
            let ClassRef::Read(id, scope) = class else {
                continue;
            };
            let (Some(file), Some(node)) = (self.program.file(id), self.program.class_node(class))
            else {
                continue;
            };
            let outer = file.scopes.parent(scope).unwrap_or(0);
            for maker in makers(node) {
                if self.looks_at_names(&self.program.value(&file, outer, maker)) {
                    let reason = format!(
                        "`{}` takes all names of the classes it makes, `{}` among them",
                        last_name(maker).unwrap_or_default(),
                        self.old
                    );
                    found.extend(self.at_places(reason, &file, [maker.range().into()]));
                }
            }
        }
        found
    }

    /// Whether a metaclass or decorator of the project walks the names of the class that it is given.
    fn looks_at_names(&self, maker: &Value) -> bool {
        let (Value::Function(id, scope) | Value::Class(ClassRef::Read(id, scope))) = maker else {
            return false;
        };
        let Some(file) = self.program.file(*id) else {
            return false;
        };
        let range = match file.scopes.kind(*scope) {
            Some(ScopeKind::Function(node)) => node.range(),
            Some(ScopeKind::Class(node)) => node.range(),
            _ => return false,
        };
        let taken = file.scopes.calls.iter().any(|call| {
            let name = last_name(&call.node.func);
            range.contains_range(call.node.range())
                && matches!(name, Some("vars" | "dir" | "getmembers"))
        });
        let is_class = matches!(maker, Value::Class(_));
        taken
            || file.scopes.attributes.iter().any(|attribute| {
                let place = attribute.node.range();
                range.contains_range(place)
                    && match attribute.node.attr.as_str() {
                        "__dict__" => used(&file, place) == NameUse::Whole,
                        "items" | "keys" => is_class,
                        _ => false,
                    }
            })
    }
}

/// The places of a file at which the names of an object are taken.
fn takings<'f>(file: &'f File<'_>) -> impl Iterator<Item = Taking<'f>> {
    let among = |known: &[(&str, Names)], name: &str| {
        let found = known.iter().find(|(taker, _)| *taker == name);
        found.map(|(_, names)| *names)
    };
    let calls = file.scopes.calls.iter().filter_map(move |call| {
        Some(Taking {
            names: among(FUNCTIONS, last_name(&call.node.func)?)?,
            scope: call.scope,
            object: call.node.arguments.args.first()?,
            place: call.node.range(),
        })
    });
    let attributes = file.scopes.attributes.iter().filter_map(move |attribute| {
        Some(Taking {
            names: among(ATTRIBUTES, attribute.node.attr.as_str())?,
            scope: attribute.scope,
            object: &attribute.node.value,
            place: attribute.node.range(),
        })
    });
    calls.chain(attributes)
}

/// The places at which a module takes all of its own names: `globals()`, `dir()` at its top. Handed to `exec` they serve
/// a text that is looked at on its own.
fn own_names<'f>(file: &'f File<'_>) -> impl Iterator<Item = TextRange> + 'f {
    let handed_to_code = move |place: TextRange| {
        file.scopes.calls.iter().any(|call| {
            let name = last_name(&call.node.func);
            matches!(name, Some("exec" | "eval" | "compile" | "runctx"))
                && call.node.arguments.range().contains_range(place)
        })
    };
    file.scopes.calls.iter().filter_map(move |call| {
        let Expr::Name(name) = call.node.func.as_ref() else {
            return None;
        };
        let place = call.node.range();
        let own = match name.id.as_str() {
            "globals" => true,
            "vars" | "dir" | "locals" => call.scope == 0,
            _ => false,
        };
        let whole = own
            && call.node.arguments.is_empty()
            && used(file, place) == NameUse::Whole
            && !handed_to_code(place);
        whole.then_some(place)
    })
}

/// Where a name is read, alone or behind a dot.
fn uses_of(file: &File<'_>, name: &str) -> Vec<TextRange> {
    let scopes = &file.scopes;
    let loads = scopes
        .occurrences
        .iter()
        .filter(|occurrence| occurrence.role == Role::Load && scopes.name(occurrence.name) == name);
    let accesses = scopes
        .attributes
        .iter()
        .filter(|attribute| attribute.node.attr.as_str() == name);
    loads
        .map(|occurrence| occurrence.span)
        .chain(accesses.map(|attribute| attribute.node.range()))
        .collect()
}

/// Whether `[...]` with something computed follows, and not in an annotation, where it looks nothing up.
fn is_looked_up(file: &File<'_>, place: TextRange) -> bool {
    let next = after(file, place);
    let kind = |at: usize| next.get(at).map(|token| token.kind());
    let annotates = matches!(
        before(file, place).next().map(|token| token.kind()),
        Some(TokenKind::Colon | TokenKind::Rarrow)
    );
    kind(0) == Some(TokenKind::Lsqb) && kind(1) != Some(TokenKind::String) && !annotates
}

/// Whether a method leaves nothing of its own name in the instance; what caches does.
fn stays_in_class(node: &ast::StmtFunctionDef) -> bool {
    const PLAIN: &str = "property staticmethod classmethod abstractmethod overload override final setter getter deleter \
        contextmanager wraps lru_cache cache";
    is_only_decorated(&node.decorator_list, PLAIN)
}

/// The metaclass and the decorators of a class.
fn makers(node: &ast::StmtClassDef) -> impl Iterator<Item = &Expr> {
    let metaclass = node
        .arguments
        .iter()
        .filter_map(|arguments| arguments.find_keyword("metaclass"))
        .map(|keyword| &keyword.value);
    let decorators = node.decorator_list.iter();
    metaclass.chain(decorators.map(|decorator| map_callable(&decorator.expression)))
}

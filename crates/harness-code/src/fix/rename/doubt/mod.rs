//! May something reach the name that reading does not show? Every question gives doubts: a reason, places, and what could
//! be renamed there too. What to do about them is the user's choice.

mod computed;
mod strings;
mod taken;

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::family::{Belongs, Owner};
use super::{Renaming, Step, Stop};
use crate::fix::members::{FIELD_DECORATORS, is_decorated, last_name};
use crate::fix::program::File;
use crate::fix::resolved::{ClassRef, FileId, ResolvedModule, Value};
use crate::fix::{Answer, Place};
use crate::path::RelPath;
use crate::request::rename::{Doubts, Rename};
use crate::scope::{BindingKind, CallUse, Role, ScopeId, ScopeKind, SymbolId};
use crate::text::{is_among, whole_words};
use strings::{FoundString, words_in};

/// Something that may reach the name.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    pub(super) reason: String,
    pub(super) places: Vec<Place>,
    /// The bytes that get the new name where the user wants it there too.
    pub(super) also: Vec<(RelPath, Range<usize>)>,
}

/// The strings of a file that hold the name or may become it.
struct Spelled<'s> {
    file: Rc<File<'s>>,
    texts: Vec<FoundString>,
}

type Question<'r, 's> = fn(&Renaming<'r, 's>, Owner<'_>, &[Spelled<'s>]) -> Vec<Doubt>;

impl<'r, 's> Renaming<'r, 's> {
    /// Asks everything that there is to ask about a name that more than one function can see.
    pub(super) fn doubt(&mut self, owner: Owner<'_>) {
        let questions: [Question<'r, 's>; 12] = [
            Self::named_by_calls,
            Self::named_by_paths,
            Self::read_by_format,
            Self::computed,
            Self::taken_at_once,
            Self::taken_by_makers,
            Self::looked_up_by_key,
            Self::shown_as_text,
            Self::named_after,
            Self::run_as_code,
            |renaming, owner, _| renaming.in_templates(owner),
            |renaming, owner, _| renaming.in_settings(owner),
        ];
        let spelled = self.spelled();
        for question in questions {
            let found = question(self, owner, &spelled);
            self.note(found);
        }
    }

    /// Notes doubts: a reason stands once, and a place under the first reason that was found for it.
    pub(super) fn note(&mut self, doubts: impl IntoIterator<Item = Doubt>) {
        for mut doubt in doubts {
            let known = |place: &Place| self.doubts.iter().any(|one| one.places.contains(place));
            doubt.places.retain(|place| !known(place));
            let same = |one: &Doubt| one.reason == doubt.reason || doubt.places.is_empty();
            match self.doubts.iter_mut().find(|one| same(one)) {
                Some(one) => {
                    one.places.extend(doubt.places);
                    one.also.extend(doubt.also);
                }
                None => self.doubts.push(doubt),
            }
        }
    }

    /// The strings of the project that hold the name or may become it, and are not renamed already.
    fn spelled(&self) -> Vec<Spelled<'s>> {
        let old = self.old;
        let candidates = self.program.sources.where_text(|text| {
            text.contains(old) || computed::computes(text) && strings::may_become(text, old)
        });
        let files = candidates
            .into_iter()
            .filter_map(|id| self.program.file(id));
        let spelled = files.map(|file| {
            let mut texts = strings::strings(&file);
            texts.retain(|text| {
                let holds = text.spells(old) || text.fixed().any(|fixed| fixed.contains(old));
                holds && !self.is_edited(file.id, &text.span.into())
            });
            Spelled { file, texts }
        });
        spelled
            .filter(|spelled| !spelled.texts.is_empty())
            .collect()
    }

    /// A doubt about the strings that are as wanted, those that document something left out.
    fn where_strings(
        &self,
        spelled: &[Spelled<'s>],
        reason: &str,
        wanted: impl Fn(&File<'s>, &FoundString) -> bool,
    ) -> Vec<Doubt> {
        let found = spelled.iter().filter_map(|Spelled { file, texts }| {
            let texts = texts.iter().filter(|text| !text.is_docstring);
            let spans = texts
                .filter(|text| wanted(file, text))
                .map(|text| text.span);
            self.in_strings(reason.to_owned(), file, spans)
        });
        found.collect()
    }

    /// A doubt about strings of one file; the name in them can be renamed too.
    fn in_strings(
        &self,
        reason: String,
        file: &File<'s>,
        spans: impl IntoIterator<Item = TextRange>,
    ) -> Option<Doubt> {
        let spans: Vec<TextRange> = spans.into_iter().collect();
        let path = self.program.path(file.id).filter(|_| !spans.is_empty())?;
        let words = spans
            .iter()
            .flat_map(|span| words_in(file, *span, self.old));
        Some(Doubt {
            reason,
            places: self.places(file, spans.iter().map(|span| (*span).into())),
            also: words.map(|word| (path.clone(), word)).collect(),
        })
    }

    /// A doubt about places of one file at which nothing can be renamed.
    pub(super) fn at_places(
        &self,
        reason: String,
        file: &File<'s>,
        spans: impl IntoIterator<Item = Range<usize>>,
    ) -> Option<Doubt> {
        let places = self.places(file, spans);
        (!places.is_empty()).then(|| Doubt {
            reason,
            places,
            also: Vec::new(),
        })
    }

    /// A doubt about a class as a whole.
    pub(super) fn at_class(&self, reason: String, class: ClassRef) -> Option<Doubt> {
        let ClassRef::Read(id, _) = class else {
            return None;
        };
        let span = self.program.class_node(class)?.name.range;
        self.at_places(reason, &*self.program.file(id)?, [span.into()])
    }

    /// A doubt about uses of the name whose owner nobody knows.
    pub(super) fn unknown_uses(
        &self,
        reason: String,
        uses: &[(FileId, Range<usize>)],
    ) -> Option<Doubt> {
        let mut doubt = Doubt {
            reason,
            places: Vec::new(),
            also: Vec::new(),
        };
        for (id, span) in uses {
            let (Some(file), Some(path)) = (self.program.file(*id), self.program.path(*id)) else {
                continue;
            };
            doubt.places.extend(self.places(&file, [span.clone()]));
            doubt.also.push((path.clone(), span.clone()));
        }
        (!doubt.places.is_empty()).then_some(doubt)
    }

    /// The uses whose owner nobody knows that get the new name: all of them, unless something else has the name too. That
    /// is a doubt about them then.
    pub(super) fn settled(
        &mut self,
        uses: Vec<(FileId, Range<usize>)>,
        something_else: impl FnOnce(&Self) -> Option<String>,
    ) -> Vec<(FileId, Range<usize>)> {
        if uses.is_empty() {
            return uses;
        }
        let Some(reason) = something_else(self) else {
            return uses;
        };
        let doubt = self.unknown_uses(reason, &uses);
        self.note(doubt);
        Vec::new()
    }

    /// Renames the uses whose owner nobody knows, as far as they are settled.
    pub(super) fn rename_unknown(
        &mut self,
        uses: Vec<(FileId, Range<usize>)>,
        something_else: impl FnOnce(&Self) -> Option<String>,
    ) -> Step<()> {
        for (id, span) in self.settled(uses, something_else) {
            let file = self.program.file(id).ok_or(Stop::Nothing)?;
            self.check_parsed(&file)?;
            self.edit(&file, span)?;
        }
        Ok(())
    }

    /// `getattr(x, "name")`, `patch.object(x, "name")`, a key of a record.
    fn named_by_calls(&self, owner: Owner<'_>, spelled: &[Spelled<'s>]) -> Vec<Doubt> {
        const BY_NAME: &str = "getattr setattr hasattr delattr attrgetter methodcaller object patch setitem \
            delitem";
        let has_keys = match owner {
            Owner::Family(family) => self.is_field(family) || self.is_enumeration(family),
            Owner::Modules(..) => false,
        };
        let reason = format!("`{}` is reached through a string", self.old);
        self.where_strings(spelled, &reason, |file, text| {
            let before = file.text(0..usize::from(text.span.start()));
            let is_key = has_keys && text.is(self.old) && before.ends_with('[');
            let spells = text.spells(self.old) && !text.says_little();
            let called = file.scopes.calls.iter().any(|call| {
                let arguments = &call.node.arguments.args;
                let function = last_name(&call.node.func).unwrap_or_default();
                let position = arguments.iter().position(|one| one.range() == text.span);
                is_among(BY_NAME, function)
                    && match (position, arguments.first()) {
                        (None, _) | (_, None) => false,
                        // A name whose object comes later, or the path of the thing.
                        (Some(0), _) => {
                            let is_late = matches!(function, "attrgetter" | "methodcaller");
                            is_late && spells || self.is_path(text, owner)
                        }
                        (Some(_), Some(first)) => {
                            spells && self.may_be(file, call.scope, first, owner)
                        }
                    }
            });
            is_key || called
        })
    }

    /// Whether a string is the dotted path of a member: `"shop.Cart.total"`, `"cart.total"`.
    fn is_path(&self, text: &FoundString, owner: Owner<'_>) -> bool {
        let Owner::Family(family) = owner else {
            return false;
        };
        text.fixed().any(|fixed| {
            let mut parts = fixed.rsplit('.');
            parts.next() == Some(self.old)
                && parts.next().is_some_and(|holder| {
                    let is_class =
                        |class: &ClassRef| self.class_name(*class).eq_ignore_ascii_case(holder);
                    family.own.iter().any(is_class)
                })
        })
    }

    /// Whether an object whose attribute is named by a string may be the owner.
    fn may_be(&self, file: &File<'s>, scope: ScopeId, object: &Expr, owner: Owner<'_>) -> bool {
        let value = self.program.value(file, scope, object);
        match owner {
            Owner::Family(family) => !matches!(self.belongs(&value, family), Belongs::Other),
            Owner::Modules(homes, _) => match value {
                Value::Module(ResolvedModule::File(id)) => homes.contains(&id),
                Value::Unknown => {
                    !matches!(object, Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls"))
                }
                Value::Module(_)
                | Value::Class(_)
                | Value::Instance(_)
                | Value::Super(_)
                | Value::Function(..)
                | Value::Standard => false,
            },
        }
    }

    /// `"shop.price"`, `"shop:price"`: the path of a thing of a module, as settings and patches name it.
    fn named_by_paths(&self, owner: Owner<'_>, spelled: &[Spelled<'s>]) -> Vec<Doubt> {
        let Owner::Modules(homes, _) = owner else {
            return Vec::new();
        };
        let modules = homes.iter().filter_map(|home| self.program.path(*home));
        let paths: Vec<String> = modules
            .flat_map(|path| self.program.names_of(path.as_str()))
            .map(|module| format!("{module}.{}", self.old))
            .collect();
        let reason = format!("`{}` is reached through a string", self.old);
        self.where_strings(spelled, &reason, |_, text| {
            text.fixed().any(|fixed| {
                let dotted = fixed.replace(':', ".");
                paths.iter().any(|path| {
                    let rest = dotted.strip_prefix(path.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                })
            })
        })
    }

    /// `"{0.name}"` and templates: `"{{order.total}}"`.
    fn read_by_format(&self, owner: Owner<'_>, spelled: &[Spelled<'s>]) -> Vec<Doubt> {
        if matches!(owner, Owner::Modules(..)) {
            return Vec::new();
        }
        let reason = format!("`{}` is reached by its name from a template", self.old);
        self.where_strings(spelled, &reason, |_, text| {
            text.fixed().any(|fixed| {
                let accessed = |at: usize| fixed[..at].ends_with('.');
                fixed.contains('{') && whole_words(fixed, self.old).any(accessed)
            })
        })
    }

    /// A class or function whose `__name__` is printed, a record or enumeration that prints itself, and a string that
    /// looks like it.
    fn shown_as_text(&self, owner: Owner<'_>, spelled: &[Spelled<'s>]) -> Vec<Doubt> {
        let Some(shown) = self.shown(owner) else {
            return Vec::new();
        };
        let reason = format!(
            "the name `{}` is shown as text, and a string may expect it",
            self.old
        );
        let found = self.where_strings(spelled, &reason, |_, text| {
            text.fixed().any(|fixed| {
                whole_words(fixed, self.old)
                    .any(|at| shown.looks_like(&fixed[..at], &fixed[at + self.old.len()..]))
            })
        });
        let is_shown = !found.is_empty()
            && (shown != Shown::Definition
                || !self.program.sources.where_text(reads_names).is_empty());
        if is_shown { found } else { Vec::new() }
    }

    /// How the name is shown where it is printed; none where it is not.
    fn shown(&self, owner: Owner<'_>) -> Option<Shown> {
        match owner {
            Owner::Modules(homes, symbol) => {
                let file = self.program.file(*homes.first()?)?;
                let mut bindings = file.scopes.bindings_of(symbol);
                bindings.find_map(|binding| match binding.kind {
                    BindingKind::Class(node) if prints_its_name(node) => Some(Shown::Itself),
                    BindingKind::Class(_) | BindingKind::Function(_) => Some(Shown::Definition),
                    _ => None,
                })
            }
            Owner::Family(family) if self.is_enumeration(family) => Some(Shown::Member),
            Owner::Family(family) if self.is_field(family) => Some(Shown::Field),
            Owner::Family(_) => None,
        }
    }

    /// A function that is found through the name of this one: `getattr(self, f"visit_{type(node).__name__}")`.
    fn named_after(&self, owner: Owner<'_>, _: &[Spelled<'s>]) -> Vec<Doubt> {
        if matches!(owner, Owner::Family(_)) {
            return Vec::new();
        }
        let sources = &self.program.sources;
        let readers = sources.where_text(reads_names);
        let begins: BTreeSet<&str> = readers
            .iter()
            .flat_map(|id| beginnings(sources.text(*id)))
            .collect();
        let mut spelled = vec![
            self.old.to_string(),
            self.old.to_lowercase(),
            in_snake_case(self.old),
        ];
        spelled.dedup();
        let mut found = Vec::new();
        for begin in begins {
            for name in spelled.iter().map(|rest| format!("def {begin}{rest}(")) {
                found.extend(self.program.files_holding(&name).filter_map(|file| {
                    let spans = file.content().match_indices(&name);
                    let reason = format!(
                        "functions are found through names like `{}`, and one is named after it",
                        self.old
                    );
                    self.at_places(reason, &file, spans.map(|(at, _)| at..at + name.len()))
                }));
            }
        }
        found
    }

    /// Texts of the defining file that are run as code.
    fn run_as_code(&self, owner: Owner<'_>, spelled: &[Spelled<'s>]) -> Vec<Doubt> {
        let Owner::Modules([home, ..], _) = owner else {
            return Vec::new();
        };
        let reason = format!("texts are run as code, and one holds `{}`", self.old);
        self.where_strings(spelled, &reason, |file, text| {
            let runs = |call: &CallUse<'_>| {
                matches!(call.node.func.as_ref(), Expr::Name(name)
                    if matches!(name.id.as_str(), "exec" | "eval" | "compile"))
            };
            file.id == *home
                && !words_in(file, text.span, self.old).is_empty()
                && file.scopes.calls.iter().any(runs)
        })
    }

    /// The scope of a variable that is handed on whole (`locals()`) or looked into by name.
    pub(super) fn doubt_scope(&mut self, file: &Rc<File<'s>>, symbol: SymbolId) {
        let Some(home) = file.scopes.scope_of(symbol) else {
            return;
        };
        let in_function = matches!(file.scopes.kind(home), Some(ScopeKind::Function(_)));
        let mut found = Vec::new();
        for call in &file.scopes.calls {
            let Expr::Name(name) = call.node.func.as_ref() else {
                continue;
            };
            let name = name.id.as_str();
            let reaches = match name {
                "locals" | "vars" | "dir" => {
                    in_function && call.scope == home && call.node.arguments.is_empty()
                }
                "eval" | "exec" => {
                    let code = call.node.arguments.args.first();
                    code.and_then(Expr::as_string_literal_expr)
                        .is_some_and(|code| code.value.to_str().contains(self.old))
                }
                "globals" => home == 0 && self.is_keyed(file, call.node.range()),
                _ => false,
            };
            if reaches {
                let reason = format!("`{name}(...)` reaches `{}` by its name", self.old);
                found.extend(self.at_places(reason, file, [call.node.range().into()]));
            }
        }
        self.note(found);
    }

    /// Whether the old name follows as a key: `globals()["name"]`, `globals().get("name")`.
    fn is_keyed(&self, file: &File<'s>, call: TextRange) -> bool {
        let rest = file.text(usize::from(call.end())..file.content().len());
        let key = rest
            .strip_prefix('[')
            .or_else(|| rest.strip_prefix(".get("));
        key.and_then(|key| key.strip_prefix(['"', '\'']))
            .and_then(|key| key.strip_prefix(self.old))
            .is_some_and(|rest| rest.starts_with(['"', '\'']))
    }

    /// Whether a function, or the class that it makes, is used as anything but the callee of a call: then a call whose
    /// callee nobody knows may be its.
    pub(super) fn is_handed_on(&self, class: Option<ClassRef>, function: &str) -> bool {
        let name = match (function, class) {
            ("__call__", _) => return true,
            ("__init__" | "__new__", Some(class)) => self.class_name(class),
            _ => function.to_string(),
        };
        let mut files = self.program.files_holding(&name);
        files.any(|file| hands_on(&file, &name))
    }

    /// What a rename with doubts comes to: a question, or what the user wants done about them.
    pub(super) fn ask(&self, certain: usize) -> Answer {
        let mut parts: Vec<String> = Vec::new();
        for doubt in &self.doubts {
            let shown = format!("{}: {}", listed(&doubt.places), doubt.reason);
            if !parts.contains(&shown) {
                parts.push(shown);
            }
        }
        let more = parts.len().saturating_sub(MOST_REASONS);
        parts.truncate(MOST_REASONS);
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        let certain = match certain {
            1 => "1 place is certain".to_string(),
            many => format!("{many} places are certain"),
        };
        let has_more = self.doubts.iter().any(|doubt| !doubt.also.is_empty());
        let (choice, mut options) = match has_more {
            true => (
                "Rename it there too, leave it, or stop?",
                vec![sentence(self.request, " in strings too")],
            ),
            false => ("Leave that and rename the rest, or stop?", Vec::new()),
        };
        options.push(sentence(self.request, " and leave the rest"));
        options.push("stop".to_string());
        Answer::Ask {
            text: format!("{certain}; {}. {choice}", parts.join("; ")),
            options,
        }
    }

    /// What else gets the new name because the user wants it there too.
    pub(super) fn wanted_too(&self) -> impl Iterator<Item = (RelPath, Range<usize>)> {
        let is_wanted = self.request.doubts == Doubts::Include;
        let doubts = self.doubts.iter().filter(move |_| is_wanted);
        doubts.flat_map(|doubt| doubt.also.iter().cloned())
    }
}

/// How a name looks where a program prints it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// A function or class, by code that reads its `__name__`.
    Definition,
    /// A class that prints its own name.
    Itself,
    /// A member of an enumeration.
    Member,
    /// A field of a record.
    Field,
}

impl Shown {
    /// Whether a string holds the name as it is printed, with this before and behind it.
    fn looks_like(self, before: &str, after: &str) -> bool {
        let alone = before.is_empty() && after.is_empty();
        match self {
            Shown::Definition | Shown::Itself => {
                alone
                    || after.starts_with(['(', '[', '<', '>', ':', '.', '\'', '"', '='])
                    || before.ends_with(['<', '\''])
            }
            Shown::Member => alone || before.ends_with('.'),
            Shown::Field => after.starts_with('='),
        }
    }
}

fn reads_names(text: &str) -> bool {
    text.contains(".__name__") || text.contains(".__qualname__")
}

/// How many reasons a question lists.
const MOST_REASONS: usize = 4;
/// How many places of one reason a question lists.
const MOST_PLACES: usize = 3;

fn listed(places: &[Place]) -> String {
    let mut shown: Vec<String> = places
        .iter()
        .map(|place| format!("`{}:{}`", place.path, place.line))
        .collect();
    shown.dedup();
    let more = shown.len().saturating_sub(MOST_PLACES);
    shown.truncate(MOST_PLACES);
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A request as a sentence that the program reads.
fn sentence(request: &Rename, ending: &str) -> String {
    let mut text = format!("rename `{}`", request.old);
    if let Some(class) = &request.class {
        text.push_str(&format!(" in `{class}`"));
    }
    if let Some(file) = &request.file {
        let number = |number: Option<u32>| number.map_or(String::new(), |n| format!(":{n}"));
        let (word, line) = match request.line {
            Some(_) => ("at", number(request.line)),
            None => ("in", String::new()),
        };
        let column = number(request.column);
        text.push_str(&format!(" {word} {file}{line}{column}"));
    }
    text.push_str(&format!(" to `{}`", request.new));
    if request.in_comments {
        text.push_str(", also in comments,");
    }
    text + ending
}

fn hands_on(file: &Rc<File<'_>>, name: &str) -> bool {
    let scopes = &file.scopes;
    // What is called, what stands before a dot and the bases of a class hand nothing on.
    let callees = scopes.calls.iter().map(|call| call.node.func.range());
    let receivers = scopes.attributes.iter().map(|one| one.node.value.range());
    let mut plain: FxHashSet<TextRange> = callees.chain(receivers).collect();
    for scope in &scopes.scopes {
        if let ScopeKind::Class(node) = scope.kind {
            plain.extend(node.bases().iter().map(Ranged::range));
        }
    }
    let loaded = scopes.occurrences.iter().any(|occurrence| {
        occurrence.role == Role::Load
            && scopes.name(occurrence.name) == name
            && !plain.contains(&occurrence.span)
    });
    let accessed = scopes.attributes.iter().any(|attribute| {
        attribute.node.attr.as_str() == name && !plain.contains(&attribute.node.range())
    });
    let mut imports = scopes.imports.iter();
    loaded
        || accessed
        || imports.any(|import| import.member == Some(name) && import.alias.is_some())
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

/// Whether Python itself prints the name of a class with its values.
fn prints_its_name(node: &ast::StmtClassDef) -> bool {
    let prints = |name: &str| {
        is_among("NamedTuple BaseModel Struct", name)
            || name.ends_with("Enum")
            || name.ends_with("Flag")
    };
    let mut bases = node.bases().iter();
    is_decorated(&node.decorator_list, FIELD_DECORATORS)
        || bases.any(|base| last_name(base).is_some_and(prints))
}

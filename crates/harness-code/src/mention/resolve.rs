//! Looks up in the project what a task writes down, and keeps for each how sure it is.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::language::Language;
use crate::mention::phrase::{Phrase, PhraseHit};
use crate::mention::project::{PlaceId, Project};
use crate::mention::{
    Clue, ClueKind, Frame, Literal, Mentions, NamedDefinition, QuotedError, TestId,
};
use crate::request::written::{Name, Written};
use crate::request::zone::Zone;
use crate::symbols::DefinitionKind;
use crate::tree;

/// A name that more places share than this names none of them.
const FEW: usize = 3;

/// Places of one name that are kept as clues: beyond, the name says nothing.
const MOST_PLACES: usize = 40;

/// Resolves everything written in the task.
///
/// `found` says where the phrases stand in the project.
pub(crate) fn resolve(
    written: &Written,
    project: &Project<'_>,
    phrases: &[Phrase],
    found: &[PhraseHit],
) -> Mentions {
    let mut resolver = Resolver {
        written,
        project,
        mentions: Mentions::default(),
        named: FxHashSet::default(),
    };
    resolver.paths();
    resolver.frames();
    resolver.imports();
    resolver.names();
    resolver.literals(phrases, found);
    let mut mentions = resolver.mentions;
    mentions.errors = written
        .errors
        .iter()
        .map(|(kind, message)| QuotedError {
            kind: kind.clone(),
            message: message.clone(),
        })
        .collect();
    mentions
}

struct Resolver<'a, 'p, 't> {
    written: &'a Written,
    project: &'p Project<'t>,
    mentions: Mentions,
    named: FxHashSet<PlaceId>,
}

impl Resolver<'_, '_, '_> {
    fn clue(&mut self, place: PlaceId, kind: ClueKind, zone: Zone, share: f32) {
        self.mentions.clues.push(Clue {
            place,
            kind,
            zone,
            share,
        });
    }

    fn name_file(&mut self, file: u32) {
        let path = &self.project.file(file).path;
        if !self.mentions.paths.contains(path) {
            self.mentions.paths.push(path.clone());
        }
    }

    fn name_definition(&mut self, place: PlaceId) {
        let Some(definition) = self.project.definition(place) else {
            self.name_file(place.file);
            return;
        };
        if self.named.insert(place) {
            self.mentions.definitions.push(NamedDefinition {
                path: self.project.file(place.file).path.clone(),
                qualified: definition.qualified.to_string(),
                line: definition.line,
            });
        }
    }

    fn paths(&mut self) {
        for path in &self.written.paths {
            let files = self.project.files_at(&path.text);
            let share = 1.0 / files.len().max(1) as f32;
            for &file in files.iter().take(MOST_PLACES) {
                let definition = path.line.and_then(|line| self.function_at(file, line));
                self.clue(
                    PlaceId { file, definition },
                    ClueKind::Path,
                    path.zone,
                    share,
                );
                let Some(test) = &path.test else { continue };
                self.mentions.tests.push(TestId {
                    path: self.project.file(file).path.clone(),
                    name: test.clone(),
                });
                self.clue(PlaceId::file(file), ClueKind::Test, path.zone, share);
            }
            if files.len() <= FEW {
                files.iter().for_each(|&file| self.name_file(file));
            }
        }
    }

    /// The outermost function around a line.
    fn function_at(&self, file: u32, line: u32) -> Option<u32> {
        let definitions = &self.project.file(file).facts.definitions;
        let around = |d: &crate::symbols::Definition| {
            d.kind.is_function() && d.line <= line && line <= d.end_line
        };
        definitions.iter().position(around).map(|at| at as u32)
    }

    fn frames(&mut self) {
        let mut inside: Vec<(PlaceId, usize)> = Vec::new();
        for (at, frame) in self.written.frames.iter().enumerate() {
            let files = self.project.files_at(&frame.path);
            let [file] = files[..] else { continue };
            let definitions = &self.project.file(file).facts.definitions;
            let named =
                |d: &crate::symbols::Definition| d.kind.is_function() && d.name() == frame.function;
            // The line tells same-named functions apart as long as the file has not changed much.
            let nearest = definitions
                .iter()
                .enumerate()
                .filter(|(_, d)| named(d))
                .min_by_key(|(_, d)| d.line.abs_diff(frame.line));
            let definition = nearest
                .map(|(at, _)| at as u32)
                .or_else(|| self.function_at(file, frame.line));
            inside.push((PlaceId { file, definition }, at));
            self.mentions.frames.push(Frame {
                path: self.project.file(file).path.clone(),
                line: frame.line,
                function: frame.function.to_owned(),
            });
        }
        let count = inside.len();
        for (order, (place, _)) in inside.into_iter().enumerate() {
            let last = order + 1 == count;
            let kind = if last {
                ClueKind::LastFrame
            } else {
                ClueKind::Frame
            };
            self.clue(place, kind, Zone::Trace, 1.0 / (count - order) as f32);
        }
    }

    fn imports(&mut self) {
        for import in &self.written.imports {
            let Some(file) = self.project.module(&import.module) else {
                continue;
            };
            let place = match &import.name {
                Some(name) => self
                    .project
                    .member(file, name)
                    .unwrap_or(PlaceId::file(file)),
                None => PlaceId::file(file),
            };
            self.clue(place, ClueKind::Import, Zone::Code, 1.0);
        }
    }

    fn names(&mut self) {
        let mut counts: FxHashMap<(&str, Zone), u32> = FxHashMap::default();
        let mut known: FxHashSet<&str> = FxHashSet::default();
        for name in &self.written.names {
            let seen = counts.entry((name.text.as_str(), name.zone)).or_default();
            *seen += 1;
            if *seen > 1 {
                continue;
            }
            let codelike = name.codelike || name.zone == Zone::Inline;
            if codelike && known.insert(&name.text) {
                self.mentions.identifiers.push(name.text.to_owned());
            }
            if name.text.contains('.') {
                self.dotted(name);
            } else {
                self.single(name);
                self.file_called(name);
            }
        }
    }

    /// `a.b.c`: through modules and classes as far as they go; else its last parts.
    fn dotted(&mut self, name: &Name) {
        let first = name.text.split('.').next().unwrap_or(&name.text);
        let expanded = self
            .written
            .aliases
            .get(first)
            .map(|target| format!("{target}{}", &name.text[first.len()..]));
        let full = expanded.as_deref().unwrap_or(&name.text);
        let parts: Vec<&str> = full.split('.').filter(|part| !part.is_empty()).collect();
        if let Some(place) = self.through_modules(&parts) {
            let kind = if place.definition.is_some() {
                ClueKind::Qualified
            } else {
                ClueKind::Module
            };
            self.clue(place, kind, name.zone, 1.0);
            self.name_definition(place);
            return;
        }
        if let [.., owner, member] = parts[..] {
            let places = self.of_class(owner, member);
            if !places.is_empty() {
                let share = 1.0 / places.len() as f32;
                for &place in places.iter().take(MOST_PLACES) {
                    self.clue(place, ClueKind::Qualified, name.zone, share);
                }
                if places.len() <= FEW {
                    places.iter().for_each(|&place| self.name_definition(place));
                }
                return;
            }
        }
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let class = part.starts_with(|c: char| c.is_ascii_uppercase());
            // `Route.Use` is not there yet: another class's `Use` is not meant.
            let is_new = last && at > 0 && self.is_new_member(parts[at - 1], part);
            if (last || class) && !is_new {
                let part = Name {
                    text: (*part).to_owned(),
                    called: last && name.called,
                    codelike: true,
                    is_method: name.is_method || at > 0,
                    ..name.clone()
                };
                self.single(&part);
            }
        }
    }

    fn through_modules(&self, parts: &[&str]) -> Option<PlaceId> {
        for end in (1..=parts.len()).rev() {
            let Some(file) = self.project.module(&parts[..end].join(".")) else {
                continue;
            };
            let mut place = PlaceId::file(file);
            for (at, part) in parts[end..].iter().enumerate() {
                let next = match place.definition {
                    None => self.project.member(place.file, part),
                    Some(_) => self.project.class_member(place, part),
                };
                match next {
                    Some(next) => place = next,
                    // `package.module.thing.attribute`: what was reached is what is meant, unless that is only the package.
                    None if at > 0 => return Some(place),
                    None => return None,
                }
            }
            return Some(place);
        }
        None
    }

    fn of_class(&self, owner: &str, member: &str) -> Vec<PlaceId> {
        let owners = self.project.named(owner).iter().filter(|&&place| {
            self.project
                .definition(place)
                .is_some_and(|d| d.kind == DefinitionKind::Class)
        });
        let mut places: Vec<PlaceId> = owners
            .filter_map(|&class| self.project.class_member(class, member))
            .collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Says whether a class of the project has no such member, and only other classes have one.
    fn is_new_member(&self, owner: &str, member: &str) -> bool {
        let kind = |place: &PlaceId| self.project.definition(*place).map(|d| d.kind);
        let owners = self.project.named(owner);
        let members = self.project.named(member);
        owners
            .iter()
            .any(|place| kind(place) == Some(DefinitionKind::Class))
            && members
                .iter()
                .all(|place| kind(place) == Some(DefinitionKind::Method))
    }

    fn single(&mut self, name: &Name) {
        let expanded = self
            .written
            .aliases
            .get(&name.text)
            .filter(|_| name.zone != Zone::Title);
        if let Some(target) = expanded {
            let parts: Vec<&str> = target.split('.').collect();
            if let Some(place) = self.through_modules(&parts) {
                self.clue(place, ClueKind::Qualified, name.zone, 1.0);
                return;
            }
        }
        if name.called && matches!(name.zone, Zone::Code | Zone::Trace) {
            // `from package import *` makes every public name of the package stand for itself.
            let stars = self
                .written
                .imports
                .iter()
                .filter(|import| import.name.as_deref() == Some("*"));
            let place = stars
                .filter_map(|import| self.project.module(&import.module))
                .find_map(|file| self.project.member(file, &name.text));
            if let Some(place) = place {
                self.clue(place, ClueKind::Qualified, name.zone, 1.0);
                return;
            }
        }
        let codelike = name.codelike || name.zone == Zone::Inline;
        let kind = if codelike || name.called {
            ClueKind::Defined
        } else {
            ClueKind::Plain
        };
        let places = self.project.named(&name.text);
        let mut files: Vec<u32> = places
            .iter()
            .filter(|place| !self.project.file(place.file).test)
            .map(|place| place.file)
            .collect();
        files.dedup();
        let share = 1.0 / files.len().max(1) as f32;
        let places = places.to_vec();
        for &place in places
            .iter()
            .filter(|place| !self.project.file(place.file).test)
            .take(MOST_PLACES)
        {
            self.clue(place, kind, name.zone, share);
        }
        let in_sentence = matches!(name.zone, Zone::Title | Zone::Prose | Zone::Inline);
        // "total in cart.py": whatever the word is otherwise, it is the one that this file defines.
        let at_home: Vec<PlaceId> = places
            .iter()
            .copied()
            .filter(|place| in_sentence && self.is_home(name.home.as_deref(), place.file))
            .collect();
        let at_home = self.without_methods(name, at_home);
        if (1..=FEW).contains(&at_home.len()) {
            at_home
                .iter()
                .for_each(|&place| self.name_definition(place));
            return;
        }
        let plain = !name.describes && is_telling(&name.text);
        let is_code = codelike || name.called || name.is_compared;
        if !in_sentence || !(is_code || plain) || files.len() > FEW {
            return;
        }
        let is_named = |place: &&PlaceId| is_code || self.stands_alone(name, **place);
        let named: Vec<PlaceId> = places.iter().filter(is_named).copied().collect();
        let named = self.own_first(self.without_methods(name, named));
        let named = named.iter().take(FEW);
        named.for_each(|&place| self.name_definition(place));
    }

    /// An ordinary word is no name because some attribute, method or inner function is called the same. Where all functions
    /// are methods, a method stands for itself.
    fn stands_alone(&self, name: &Name, place: PlaceId) -> bool {
        let language = self.project.file(place.file).language;
        let definition = self.project.definition(place);
        definition.is_some_and(|one| {
            let is_inside = one.qualified.contains('.');
            let are_all = matches!(language, Language::Java | Language::CSharp);
            one.kind != DefinitionKind::Variable && (name.is_method || are_all || !is_inside)
        })
    }

    /// Puts the project's own code before its tests and examples, and a class before a value that is called so.
    fn own_first(&self, mut places: Vec<PlaceId>) -> Vec<PlaceId> {
        places.sort_by_key(|place| {
            let file = self.project.file(place.file);
            let definition = self.project.definition(*place);
            let is_value = definition.is_some_and(|one| one.kind == DefinitionKind::Variable);
            (file.test, tree::is_aside(&file.path), is_value)
        });
        places
    }

    /// Leaves methods out in a file that has a function or a class of the same name, unless the task says method: what is
    /// written alone is what stands alone.
    fn without_methods(&self, name: &Name, mut places: Vec<PlaceId>) -> Vec<PlaceId> {
        let is_method = |place: &PlaceId| {
            let definition = self.project.definition(*place);
            definition.is_some_and(|one| one.kind == DefinitionKind::Method)
        };
        let alone = places.iter().filter(|place| !is_method(place));
        let alone: Vec<u32> = alone.map(|place| place.file).collect();
        places.retain(|place| name.is_method || !is_method(place) || !alone.contains(&place.file));
        places
    }

    fn is_home(&self, written: Option<&str>, file: u32) -> bool {
        let path = self.project.file(file).path.as_str();
        written.is_some_and(|written| {
            let rest = path.strip_suffix(written.trim_start_matches("./"));
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        })
    }

    /// A word that is the name of one file: "clean up the mailer", `cart.py` written without its ending.
    fn file_called(&mut self, name: &Name) {
        let in_sentence = matches!(name.zone, Zone::Title | Zone::Prose | Zone::Inline);
        if in_sentence && !name.describes && is_telling(&name.text) {
            let files = self.project.files_called(&name.text);
            if files.len() == 1 {
                self.name_file(files[0]);
            }
        }
    }

    fn literals(&mut self, phrases: &[Phrase], found: &[PhraseHit]) {
        let mut files_of: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
        for hit in found {
            files_of
                .entry(hit.phrase)
                .or_default()
                .insert(hit.place.file);
        }
        for hit in found {
            let phrase = &phrases[hit.phrase as usize];
            let files = files_of.get(&hit.phrase).map_or(1, FxHashSet::len);
            let zone = if phrase.error {
                Zone::Trace
            } else {
                phrase.zone
            };
            self.clue(hit.place, ClueKind::Literal, zone, 1.0 / files as f32);
            if files <= FEW && phrase.zone != Zone::Code {
                let path = self.project.file(hit.place.file).path.clone();
                self.mentions.literals.push(Literal {
                    text: phrase.text.clone(),
                    path,
                    line: hit.line,
                });
            }
        }
    }
}

/// Words of everyday tasks that are also good names: bare in a sentence they name nothing.
const EVERYDAY_NAMES: &str = "\
    access action address agent amount answer apply area argument array attribute back base before body bool build button bytes cache \
    call case change check class clean clear client close code color column command comment common compare compile config connect context \
    control convert copy core count create current data database date debug default define delete demo description device display docs \
    document download edit email empty enable encode entry error errors event example exception execute exit export extend extract false fast \
    features field file files filter find finish first fixed flag float folder follow format function functions general generate global \
    group handle handler hash header help helper helpers home image implement import improve index info init input insert install instance \
    integer issue item items join keys label large last layout length letter level library limit line lines link list load local location lock \
    logger logging login logout loop main make manage manager mapping mark match memory menu merge message messages method mode model models module \
    modules move name names network next node none normal note notes null number object open option options order orders other output package page \
    parse parser part pass patch path performance permission plan please plot point position post prefix prepare present print problem process \
    processing product program project property provide public python query question queue quick quit random range rate read record reduce \
    refactor reference refresh register release reload remove rename render repeat replace report request reset resolve response restore result \
    results retry return review right root route rule rules safe same sample save scale schema scope score screen script search section select \
    send server service session settings setup shape share should show sign simple simplify single site size sort source space speed \
    split stack standard start state status step steps stop store stream string strings style submit success suite summary support switch \
    system table target task tasks template test testing tests text time timeout title token tool tools total track transform tree true type \
    types undo unit update upload user users using utils validate validation value values variable variables verify version view views wait warning \
    window word words work worker wrap write year";

/// Says whether a bare word can be meant as a name: long enough, and no word of everyday tasks.
fn is_telling(word: &str) -> bool {
    let capital_inside = word.chars().skip(1).any(char::is_uppercase);
    let lower = word.to_lowercase();
    word.len() > 3
        && (capital_inside
            || !EVERYDAY_NAMES
                .split_ascii_whitespace()
                .any(|known| known == lower || lower.strip_suffix('s') == Some(known)))
}

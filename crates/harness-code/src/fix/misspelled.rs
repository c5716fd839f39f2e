//! Names that Python cannot resolve: collected from every kind of place, answered together.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::finding::{MisspellingRequest, Repaired, Search, UnresolvedName, Verdict};
use super::program::{File, Program, Sources};
use super::resolved::FileId;
use super::{
    Answer, Place, Proposal, declared, import_name, missing_import, place, unknown_attribute,
    unknown_keyword, unknown_name,
};
use crate::edit::{Edit, apply};
use crate::parallel::side_by_side;
use crate::scope::{Depth, Source};
use crate::tree::SourceTree;

/// Looks for one kind of name that does not resolve, where the broken imports are known.
type Finder = for<'s> fn(&Search<'_, 's>, &File<'s>, &Repaired) -> Vec<UnresolvedName>;

/// The kinds besides broken imports, asked in this order.
const FINDERS: [Finder; 4] = [
    unknown_name::findings,
    unknown_attribute::findings,
    unknown_keyword::findings,
    missing_import::moved,
];

/// Looks for names that Python cannot resolve and says what they should be.
pub fn misspelled(tree: &SourceTree, request: &MisspellingRequest) -> Answer {
    let sources = Sources::of(tree);
    let program = Program::of(&sources, &request.installed);
    let search = Search {
        program: &program,
        request,
        builtins: declared::declared(tree),
    };
    let files = files_to_search(&sources, &program, request);
    if let Some(refusal) = conflict_markers(&program, &files) {
        return refusal;
    }
    let mut findings: Vec<UnresolvedName> = files
        .iter()
        .flat_map(|&file| search.in_file(file))
        .collect();
    findings.retain(|finding| request.concerns(&finding.wrong));
    keep_traced(&program, request, &mut findings);
    findings.retain(|finding| inside_scope(&program, request, finding));
    match answer(&program, &findings) {
        Answer::Certain(proposal) if !resolves(&program, &findings, &proposal) => Answer::Nothing,
        answer => answer,
    }
}

impl<'s> Search<'_, 's> {
    fn in_file(&self, id: FileId) -> Vec<UnresolvedName> {
        let Some(file) = self.program.file(id).filter(|file| file.source.is_whole()) else {
            return Vec::new();
        };
        // Every import leads to another file. Where only some names are asked about, the others wait until one is found.
        if self.request.is_narrow() {
            let wanted = |name: &str| self.request.concerns(name);
            let first = import_name::findings(self, &file, &wanted);
            if self.with_imports(&file, first).is_empty() {
                return Vec::new();
            }
        }
        let imports = import_name::findings(self, &file, &|_| true);
        self.with_imports(&file, imports)
    }

    /// Broken imports come first: what they bind cannot be what another name was meant to be.
    fn with_imports(&self, file: &File<'s>, imports: Vec<UnresolvedName>) -> Vec<UnresolvedName> {
        let repaired = Repaired::of(&imports);
        let mut findings = imports;
        for finder in FINDERS {
            findings.extend(finder(self, file, &repaired));
        }
        findings
    }
}

/// The files named, else those that use a name in question, else those where a quick look finds something unresolved.
fn files_to_search(
    sources: &Sources<'_>,
    program: &Program<'_>,
    request: &MisspellingRequest,
) -> Vec<FileId> {
    let mut named: Vec<FileId> = request
        .files
        .iter()
        .filter_map(|path| program.id(path))
        .collect();
    named.extend(
        request
            .lines
            .iter()
            .filter_map(|(path, _)| program.id(path)),
    );
    named.sort_unstable();
    named.dedup();
    if !named.is_empty() && request.names.is_empty() {
        return named;
    }
    let all: Vec<FileId> = program.ids().collect();
    if !request.is_narrow() {
        // Attributes and keywords need the whole program, so every file is looked at; parsing is done side by side.
        side_by_side(|| {
            all.par_iter().for_each(|&file| {
                let _ = sources.project(file).map(Source::is_whole);
            });
        });
        return all;
    }
    let asked = match &request.about {
        Some(about) if request.names.is_empty() => about,
        _ => &request.names,
    };
    let mut holding: Vec<FileId> = Vec::new();
    for name in asked {
        match request.holding.get(name) {
            Some(files) => holding.extend(files.iter().filter_map(|path| program.id(path))),
            None => holding.extend(sources.holding(name)),
        }
    }
    holding.sort_unstable();
    holding.dedup();
    let both: Vec<FileId> = holding
        .iter()
        .copied()
        .filter(|file| named.contains(file))
        .collect();
    if both.is_empty() { holding } else { both }
}

/// A file with conflict markers is half of two files: what it lacks says nothing.
fn conflict_markers(program: &Program<'_>, files: &[FileId]) -> Option<Answer> {
    let mut places: Vec<Place> = Vec::new();
    for &id in files {
        let (Some(path), Some(source)) = (program.path(id), program.sources.project(id)) else {
            continue;
        };
        if source.is_whole() {
            continue;
        }
        let mut offset = 0;
        for line in source.content().split_inclusive('\n') {
            if line.starts_with("<<<<<<< ") {
                places.push(place(path, source.content(), offset));
            }
            offset += line.len();
        }
    }
    if places.is_empty() {
        return None;
    }
    let reason =
        "a merge left conflict markers behind; which side is right only a person knows".to_string();
    Some(Answer::Refuse { reason, places })
}

/// Where tracebacks name lines and a finding stands on one, the others are not what failed.
fn keep_traced(
    program: &Program<'_>,
    request: &MisspellingRequest,
    findings: &mut Vec<UnresolvedName>,
) {
    let traced = |finding: &UnresolvedName| {
        let place = program.place(finding.file, finding.span.start);
        place.is_some_and(|place| request.lines.contains(&(place.path, place.line)))
    };
    let wanted: Vec<String> = findings
        .iter()
        .filter(|finding| !matches!(finding.verdict, Verdict::Unknown) && traced(finding))
        .map(|finding| finding.wrong.clone())
        .collect();
    if !wanted.is_empty() {
        findings.retain(|finding| wanted.contains(&finding.wrong));
    }
}

fn inside_scope(
    program: &Program<'_>,
    request: &MisspellingRequest,
    finding: &UnresolvedName,
) -> bool {
    let Some(scope) = &request.scope else {
        return true;
    };
    program
        .path(finding.file)
        .is_some_and(|path| path.starts_with(scope))
}

fn answer(program: &Program<'_>, findings: &[UnresolvedName]) -> Answer {
    let mut edits: Vec<Edit> = Vec::new();
    let mut changed: Vec<(&str, &str, &'static str)> = Vec::new();
    let mut doubtful: Vec<&UnresolvedName> = Vec::new();
    let mut kind = "misspelled_name";
    let mut where_found = None;
    for finding in findings {
        let Some(path) = program.path(finding.file) else {
            continue;
        };
        match &finding.verdict {
            Verdict::Fix { right, edits: new } => {
                kind = finding.kind;
                where_found.get_or_insert_with(|| path.clone());
                changed.push((&finding.wrong, right, finding.kind));
                edits.extend(new.iter().map(|(range, text)| Edit {
                    path: path.clone(),
                    range: range.clone(),
                    text: text.clone(),
                }));
            }
            Verdict::Several(_) => doubtful.push(finding),
            Verdict::Unknown => {}
        }
    }
    // The same name must mean the same thing at all its places, or it is not certain at any.
    let contested = changed.iter().any(|(wrong, right, _)| {
        doubtful.iter().any(|finding| finding.wrong == *wrong)
            || changed
                .iter()
                .any(|(other, other_right, _)| other == wrong && other_right != right)
    });
    if contested || edits.is_empty() {
        return question(program, findings);
    }
    // Two names that lack the same import insert it once.
    let key = |edit: &Edit| (edit.path.clone(), edit.range.start, edit.text.clone());
    edits.sort_by_key(key);
    edits.dedup();
    changed.sort_unstable();
    changed.dedup();
    let said: Vec<String> = changed
        .iter()
        .map(|(wrong, right, kind)| sentence(kind, wrong, right))
        .collect();
    let place = where_found.map_or(String::new(), |path| format!(" in {path}"));
    let left = left_unresolved(program, findings, &changed);
    let summary = format!("{}{place}{left}", said.join(", "));
    let names = changed
        .into_iter()
        .map(|(_, right, _)| right.to_string())
        .collect();
    Answer::Certain(Proposal {
        kind,
        edits,
        moves: Vec::new(),
        summary,
        names,
    })
}

/// How many names that stay unresolved are listed; the rest is counted.
const MOST_LEFT: usize = 4;

/// Says which names stay unresolved after the changes, with the first place of each.
fn left_unresolved(
    program: &Program<'_>,
    findings: &[UnresolvedName],
    changed: &[(&str, &str, &str)],
) -> String {
    let mut left: Vec<(&str, String)> = Vec::new();
    for finding in findings {
        let wrong = finding.wrong.as_str();
        let is_said = changed.iter().any(|(name, _, _)| *name == wrong)
            || left.iter().any(|(name, _)| *name == wrong);
        if !is_said && let Some(at) = program.place(finding.file, finding.span.start) {
            left.push((wrong, format!("`{wrong}` at {}:{}", at.path, at.line)));
        }
    }
    let listed: Vec<&str> = left
        .iter()
        .take(MOST_LEFT)
        .map(|(_, place)| place.as_str())
        .collect();
    match left.len().saturating_sub(MOST_LEFT) {
        _ if left.is_empty() => String::new(),
        0 => format!("; still unresolved: {}", listed.join(", ")),
        more => format!("; still unresolved: {} and {more} more", listed.join(", ")),
    }
}

/// Whether every corrected name resolves once the proposal is applied: the nearest name may be deleted by then, or not
/// yet be there.
fn resolves(program: &Program<'_>, findings: &[UnresolvedName], proposal: &Proposal) -> bool {
    let mut files: Vec<FileId> = findings.iter().map(|finding| finding.file).collect();
    files.sort_unstable();
    files.dedup();
    files.into_iter().all(|id| {
        let (Some(path), Some(file)) = (program.path(id), program.file(id)) else {
            return true;
        };
        let edits: Vec<Edit> = proposal
            .edits
            .iter()
            .filter(|edit| edit.path == *path)
            .cloned()
            .collect();
        if edits.is_empty() {
            return true;
        }
        let Ok(after) = apply(file.content(), &edits) else {
            return false;
        };
        let after = Source::parse(after);
        if !after.is_whole() {
            return false;
        }
        let scopes = after.scopes(Depth::Names);
        // Each edit moves what follows it.
        let mut shift = 0i64;
        let mut places: Vec<usize> = Vec::new();
        for edit in &edits {
            let signed = |length: usize| i64::try_from(length).unwrap_or_default();
            let at = signed(edit.range.start) + shift;
            places.extend(usize::try_from(at));
            shift += signed(edit.text.len()) - signed(edit.range.len());
        }
        !scopes.suspects.iter().any(|suspect| {
            places.contains(&usize::from(suspect.span.start()))
                && proposal
                    .names
                    .iter()
                    .any(|name| name == scopes.name(suspect.name))
                && scopes.stars().next().is_none()
        })
    })
}

fn sentence(kind: &str, wrong: &str, right: &str) -> String {
    match kind {
        "missing_import" => format!("imported `{wrong}` from `{right}`"),
        "moved_import" => format!("`{wrong}` is now imported from `{right}`"),
        _ => format!("`{wrong}` is now `{right}`"),
    }
}

fn question(program: &Program<'_>, findings: &[UnresolvedName]) -> Answer {
    let Some(finding) = findings
        .iter()
        .find(|finding| matches!(finding.verdict, Verdict::Several(_)))
        .or(findings
            .iter()
            .find(|finding| matches!(finding.verdict, Verdict::Fix { .. })))
    else {
        return Answer::Nothing;
    };
    let mut options: Vec<String> = Vec::new();
    for other in findings.iter().filter(|other| other.wrong == finding.wrong) {
        match &other.verdict {
            Verdict::Several(names) => options.extend(names.iter().cloned()),
            Verdict::Fix { right, .. } => options.push(right.clone()),
            Verdict::Unknown => {}
        }
    }
    let mut seen = FxHashSet::default();
    options.retain(|option| seen.insert(option.clone()));
    options.truncate(4);
    let Some(at) = program.place(finding.file, finding.span.start) else {
        return Answer::Nothing;
    };
    let text = format!(
        "`{}` in {}:{} is not defined; which name is meant?",
        finding.wrong, at.path, at.line
    );
    Answer::Ask { text, options }
}

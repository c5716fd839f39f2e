//! Looking: `read`, `search`, `map`. Observations are short; a small model drowns in whole files.

use harness_code::path::RelPath;
use harness_code::search::{self, Query};
use harness_code::symbols;
use harness_code::text::Text;
use harness_code::tree::SourceTree;
use harness_hands::door::{Door, DoorError};

use crate::history::Refusal;

/// Lines of one view: published figures have 100 lines beat whole files.
const WINDOW: usize = 100;
/// Characters of one view, whatever its lines are.
const MOST_CHARACTERS: usize = 6_000;
/// Search results of one answer.
const MOST_HITS: usize = 20;
/// Characters of one search result.
const LONGEST_HIT: usize = 160;
/// Files of one map.
const MOST_FILES: usize = 40;

/// Shows a file, or the part around a line or a definition.
pub fn read(door: &Door, path: &str, place: &str) -> Result<String, Refusal> {
    let path = door.request(path).map_err(trespass)?;
    let bytes = door.read(&path).map_err(|error| unreadable(&path, &error))?;
    let Ok(text) = Text::decode(&bytes) else {
        return Err(Refusal::new("read.binary", format!("`{path}` is not text: read another file"), path.as_str()));
    };
    let lines: Vec<&str> = text.content().lines().collect();
    let (first, last) = window(&path, text.content(), lines.len(), place);
    let mut shown = format!("{path}, lines {} to {last} of {}:\n", first + 1, lines.len());
    for line in &lines[first..last] {
        if shown.len() + line.len() > MOST_CHARACTERS {
            shown.push_str("[… cut: name a line or a definition to see more …]\n");
            break;
        }
        shown.push_str(line);
        shown.push('\n');
    }
    Ok(shown)
}

fn window(path: &RelPath, content: &str, count: usize, place: &str) -> (usize, usize) {
    let around = |line: usize| {
        let first = line.saturating_sub(WINDOW / 4).min(count.saturating_sub(1));
        (first, (first + WINDOW).min(count))
    };
    if let Ok(line) = place.trim().parse::<usize>() {
        return around(line.saturating_sub(1));
    }
    let language = harness_code::language::Language::of(path);
    let definitions = symbols::definitions(language, content);
    let wanted = definitions.iter().find(|known| !place.is_empty() && (&*known.qualified == place || known.name() == place));
    match wanted {
        Some(found) => {
            let first = (found.line as usize).saturating_sub(1).min(count);
            (first, (found.end_line as usize).clamp(first, first + 2 * WINDOW).min(count))
        }
        None => (0, WINDOW.min(count)),
    }
}

/// Looks for text.
pub fn find(tree: &SourceTree, door: &Door, query: &str, path: &str) -> Result<String, Refusal> {
    let within = if path.is_empty() { None } else { Some(door.request(path).map_err(trespass)?) };
    let asked = Query { within, most: MOST_HITS, ..Query::literal(query) };
    let hits = search::search(tree, &asked)
        .map_err(|problem| Refusal::new("search.query", format!("{problem}: search for a plain word"), path))?;
    if hits.is_empty() {
        return Ok(format!("nothing in the project has `{query}`"));
    }
    let rows: Vec<String> = hits
        .iter()
        .map(|hit| format!("{}:{}: {}", hit.path, hit.line, hit.text.trim().chars().take(LONGEST_HIT).collect::<String>()))
        .collect();
    Ok(rows.join("\n"))
}

/// Shows what is where: files with their definitions.
pub fn map(tree: &SourceTree, path: &str) -> String {
    let folder = path.trim_matches(['/', '.']);
    let inside = |file: &RelPath| folder.is_empty() || file.as_str() == folder || file.as_str().starts_with(&format!("{folder}/"));
    let mut text = String::new();
    let files = tree.sources().filter(|file| inside(&file.path));
    for (count, file) in files.enumerate() {
        if count == MOST_FILES || text.len() > MOST_CHARACTERS {
            text.push_str("[… more files: name a folder …]\n");
            break;
        }
        let names: Vec<&str> = file.facts.definitions.iter().filter(|known| known.parent.is_none()).map(|known| known.name()).take(12).collect();
        text.push_str(&format!("{} ({} lines): {}\n", file.path, file.lines, names.join(", ")));
    }
    if text.is_empty() { format!("there is no code in `{path}`") } else { text }
}

/// Returns the refusal of a path that may not be used.
pub fn trespass(trespass: harness_hands::door::Trespass) -> Refusal {
    Refusal::new(trespass.rule, trespass.sentence, trespass.path)
}

fn unreadable(path: &RelPath, error: &DoorError) -> Refusal {
    match error.trespass() {
        Some(broken) => trespass(broken.clone()),
        None => Refusal::new("read.missing", format!("{error}: use `Action: map` to see the files"), path.as_str()),
    }
}

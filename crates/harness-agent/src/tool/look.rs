//! Looking: `read`, `search`, `map`. Observations are short; a small model drowns in whole files.

use harness_code::edit::FileChange;
use harness_code::path::RelPath;
use harness_code::report;
use harness_code::search::{self, Query};
use harness_code::symbols;
use harness_code::text::Text;
use harness_code::tree::SourceTree;
use harness_hands::door::{Door, DoorError};

use crate::history::Refusal;
use crate::tool::{Contents, requested, trespass};

/// Lines of one view: published figures have 100 lines beat whole files.
const WINDOW: usize = 100;
/// Characters of one view, whatever its lines are.
const MOST_CHARACTERS: usize = 6_000;
/// Search results of one answer.
const MOST_HITS: usize = 20;
/// Characters of one search result.
const LONGEST_HIT: usize = 160;

/// Shows a file, or the part around a line or a definition.
pub(crate) fn read(
    tree: &SourceTree,
    door: &Door,
    contents: &Contents<'_>,
    path: &str,
    place: &str,
) -> Result<String, Refusal> {
    let path = requested(tree, door, path)?;
    let there = contents(&path).and_then(|found| match found {
        Some(bytes) => Ok(bytes),
        None => door.read(&path),
    });
    let bytes = there.map_err(|error| unreadable(&path, &error))?;
    let Ok(text) = Text::decode(&bytes) else {
        return Err(Refusal::new(
            "read.binary",
            format!("`{path}` is not text: read another file"),
            path.as_str(),
        ));
    };
    let lines: Vec<&str> = text.content().lines().collect();
    let (first, last) = window(&path, text.content(), lines.len(), place);
    let mut shown = format!(
        "{path}, lines {} to {last} of {}:\n",
        first + 1,
        lines.len()
    );
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
    let wanted = definitions
        .iter()
        .find(|known| !place.is_empty() && (&*known.qualified == place || known.name() == place));
    match wanted {
        Some(found) => {
            let first = (found.line as usize).saturating_sub(1).min(count);
            (
                first,
                (found.end_line as usize)
                    .clamp(first, first + 2 * WINDOW)
                    .min(count),
            )
        }
        None => (0, WINDOW.min(count)),
    }
}

/// Looks for text.
pub(crate) fn find(
    tree: &SourceTree,
    door: &Door,
    drafts: &[FileChange],
    query: &str,
    path: &str,
) -> Result<String, Refusal> {
    let within = if path.is_empty() {
        None
    } else {
        Some(requested(tree, door, path)?)
    };
    let asked = Query {
        within,
        most: MOST_HITS,
        ..Query::literal(query)
    };
    let hits = search::search(tree, &asked).map_err(|problem| {
        Refusal::new(
            "search.query",
            format!("{problem}: search for a plain word"),
            path,
        )
    })?;
    let row = |path: &RelPath, line: usize, text: &str| {
        let text: String = text.trim().chars().take(LONGEST_HIT).collect();
        format!("{path}:{line}: {text}")
    };
    let is_drafted = |path: &RelPath| drafts.iter().any(|draft| draft.path == *path);
    let is_within = |path: &RelPath| {
        let within = asked.within.as_ref();
        within.is_none_or(|within| path.starts_with(within))
    };
    // Files that the run has changed are looked at as it would leave them.
    let drafted = drafts.iter().filter(|draft| is_within(&draft.path));
    let drafted = drafted.flat_map(|draft| {
        let lines = draft.new_text().lines().enumerate();
        let found = lines.filter(|(_, line)| line.contains(query));
        found.map(|(at, line)| row(&draft.path, at + 1, line))
    });
    let known = hits.iter().filter(|hit| !is_drafted(&hit.path));
    let known = known.map(|hit| row(&hit.path, hit.line as usize, &hit.text));
    let rows: Vec<String> = drafted.chain(known).take(MOST_HITS).collect();
    if rows.is_empty() {
        return Ok(format!("nothing in the project has `{query}`"));
    }
    Ok(rows.join("\n"))
}

/// Shows what is where.
pub(crate) fn map(tree: &SourceTree, door: &Door, path: &str) -> Result<String, Refusal> {
    let asked = path.trim_matches(['/', '.']);
    let place = if asked.is_empty() {
        None
    } else {
        Some(requested(tree, door, asked)?)
    };
    let shown = report::map::map(tree, place.as_ref(), MOST_CHARACTERS);
    Ok(shown.unwrap_or_else(|| format!("there is no code in `{path}`")))
}

fn unreadable(path: &RelPath, error: &DoorError) -> Refusal {
    match error.trespass() {
        Some(broken) => trespass(broken.clone()),
        None => Refusal::new(
            "read.missing",
            format!("{error}: use `Action: map` to see the files"),
            path.as_str(),
        ),
    }
}

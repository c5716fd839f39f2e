//! Fuzz bodies: plain functions over bytes. The fuzzer calls them, and so do property tests on a stable compiler.
//! A body must never panic, hang, or read outside the folder; what it asserts is what callers rely on.

use std::path::Path;

use harness_code::edit::replace_definition;
use harness_code::edit::{Edit, apply, unified_diff};
use harness_code::imports::{ImportGraph, Resolver};
use harness_code::language::Language;
use harness_code::locate::{LocateOptions, TaskOccurrences, locate};
use harness_code::path::RelPath;
use harness_code::report::brief::Brief;
use harness_code::report::layout::Layout;
use harness_code::report::map::map;
use harness_code::request::Request;
use harness_code::search::{Query, glob, search};
use harness_code::suite::{SuiteEnvironment, detect};
use harness_code::symbols::{parses, read_with};
use harness_code::text::{Text, line_ending, with_line_ending};
use harness_code::tree::SourceTree;

/// Every language that has a reader.
pub const LANGUAGES: &[Language] = &[
    Language::Python,
    Language::Rust,
    Language::JavaScript,
    Language::TypeScript,
    Language::Tsx,
    Language::Go,
    Language::Java,
    Language::C,
    Language::Cpp,
    Language::Ruby,
    Language::CSharp,
    Language::Php,
    Language::Shell,
];

/// Paths: what parses stays inside the project and reads back as itself.
pub fn path(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(path) = RelPath::parse(&text) else {
        return;
    };
    assert!(
        path.parts()
            .all(|part| !part.is_empty() && part != "." && part != "..")
    );
    assert_eq!(RelPath::parse(path.as_str()).as_ref(), Ok(&path));
    assert!(path.under(Path::new("/root")).starts_with("/root"));
    if let Ok(joined) = path.join(&text) {
        assert!(joined.parts().all(|part| part != ".."));
    }
}

/// Text: every file that decodes encodes to the same bytes.
pub fn text(data: &[u8]) {
    let Ok(text) = Text::decode(data) else { return };
    assert_eq!(text.encode(text.content()).ok().as_deref(), Some(data));
    assert_eq!(Text::from_bytes(data.to_vec()).ok().as_ref(), Some(&text));
    with_line_ending("a\nb\r\nc\r", line_ending(text.content()));
}

/// Symbols: spans lie inside the text, on characters, around the name.
pub fn symbols(data: &[u8]) {
    let content = String::from_utf8_lossy(data);
    for &language in LANGUAGES {
        let (facts, broken) = read_with(language, &content, |reading| reading.facts.broken);
        assert_eq!(facts.broken, broken);
        parses(language, &content);
        for definition in &facts.definitions {
            let (span, name) = (definition.span(), definition.name_span());
            assert!(content.get(span.clone()).is_some(), "{language:?} {span:?}");
            assert_eq!(
                content.get(name.clone()),
                Some(definition.name()),
                "{language:?}"
            );
            assert!(
                span.start <= definition.header_start() && definition.header_start() <= span.end
            );
            assert!(
                definition.line >= 1 && definition.end_line >= definition.line,
                "{language:?} {definition:?}"
            );
            assert!(
                definition
                    .parent
                    .is_none_or(|parent| (parent as usize) < facts.definitions.len())
            );
            definition
                .calls
                .iter()
                .for_each(|&id| assert!(!facts.names.get(id).is_empty()));
        }
    }
}

/// Edits: a definition replaced by itself changes nothing; any splice is made or refused; a diff says how to get there.
pub fn edit(data: &[u8]) {
    let content = String::from_utf8_lossy(data);
    for &language in &[Language::Python, Language::Rust, Language::TypeScript] {
        for definition in harness_code::symbols::definitions(language, &content)
            .iter()
            .take(8)
        {
            let _ = replace_definition(
                language,
                &content,
                &definition.qualified,
                "def f():\n    return 1",
            );
            let _ = replace_definition(language, &content, definition.name(), &content);
        }
    }
    let middle = content.floor_char_boundary(content.len() / 2);
    let Ok(path) = RelPath::parse("a") else {
        return;
    };
    let one = Edit {
        path: path.clone(),
        range: data.len() / 3..data.len() / 2,
        text: "é".to_string(),
    };
    let two = Edit {
        path,
        range: middle..content.len(),
        text: content[..middle].to_string(),
    };
    if let Ok(changed) = apply(&content, &[one, two]) {
        let diff = unified_diff("a", Some(&content), Some(&changed));
        assert_eq!(patched(&content, &diff).as_deref(), Some(changed.as_str()));
    }
}

/// Passages: what is found lies on characters; what parsed parses after a passage was replaced, or it was not.
pub fn passage(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut thirds = text.splitn(3, '\u{1F600}');
    let content = thirds.next().unwrap_or_default();
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let (from, to) = (lines.len() / 3, lines.len() - lines.len() / 4);
    let piece: String = lines.get(from..to).unwrap_or_default().concat();
    let shifted: String = piece
        .lines()
        .map(|line| format!("  {}\n", line.trim()))
        .collect();
    let olds = [
        thirds.next().unwrap_or("x"),
        &piece,
        &shifted,
        "def f(\n...\n    ",
        "1 | x\n2 | y",
    ];
    let given = thirds.next().unwrap_or("return 1");
    let news = [given, "\t...\n", given, &shifted, ""];
    for (old, new) in olds.into_iter().zip(news) {
        for place in harness_code::passage::places(content, old) {
            assert!(content.get(place.clone()).is_some(), "{place:?}");
        }
        let _ = harness_code::passage::replace_all(content, old, new);
        for &language in &[Language::Python, Language::Rust] {
            if let Ok(after) = harness_code::passage::replace_in(language, content, old, new) {
                assert!(
                    !parses(language, content) || parses(language, &after),
                    "{after}"
                );
            }
        }
    }
}

/// Companions: imports and constants that come along never break a file and are not added twice.
pub fn companions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let middle = text.floor_char_boundary(text.len() / 2);
    let (content, code) = text.split_at(middle);
    let once = harness_code::edit::with_companions(Language::Python, content, code);
    if parses(Language::Python, content) && parses(Language::Python, code) {
        assert!(parses(Language::Python, &once), "{once}");
        let twice = harness_code::edit::with_companions(Language::Python, &once, code);
        assert_eq!(once, twice);
    }
}

/// Reports: a project made of these bytes has a brief, a layout, a map and a suite or none, at every width.
pub fn project(folder: &Path, data: &[u8]) {
    let Ok(tree) = SourceTree::read(folder, None) else {
        return;
    };
    let environment = SuiteEnvironment {
        python: None,
        prepared: None,
        active: Vec::new(),
        own: None,
        home: None,
        find_programs: &|_| Vec::new(),
    };
    let suite = detect(&tree, &environment);
    let brief = Brief::of(&tree, suite.as_ref());
    let layout = Layout::of(&tree);
    for width in [0, 20, 80, 10_000] {
        brief.render_for_person(width);
        layout.render_for_person(width);
    }
    for length in [0, 100, 4000] {
        map(&tree, None, length);
        for file in tree.files().iter().take(4) {
            map(&tree, Some(&file.path), length);
        }
    }
    let graph = ImportGraph::of(&tree);
    graph.circles(&tree);
    let resolver = Resolver::of(&tree);
    let text = String::from_utf8_lossy(data);
    for file in tree.files() {
        resolver.python_module(&file.path, &text, data.first().copied().unwrap_or(0));
        resolver.python_name(&file.path);
    }
    let _ = search(
        &tree,
        &Query {
            regex: true,
            most: 20,
            ..Query::literal(&text)
        },
    );
    let _ = glob(&tree, &text);
    task(&tree, data);
}

/// Tasks: whatever a task says, what it names and where it leads lies in the project, and scores fall from one.
pub fn task(tree: &SourceTree, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let occurrences = TaskOccurrences::of(tree, &Request::read(&text));
    let known = |path: &RelPath| tree.file(path).is_some();
    for include_tests in [false, true] {
        let (mentions, located) = locate(tree, &occurrences, LocateOptions { include_tests });
        assert!(mentions.paths.iter().all(known));
        assert!(mentions.definitions.iter().all(|named| known(&named.path)));
        assert!(mentions.frames.iter().all(|frame| known(&frame.path)));
        assert!(located.files.iter().all(|hit| known(&hit.path)));
        assert!(located.definitions.iter().all(|hit| known(&hit.path)));
        let files = located.files.iter().map(|hit| hit.score);
        let definitions = located.definitions.iter().map(|hit| hit.score);
        for score in files.chain(definitions) {
            assert!((0.0..=1.0).contains(&score), "{score}");
        }
        assert!(
            located
                .files
                .is_sorted_by(|one, other| one.score >= other.score)
        );
    }
}

/// Makes the change that a unified diff describes; `None` when it does not fit.
fn patched(content: &str, diff: &str) -> Option<String> {
    if diff.is_empty() {
        return Some(content.to_string());
    }
    let old: Vec<&str> = content.split_inclusive('\n').collect();
    let (mut result, mut at) = (String::new(), 0usize);
    let lines: Vec<&str> = diff.split_inclusive('\n').skip(2).collect();
    for (number, line) in lines.iter().enumerate() {
        if let Some(header) = line.strip_prefix("@@ -") {
            let (start, length) = header
                .split(' ')
                .next()?
                .split_once(',')
                .unwrap_or((header.split(' ').next()?, "1"));
            let start: usize = start.parse().ok()?;
            let from = if length == "0" { start } else { start - 1 };
            result.extend(old.get(at..from)?.iter().copied());
            at = from;
            continue;
        }
        if line.starts_with('\\') {
            continue;
        }
        let ends_file = lines
            .get(number + 1)
            .is_some_and(|next| next.starts_with("\\ No newline"));
        let text = if ends_file {
            line[1..].strip_suffix('\n')?
        } else {
            &line[1..]
        };
        if line.starts_with([' ', '-']) {
            if *old.get(at)? != text {
                return None;
            }
            at += 1;
        }
        if line.starts_with([' ', '+']) {
            result.push_str(text);
        }
    }
    result.extend(old.get(at..)?.iter().copied());
    Some(result)
}

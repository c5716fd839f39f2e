//! A question about the project as a whole, and what the project's own documents say to it.

use crate::mention::Mentions;
use crate::path::RelPath;
use crate::report::brief::{Brief, shown_command};
use crate::report::clipped;
use crate::report::facts::Fact;
use crate::report::manifest::{READMES, manifests};
use crate::request::Request;
use crate::suite::Suite;
use crate::text::is_among;
use crate::tree::SourceTree;

/// Words that say nothing about what a question is about.
const FILLING: &str = "a about am an and any anything are be briefly by can could describe did do does each explain \
for from get give had has have her here how i if in into is it its kind like made main make me mean meant my need of on \
one or our out overview please purpose really run say short should show so some sum summarise summarize tell than that \
the their them there these they thing things this those to under us want was way we well were what when where which who \
whole why will with work works would written you your \
als auf das dem den der die diese dieser dieses ein eine es geht hier ich im ist kann macht man mir so um und von was \
welche welchen wer wie wird werden wo worum zu \
ce cette comment de des du est et faire fait il la le les ou que quel quelle quelles quels sont sur un une \
como con cual cuales el ella en es esta este estos hace hacer las los para por que qué cómo se son una uno \
com faz fazer isso isto o os quais qual são che chi come cosa cui fa gli i lo nel per quale quali questa questo si sono \
dat dit doet een het hoe kan met van voor waar wat welke worden co do dla i jak jest na robi są się ten to w z \
в для и из как какие какой на о он с что эта это этот делает";

/// Words that ask about a project and not about a place in it.
const SUBJECTS: &str = "app application code codebase crate framework library package product program project repo \
repository software source tool \
anwendung bibliothek code paket programm projekt bibliothèque logiciel paquet programme projet aplicación biblioteca \
paquete programa proyecto aplicação pacote projeto applicazione libreria pacchetto programma progetto bibliotheek pakket \
programma project aplikacja biblioteka pakiet program projekt библиотека пакет программа проект";

/// What is asked about, with the keys of manifests that say it.
const TOPICS: &[(&str, &str)] = &[
    (
        "minimum minimal newest oldest python node rust go java ruby php edition support supported supports version \
versions versionen unterstützt wersje versiones versioni versies версии",
        "requires-python python_requires python rust-version edition go engines php maven.compiler.release",
    ),
    (
        "licence license licenced licensed lizenz licencia licença licenza licentie licencja лицензия",
        "license license-files",
    ),
    (
        "dependencies dependency depend depends external needs packages requirements require requires third party \
abhängigkeiten dépendances dependencias dependências dipendenze afhankelijkheden zależności зависимости",
        "dependencies install_requires require requires",
    ),
    (
        "author authors maintainer maintainers maintained maintains wrote autor autoren auteur autores autori",
        "authors author maintainers maintainer",
    ),
    (
        "cli command commands console entry point points begin begins invoke launch launched start started starts \
startet gestartet lancer iniciar",
        "scripts console_scripts bin main",
    ),
    (
        "check checked checks ci execute executed suite test tested testing tests coverage run ran runs running \
ausgeführt ausführen laufen lauft tests testen essais exécuter pruebas ejecutan ejecutar testes executar prove eseguire \
testy uruchomić тесты запустить",
        "",
    ),
    (
        "build builds built compile compiled contribute contributing deploy develop development docs documentation \
install installed installation setup set up usage use used example examples getting guide quickstart tutorial \
installieren benutzen installer utiliser instalar usar installare usare installeren zainstalować установить",
        "",
    ),
    (
        "architecture built files folder folders language languages large layout lines long big modules organised \
organized parts structure structured size style goal idea status name called purpose what's feature features changelog \
changes changed change history last latest lately newest past earlier previous previously recent recently undo undone \
did happened aufgebaut aufbau architektur",
        "",
    ),
];

/// Scripts without blanks between words: what they call a project.
const SUBJECTS_WITHOUT_BLANKS: &[&str] = &["项目", "專案", "程序", "プロジェクト", "ライブラリ"];
/// A question in such a script that is longer is about something in the project.
const SHORT_WITHOUT_BLANKS: usize = 20;

/// Tables whose keys stand in their headings.
const TABLES: &[&str] = &["project.", "tool.poetry.", "options."];

/// Sections of documents that are shown.
const MOST_SECTIONS: usize = 4;
/// The longest part of one section, in bytes.
const LONGEST_SECTION: usize = 1_200;
/// The longest value of a manifest that is a fact, in characters.
const LONGEST_VALUE: usize = 200;

fn words(question: &Request) -> Vec<String> {
    question.spoken_words().map(str::to_lowercase).collect()
}

/// Words after which a definition's name may follow: "what does run do?".
const BEFORE_NAMES: &str = "are calls did do does is of was";

/// Says whether a question is about the project as a whole: it names no place, and every word of it asks about
/// projects or says nothing.
pub fn is_about_project(tree: &SourceTree, question: &Request, mentions: &Mentions) -> bool {
    if mentions.names_a_place() || !mentions.identifiers.is_empty() {
        return false;
    }
    let names = |subject: &&str| question.text().contains(*subject);
    if SUBJECTS_WITHOUT_BLANKS.iter().any(names) {
        return question.text().chars().count() <= SHORT_WITHOUT_BLANKS;
    }
    let words = words(question);
    let asks = |word: &String| {
        is_among(SUBJECTS, word) || TOPICS.iter().any(|(topic, _)| is_among(topic, word))
    };
    let is_whole = words.iter().any(asks)
        && words
            .iter()
            .all(|word| asks(word) || is_among(FILLING, word));
    is_whole && !names_definition(tree, &words)
}

/// Says whether one of the words stands where a name would, and is the name of a definition.
fn names_definition(tree: &SourceTree, words: &[String]) -> bool {
    let mut pairs = words.iter().zip(words.iter().skip(1));
    pairs.any(|(before, word)| {
        let mut all = tree.definitions();
        is_among(BEFORE_NAMES, before)
            && !is_among(SUBJECTS, word)
            && all.any(|(_, definition)| definition.name().eq_ignore_ascii_case(word))
    })
}

/// Returns what the manifests and the suite say to a question about the project.
pub fn project_facts(tree: &SourceTree, suite: Option<&Suite>, question: &Request) -> Vec<Fact> {
    let words = words(question);
    let asks = |topic: &str| words.iter().any(|word| is_among(topic, word));
    let keys: Vec<&str> = TOPICS
        .iter()
        .filter(|(topic, _)| asks(topic))
        .flat_map(|(_, keys)| keys.split_ascii_whitespace())
        .collect();
    let mut found: Vec<Fact> = manifests()
        .filter_map(|name| RelPath::parse(name).ok())
        .flat_map(|path| manifest_facts(tree, &path, &keys))
        .collect();
    let tested = words.iter().any(|word| word.starts_with("test"));
    if let Some(suite) = suite.filter(|_| tested) {
        let shown = shown_command(&elsewhere(suite).command);
        let at = manifests()
            .filter_map(|name| tree.file(&RelPath::parse(name).ok()?))
            .chain(tree.files().iter().filter(|file| file.test))
            .next();
        found.extend(at.map(|file| Fact {
            text: format!("the tests are run by {}: `{shown}`", suite.runner.name()),
            path: file.path.clone(),
            line: 1,
        }));
    }
    found
}

/// Returns the lines of a manifest that give one of these keys a value.
fn manifest_facts(tree: &SourceTree, path: &RelPath, keys: &[&str]) -> Vec<Fact> {
    let Ok(text) = tree.text(path) else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.content().lines().collect();
    let gives = |line: &str| {
        let bare = line.trim_start().trim_start_matches(['"', '\'', '<', '[']);
        let table = TABLES.iter().find_map(|table| bare.strip_prefix(table));
        keys.iter().any(|key| {
            let rest = table.unwrap_or(bare).strip_prefix(key);
            rest.is_some_and(|rest| rest.starts_with(['"', '\'', ' ', '=', ':', '>', ']']))
        })
    };
    let wanted = (0..lines.len()).filter(|at| gives(lines[*at]));
    let fact = |at: usize| Fact {
        text: format!("`{}`", value_at(&lines[at..]).replace('`', "'")),
        path: path.clone(),
        line: at as u32 + 1,
    };
    wanted.map(fact).collect()
}

/// Returns the value that the first of these lines begins: a table up to the next blank line, else until its brackets
/// are closed.
fn value_at(lines: &[&str]) -> String {
    let is_table = lines.first().is_some_and(|line| line.starts_with('['));
    let mut value = String::new();
    for (at, line) in lines.iter().take(20).enumerate() {
        let opened = value.matches(['[', '{', '(']).count();
        let is_open = opened > value.matches([']', '}', ')']).count();
        let goes_on = at == 0
            || if is_table {
                !line.trim().is_empty()
            } else {
                is_open
            };
        if !goes_on {
            break;
        }
        value.push_str(line.trim());
        value.push(' ');
    }
    clipped(value.trim(), LONGEST_VALUE)
}

/// Returns what the project says of itself that bears on a question: its brief, then the parts of its documents that
/// share most words with the question. No longer than `most` bytes.
pub fn overview(
    tree: &SourceTree,
    suite: Option<&Suite>,
    question: &Request,
    most: usize,
) -> String {
    let suite = suite.map(elsewhere);
    let brief = Brief::of(tree, suite.as_ref()).render_for_person(100);
    let mut text = format!("What is known of the project:\n{}", brief.trim_end());
    for section in best_sections(tree, question) {
        let fence = if section.text.contains("```") {
            "````"
        } else {
            "```"
        };
        let shown = format!(
            "\n\n{}, line {}:\n{fence}\n{}\n{fence}",
            section.path,
            section.line,
            section.text.trim_end()
        );
        if text.len() + shown.len() <= most {
            text.push_str(&shown);
        }
    }
    text
}

/// Returns a suite as it is on any machine: where this one keeps its programs is nobody's question.
fn elsewhere(suite: &Suite) -> Suite {
    let mut suite = suite.clone();
    suite.missing.clear();
    if let Some(program) = suite.command.first_mut() {
        let name = program.rsplit(['/', '\\']).next();
        *program = name.unwrap_or_default().to_owned();
    }
    suite
}

/// A part of a document under one heading.
struct Section {
    path: RelPath,
    line: u32,
    text: String,
}

/// Returns the parts of the documents that share most words with a question, in the order of the documents. The README's
/// beginning is always among them.
fn best_sections(tree: &SourceTree, question: &Request) -> Vec<Section> {
    let words: Vec<String> = words(question)
        .into_iter()
        .filter(|word| !is_among(FILLING, word) && !is_among(SUBJECTS, word))
        .collect();
    // "tests" and "test", "versions" and "version".
    let stem = |word: &String| word.trim_end_matches('s').to_owned();
    let stems: Vec<String> = words
        .iter()
        .map(stem)
        .filter(|word| word.len() > 2)
        .collect();
    let guides = ["CONTRIBUTING.md", "CONTRIBUTING.rst"];
    let documents = READMES
        .split_ascii_whitespace()
        .chain(guides)
        .chain(manifests());
    let mut sections: Vec<(usize, usize, Section)> = Vec::new();
    for path in documents.filter_map(|name| RelPath::parse(name).ok()) {
        let Ok(text) = tree.text(&path) else {
            continue;
        };
        for section in sections_of(&path, text.content()) {
            let lower = section.text.to_lowercase();
            let head = lower.lines().next().unwrap_or_default();
            let count = |text: &str| {
                stems
                    .iter()
                    .filter(|stem| text.contains(stem.as_str()))
                    .count()
            };
            let is_first = section.line == 1 && is_among(READMES, path.as_str());
            let score = count(&lower) + 2 * count(head) + if is_first { 100 } else { 0 };
            sections.push((score, sections.len(), section));
        }
    }
    sections.sort_by_key(|(score, at, _)| (std::cmp::Reverse(*score), *at));
    sections.truncate(MOST_SECTIONS);
    sections.retain(|(score, _, _)| *score > 0);
    sections.sort_by_key(|(_, at, _)| *at);
    sections
        .into_iter()
        .map(|(_, _, section)| section)
        .collect()
}

/// Cuts a document at its headings: Markdown's, reStructuredText's underlined ones, and the tables of a manifest.
fn sections_of(path: &RelPath, content: &str) -> Vec<Section> {
    let is_manifest = manifests().any(|name| name == path.as_str());
    let lines: Vec<&str> = content.lines().collect();
    let underlined = |at: usize| {
        let next = lines.get(at + 1).map_or("", |line| line.trim_end());
        let is_rule = next.len() >= 3 && next.bytes().all(|byte| b"=-~^\"'*+#".contains(&byte));
        is_rule && !lines[at].trim().is_empty() && next.len() >= lines[at].trim().len()
    };
    let is_heading = |at: usize| {
        let line = lines[at];
        if is_manifest {
            return line.starts_with('[');
        }
        line.starts_with('#') || underlined(at)
    };
    let mut sections: Vec<Section> = Vec::new();
    let mut in_fence = false;
    for (at, line) in lines.iter().enumerate() {
        in_fence ^= line.trim_start().starts_with("```");
        if sections.is_empty() || at > 0 && !in_fence && is_heading(at) {
            sections.push(Section {
                path: path.clone(),
                line: at as u32 + 1,
                text: String::new(),
            });
        }
        if let Some(section) = sections
            .last_mut()
            .filter(|section| section.text.len() + line.len() <= LONGEST_SECTION)
        {
            section.text.push_str(line);
            section.text.push('\n');
        }
    }
    sections
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;
    use crate::locate::{self, TaskOccurrences};
    use std::fs;

    fn project() -> (tempfile::TempDir, SourceTree) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            (
                "README.md",
                "# Shop\n\nKeeps the orders of a shop.\n\n## Installing\n\npip install shop\n\n## Testing\n\nmake check\n",
            ),
            (
                "pyproject.toml",
                "[project]\nname = \"shop\"\nrequires-python = \">=3.9\"\nlicense = \"MIT\"\ndependencies = [\n  \"attrs\",\n]\n\n[project.scripts]\nshop = \"shop:main\"\n",
            ),
            (
                "shop.py",
                "def main():\n    return parse()\n\n\ndef parse():\n    return run()\n\n\ndef run():\n    return 1\n",
            ),
        ] {
            fs::write(folder.path().join(path), text).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        (folder, tree)
    }

    #[test]
    fn questions_about_the_project_and_about_places_in_it() {
        let (_folder, tree) = project();
        let is_whole = |question: &str| {
            let question = &Request::read(question);
            let mentions = locate::mentioned(&tree, &TaskOccurrences::of(&tree, question));
            is_about_project(&tree, question, &mentions)
        };
        for question in [
            "what does this project do?",
            "how are the tests run?",
            "which python versions are supported?",
            "what license is it under?",
            "How do I install it?",
            "what are the dependencies?",
            "where does the program start?",
            "how is the code organised?",
            "what did the last run change?",
            "Was macht dieses Projekt?",
            "Wie werden die Tests ausgeführt?",
            "que fait ce projet ?",
            "¿qué hace este proyecto?",
            "o que faz este projeto?",
            "cosa fa questo progetto?",
            "wat doet dit project?",
            "co robi ten projekt?",
            "что делает этот проект?",
            "这个项目是做什么的？",
            "このプロジェクトは何ですか",
        ] {
            assert!(is_whole(question), "{question}");
        }
        for question in [
            "what does parse return?",
            "what does run do?",
            "where is run used?",
            "how does the library parse dates?",
            "why does the program crash on empty input?",
            "where are orders saved?",
            "what does shop.py do?",
            "which tests check discounts?",
        ] {
            assert!(!is_whole(question), "{question}");
        }
    }

    #[test]
    fn manifests_answer_what_they_say() {
        let (_folder, tree) = project();
        let facts = |question: &str| {
            let found = project_facts(&tree, None, &Request::read(question));
            let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
            lines.join("; ")
        };
        assert_eq!(
            facts("which python versions are supported?"),
            "`requires-python = \">=3.9\"` (pyproject.toml:3)"
        );
        assert_eq!(
            facts("what license?"),
            "`license = \"MIT\"` (pyproject.toml:4)"
        );
        assert_eq!(
            facts("what are the dependencies?"),
            "`dependencies = [ \"attrs\", ]` (pyproject.toml:5)"
        );
        assert_eq!(
            facts("how is it started?"),
            "`[project.scripts] shop = \"shop:main\"` (pyproject.toml:9)"
        );
        assert_eq!(facts("what does this project do?"), "");
    }

    #[test]
    fn the_parts_of_the_documents_that_bear_on_a_question_are_shown() {
        let (_folder, tree) = project();
        let shown = overview(&tree, None, &Request::read("how do I install it?"), 4_000);
        assert!(shown.contains("Keeps the orders of a shop."), "{shown}");
        assert!(
            shown.contains("README.md, line 5:\n```\n## Installing"),
            "{shown}"
        );
        assert!(!shown.contains("make check"), "{shown}");
    }
}

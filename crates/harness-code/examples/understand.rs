//! Reads a project and prints its brief, layout, map or where a task leads: to look at each without the rest.

use std::path::PathBuf;

use harness_code::locate::{LocateOptions, Noted, locate};
use harness_code::path::RelPath;
use harness_code::report::brief::Brief;
use harness_code::report::layout::Layout;
use harness_code::report::map::map;
use harness_code::suite::{self, SuiteEnvironment};
use harness_code::tree::SourceTree;

#[expect(clippy::print_stdout, reason = "an example program talks to its user")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let root = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_string()));
    if what == "locate" {
        let text = arguments.next().unwrap_or_default();
        let Ok((tree, noted)) = Noted::read(&root, None, &text) else {
            std::process::exit(2)
        };
        let (_, located) = locate(&tree, &noted, &LocateOptions::default());
        located
            .files
            .iter()
            .take(5)
            .for_each(|hit| println!("{} {}", hit.path, hit.why));
        return;
    }
    let tree = match SourceTree::read(&root, None) {
        Ok(tree) => tree,
        Err(problem) => {
            println!("{problem}");
            std::process::exit(2);
        }
    };
    let environment = SuiteEnvironment {
        virtual_env: None,
        find_program: &|_| None,
    };
    match what.as_str() {
        "brief" => {
            let suite = suite::detect(&tree, &environment);
            let brief = Brief::of(&tree, suite.as_ref());
            println!("{}", brief.render_for_person(100));
        }
        "brief-model" => println!(
            "{}",
            Brief::of(&tree, suite::detect(&tree, &environment).as_ref()).render_for_model()
        ),
        "layout" => println!("{}", Layout::of(&tree).render_for_person(100)),
        "map" => {
            let place = arguments.next().and_then(|text| RelPath::parse(&text).ok());
            println!("{}", map(&tree, place.as_ref(), 4000).unwrap_or_default());
        }
        _ => {
            let lines: u64 = tree.sources().map(|file| u64::from(file.lines)).sum();
            println!(
                "{} files, {lines} lines, {} definitions",
                tree.files().len(),
                tree.definitions().count()
            );
        }
    }
}

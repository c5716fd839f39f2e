//! Reads a project and says what was found: the measuring stick for `bench/understand.py`.

use std::path::PathBuf;

use harness_code::tree::SourceTree;

#[expect(clippy::print_stdout, reason = "an example program talks to its user")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let root = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_string()));
    let tree = match SourceTree::read(&root, None) {
        Ok(tree) => tree,
        Err(problem) => {
            println!("{problem}");
            std::process::exit(2);
        }
    };
    let lines: u64 = tree.sources().map(|file| u64::from(file.lines)).sum();
    println!(
        "{what}: {} files, {} sources, {lines} lines, {} definitions",
        tree.files().len(),
        tree.sources().count(),
        tree.definitions().count()
    );
}

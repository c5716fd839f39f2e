//! Where new tests go: the file that tests this code already, else the one that a person would make.

use harness_code::language::Language;
use harness_code::mention::Mentions;
use harness_code::path::RelPath;
use harness_code::tree::SourceTree;

use crate::plan::Spot;

/// Returns the file for new tests of a place: the one that the task names, the one named after the module, one that
/// speaks of the definition, else a new one beside the others.
pub(super) fn for_tests(tree: &SourceTree, mentions: &Mentions, spot: &Spot) -> Option<RelPath> {
    if Language::of(&spot.path) != Language::Python {
        return None;
    }
    let named = mentions
        .paths
        .iter()
        .find(|path| harness_code::tree::is_test(path) && Language::of(path) == Language::Python);
    if let Some(path) = named {
        return Some(path.clone());
    }
    let stem = spot.path.file_name().strip_suffix(".py")?;
    let tests = || {
        tree.files()
            .iter()
            .filter(|file| file.test && file.language == Language::Python)
    };
    let after = |name: &str| name == format!("test_{stem}.py") || name == format!("{stem}_test.py");
    if let Some(file) = tests().find(|file| after(file.path.file_name())) {
        return Some(file.path.clone());
    }
    let bare = spot.name.rsplit('.').next().unwrap_or(&spot.name);
    let speaks = |path: &RelPath| {
        let text = tree.text(path).map(|text| text.into_content());
        text.is_ok_and(|text| {
            text.split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == bare)
        })
    };
    let candidates = || tests().filter(|file| file.path.file_name().contains("test"));
    if let Some(file) = candidates().find(|file| !bare.is_empty() && speaks(&file.path)) {
        return Some(file.path.clone());
    }
    let beside = candidates().next().map(|file| {
        file.path
            .as_str()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
    });
    let folder = beside.unwrap_or_default();
    let path = match folder {
        "" => format!("test_{stem}.py"),
        folder => format!("{folder}/test_{stem}.py"),
    };
    RelPath::parse(&path).ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], task: &str, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let mentions = Mentions::read(task, &tree);
        let spot = Spot {
            path: RelPath::parse("shop/price.py").unwrap(),
            name: "net".to_owned(),
            line: 1,
            span: 0..10,
        };
        let home = for_tests(&tree, &mentions, &spot).unwrap();
        assert_eq!(home.as_str(), expected);
    }

    #[test]
    fn tests_go_where_a_person_would_put_them() {
        let code = ("shop/price.py", "def net(x):\n    return x\n");
        let task = "write tests for net in shop/price.py";
        check(&[code], task, "test_price.py");
        check(
            &[code, ("tests/test_price.py", "")],
            task,
            "tests/test_price.py",
        );
        let other = ("tests/test_all.py", "from shop.price import net\n");
        check(&[code, other], task, "tests/test_all.py");
        check(
            &[code, ("tests/test_cart.py", "x = 1\n")],
            task,
            "tests/test_price.py",
        );
        let named = "write tests for net into tests/test_cart.py";
        check(
            &[code, ("tests/test_cart.py", "x = 1\n")],
            named,
            "tests/test_cart.py",
        );
    }
}

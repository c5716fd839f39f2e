//! Where new code goes: a definition into the file or class that the task names, tests into the file that tests the
//! code already, else into the one that a person would make.

use harness_code::language::Language;
use harness_code::mention::Mentions;
use harness_code::path::RelPath;
use harness_code::symbols::DefinitionKind;
use harness_code::text::whole_words;
use harness_code::tree::SourceTree;

use crate::plan::Spot;
use harness_code::request::Request;
use harness_code::request::addition::Noun;
use harness_code::request::kind::Kind;

/// A definition that a task asks for and that is not there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewDefinition {
    /// The file that it goes to.
    pub path: RelPath,
    /// Its name, with its class; empty where a whole file is asked for.
    pub name: String,
    /// A test is to come with it.
    pub with_test: bool,
    /// The file is not there yet either.
    pub in_new_file: bool,
}

/// Returns the new definition of a task that names both it and its home.
pub(super) fn for_new(
    task: &Request,
    tree: &SourceTree,
    mentions: &Mentions,
) -> Option<NewDefinition> {
    if task.kind() != Kind::Add {
        return None;
    }
    if let Some(path) = new_file(task, tree) {
        let is_plain = |name: &String| !name.contains('.');
        let name = task
            .addition()
            .map(|addition| addition.name.clone())
            .filter(is_plain);
        return Some(NewDefinition {
            path,
            name: name.unwrap_or_default(),
            with_test: task.wants_test(),
            in_new_file: true,
        });
    }
    let addition = task.addition()?;
    let classes = || {
        let named = mentions.definitions.iter();
        named.filter(|hit| {
            let file = tree.file(&hit.path);
            let mut known = file.into_iter().flat_map(|file| &file.facts.definitions);
            known.any(|one| *one.qualified == hit.qualified && one.kind == DefinitionKind::Class)
        })
    };
    // "add __slots__", and the answer to where it goes is a class.
    let answered = task.answer().and_then(|(name, path)| {
        let mut all = classes();
        all.find(|hit| hit.path.as_str() == path && hit.qualified == name)
    });
    let may_be_member = addition.member || addition.noun == Noun::Anything;
    let (path, name) = if let Some(class) = answered.filter(|_| may_be_member) {
        let member = addition.name.rsplit('.').next().unwrap_or_default();
        (class.path.clone(), format!("{}.{member}", class.qualified))
    } else if addition.member {
        // The class as the task writes it before the dot, else the only one that it names.
        let (class, member) = match addition.name.rsplit_once('.') {
            Some((class, member)) => {
                let last = class.rsplit('.').next()?;
                (tree_class(tree, mentions, last)?, member)
            }
            None => {
                let mut all = classes();
                let one = all.next().filter(|_| all.next().is_none())?;
                (
                    (one.path.clone(), one.qualified.to_string()),
                    addition.name.as_str(),
                )
            }
        };
        (class.0, format!("{}.{member}", class.1))
    } else {
        let code =
            |path: &&RelPath| !harness_code::tree::is_test(path) && tree.file(path).is_some();
        let mut paths = mentions.paths.iter().filter(code);
        let one = paths.next().filter(|_| paths.next().is_none())?;
        (one.clone(), addition.name.clone())
    };
    let known = tree.file(&path)?.facts.definitions.iter();
    let is_new = !known.into_iter().any(|one| *one.qualified == *name);
    is_new.then(|| NewDefinition {
        path,
        name,
        with_test: task.wants_test(),
        in_new_file: false,
    })
}

/// Returns the one file that a task asks to be made: its path is written, and nothing of the project is there.
fn new_file(task: &Request, tree: &SourceTree) -> Option<RelPath> {
    let is_new = |path: &RelPath| {
        let is_file = Language::of(path) != Language::Other && path.extension().is_some();
        // What is ignored is there all the same.
        let on_disk = path.under(tree.root()).symlink_metadata().is_ok();
        let is_known = on_disk || tree.ending_with(path.as_str()).is_some();
        is_file && !is_known
    };
    let mut paths = task.written_paths();
    paths.retain(is_new);
    if paths.is_empty() {
        return None;
    }
    // A path on a last line of its own answers where it goes.
    let is_answer = |path: &RelPath| task.answer() == Some(("", path.as_str()));
    paths.retain(|path| task.makes_new_in(path) || is_answer(path));
    paths.dedup();
    let tests = |path: &RelPath| harness_code::tree::is_test(path);
    // "Create shop/tax.py and tests/test_tax.py": the tests come after what they test.
    if paths.len() > 1 {
        paths.retain(|path| !tests(path));
    }
    let one = paths.pop()?;
    paths.is_empty().then_some(one)
}

/// Returns the one class of this name: in a file that the task names, else the only one of the project.
fn tree_class(tree: &SourceTree, mentions: &Mentions, name: &str) -> Option<(RelPath, String)> {
    let all: Vec<(RelPath, String)> = tree
        .definitions()
        .filter(|(file, one)| one.kind == DefinitionKind::Class && one.name() == name && !file.test)
        .map(|(file, one)| (file.path.clone(), one.qualified.to_string()))
        .collect();
    let named = all.iter().find(|(path, _)| mentions.paths.contains(path));
    match (named, all.as_slice()) {
        (Some(one), _) => Some(one.clone()),
        (None, [one]) => Some(one.clone()),
        (None, _) => None,
    }
}

/// Returns the file for new tests of a place: the one that the task names, the one named after the module, one that
/// speaks of the definition or imports its module, else a new one beside the others.
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
    let has = |line: &str, name: &str| whole_words(line, name).next().is_some();
    let imports =
        |line: &str| (line.starts_with("from ") || line.starts_with("import ")) && has(line, stem);
    let any_line = |path: &RelPath, wanted: &dyn Fn(&str) -> bool| {
        let text = tree.text(path).map(|text| text.into_content());
        text.is_ok_and(|text| text.lines().any(wanted))
    };
    let candidates = || tests().filter(|file| file.path.file_name().contains("test"));
    let speaks = |line: &str| has(line, bare);
    let known = candidates()
        .find(|file| !bare.is_empty() && any_line(&file.path, &speaks))
        .or_else(|| candidates().find(|file| any_line(&file.path, &imports)));
    if let Some(file) = known {
        return Some(file.path.clone());
    }
    let name = format!("test_{stem}.py");
    match candidates().next().and_then(|file| file.path.parent()) {
        Some(folder) => folder.join(&name).ok(),
        None => RelPath::parse(&name).ok(),
    }
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
        let mentions = Mentions::of(&Request::read(task), &tree);
        let spot = Spot {
            path: RelPath::parse("shop/price.py").unwrap(),
            name: "net".to_owned(),
            line: 1,
            span: 0..10,
        };
        let home = for_tests(&tree, &mentions, &spot).unwrap();
        assert_eq!(home.as_str(), expected);
    }

    #[track_caller]
    fn check_new(task: &str, expected: Option<(&str, &str, bool)>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            (
                "shop/cart.py",
                "class Cart:\n    def total(self):\n        return 1\n",
            ),
            ("shop/price.py", "def net(x):\n    return x\n"),
            ("tests/test_cart.py", "from shop.cart import Cart\n"),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let mentions = Mentions::of(&Request::read(task), &tree);
        let found = for_new(&Request::read(task), &tree, &mentions);
        let found = found
            .as_ref()
            .map(|new| (new.path.as_str(), new.name.as_str(), new.with_test));
        assert_eq!(found, expected, "{task}");
    }

    #[test]
    fn new_definitions_go_where_the_task_says() {
        let gross = Some(("shop/price.py", "gross", true));
        check_new(
            "add a function gross to shop/price.py and a test in tests/test_cart.py",
            gross,
        );
        let clear = Some(("shop/cart.py", "Cart.clear", false));
        check_new("add a method clear to Cart", clear);
        check_new("add Cart.clear() that empties it", clear);
        check_new("add a function net to shop/price.py", None);
        check_new("add a function gross", None);
        check_new(
            "define __slots__\nCart in shop/cart.py",
            Some(("shop/cart.py", "Cart.__slots__", false)),
        );
        check_new(
            "add a function gross to shop/price.py or shop/cart.py",
            None,
        );
        check_new("fix net in shop/price.py", None);
        let vat = Some(("shop/tax.py", "vat", false));
        check_new(
            "create shop/tax.py with a function vat(cents, percent)",
            vat,
        );
        check_new("add a new file shop/tax.py with a function vat", vat);
        check_new(
            "write a hello world script hello.py",
            Some(("hello.py", "", false)),
        );
        check_new(
            "create shop/tax.py with a function vat, and tests in tests/test_tax.py",
            Some(("shop/tax.py", "vat", true)),
        );
        check_new("create shop/tax.py and shop/toll.py", None);
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
        let of_module = ("tests/test_shop.py", "from shop.price import gross\n");
        check(&[code, of_module], task, "tests/test_shop.py");
        let named = "write tests for net into tests/test_cart.py";
        check(
            &[code, ("tests/test_cart.py", "x = 1\n")],
            named,
            "tests/test_cart.py",
        );
    }
}

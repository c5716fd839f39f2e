//! "Fix the failing tests", in whatever words: a task that is about what is red, and about nothing else.

use crate::request::Request;
use crate::request::clause::Word;
use crate::request::kind::Kind;
use crate::text::is_among;

/// What runs tests, or is a run of them.
const TESTS: &str = "\
    test tests testcase testcases testsuite suite suites unittest unittests doctest doctests spec specs pytest \
    testfälle testfall prueba pruebas teste testes testy тест тесты тестов";
/// How tests are that do not pass.
const FAILING: &str = "\
    fail fails failing failed failures failure red broken breaking breaks break crashing crash crashes error errors \
    fehlschlagen fehlschlagende fehlschlagenden fehl schlagen rot rote roten kaputt kaputte kaputten \
    échouent échoue échec cassés rouges rouge fallan falla fallando fallidas fallidos rotas rotos rojo rojas \
    falham falhando falha quebrados falliscono fallisce falliti rotti falende falen kapotte rood \
    nieprzechodzące padają czerwone падают падает упавшие сломанные красные";
/// What is to become of them.
const PASSING: &str = "\
    pass passes passing green work works working succeed succeeds grün laufen durchlaufen verts vert passent passer \
    verdes verde pasen passem passino passare groen slagen zielone przechodziły зелёные прошли проходили";
/// Verbs that mend.
const MENDING: &str = "\
    fix fixing repair debug resolve correct solve mend unbreak make get turn bring let address tackle handle \
    behebe beheb repariere reparieren korrigiere mach machen bring corrige corriger répare réparer fais arregla repara haz corrija \
    conserte arrume faça correggi ripara fai repareer herstel maak napraw popraw исправь почини сделай";
/// Everything else that such a sentence is made of.
const BETWEEN: &str = "\
    the a an all my our its this these those that which what whatever everything anything every each any of it them \
    unit integration regression python is are was were be being still currently now again please pls so until \
    and then for in me us can could you would i we want need to do does here there project repo case cases have has \
    repository run after last change changes just up back one ones some several two three first other die der das den alle meine unsere sind \
    wieder bitte les des mes nos tous toutes qui que sont los las mis nuestras todos todas os as meus nossos i gli le \
    miei tutti che de mijn onze alle wat moje nasze wszystkie które się мои наши все которые por favor svp se";

/// More words than this tell more than that tests fail.
const MOST_WORDS: usize = 16;

impl Request {
    /// Returns whether the task is to make the tests pass that fail, whichever those are. It may say in which test file.
    pub fn is_about_red_tests(&self) -> bool {
        if self.kind() != Kind::Fix {
            return false;
        }
        let clauses = &self.sentence.gist.clauses;
        let words: Vec<&Word> = clauses.iter().flat_map(|one| &one.words).collect();
        if words.is_empty() || words.len() > MOST_WORDS {
            return false;
        }
        if is_unspaced(&self.sentence.gist.part(self.text(), 0..self.text().len())) {
            return true;
        }
        let is_known = |word: &&&Word| {
            let known = [TESTS, FAILING, PASSING, MENDING, BETWEEN].iter();
            names_tests(word)
                || !word.code && known.into_iter().any(|list| is_among(list, &word.text))
        };
        let any = |list: &str| {
            words
                .iter()
                .any(|word| !word.code && is_among(list, &word.text))
        };
        let of_tests = any(TESTS) || words.iter().any(|word| names_tests(word));
        let of_red = any("red rot rouge rojo") && any("what whatever everything") && any(MENDING);
        words.iter().filter(is_known).count() == words.len()
            && (of_tests && (any(FAILING) || any(PASSING) || any(MENDING)) || of_red)
    }
}

/// Says whether a word is the path of a test file, with or without a test in it.
fn names_tests(word: &Word) -> bool {
    let path = word.text.split("::").next().unwrap_or_default();
    let path = crate::path::RelPath::parse(path);
    word.code && path.is_ok_and(|path| crate::tree::is_test(&path))
}

/// The same in scripts that are written without spaces: nothing is left when such words are taken out.
fn is_unspaced(text: &str) -> bool {
    const WORDS: &str = "\
        测试用例 单元测试 测试 失败的 失败 所有 全部 修复 修正 让 使 通过 请 红的 \
        失敗している 失敗した 失敗する テスト すべて 全て 落ちている 直して 修正して 通して が ください くれ の を";
    let mut rest = text.to_owned();
    for word in WORDS.split_ascii_whitespace() {
        rest = rest.replace(word, "");
    }
    let is_sign = |c: char| c.is_whitespace() || "，。！,.!的了".contains(c);
    let of_tests = text.contains("测试") || text.contains("テスト");
    // "Make the tests fail" is something else.
    let makes = text.contains(['让', '使']) && !text.contains("通过");
    of_tests && !makes && rest.chars().all(is_sign)
}

#[cfg(test)]
mod tests {
    use crate::request::Request;

    #[test]
    fn failing_tests_are_meant_in_many_words() {
        for text in [
            "fix the failing tests",
            "Fix the failing test",
            "fix all failing unit tests please",
            "the test suite fails",
            "tests are red",
            "make the tests pass",
            "get the suite green again",
            "can you make the tests pass?",
            "fix failing test cases",
            "I have failing tests",
            "all tests fail after my last change",
            "bitte die Tests grün machen",
            "テストが失敗する",
            "fix the broken tests in tests/test_shop.py",
            "run the tests and fix what fails",
            "fix whatever is red",
            "Behebe die fehlschlagenden Tests",
            "die Tests schlagen fehl",
            "corrige les tests qui échouent",
            "arregla las pruebas que fallan",
            "corrija os testes que falham",
            "correggi i test che falliscono",
            "repareer de falende tests",
            "napraw testy",
            "исправь тесты",
            "修复失败的测试",
            "失敗しているテストを直してください",
        ] {
            assert!(Request::read(text).is_about_red_tests(), "{text}");
        }
    }

    #[test]
    fn a_task_that_tells_more_is_about_that() {
        for text in [
            "fix total in cart.py",
            "the test client drops cookies",
            "fix the tests for the cart",
            "are the tests failing?",
            "write tests",
            "tests for login fail on Windows",
            "fix the failing import of json",
            "make total pass the tax on",
            "fix the error",
            "apply_discount fails",
            "the build of the docs fails",
            "rename test to check",
            "the parser fails",
            "do not fix the failing tests",
            "don't fix the tests",
            "run the tests",
            "the build is broken",
            "everything is broken",
            "fix the js tests",
            "fix the failing tests, not the code",
            "make CI pass",
            "让测试失败",
            "测试客户端丢失 cookie",
            "",
        ] {
            assert!(!Request::read(text).is_about_red_tests(), "{text}");
        }
    }
}

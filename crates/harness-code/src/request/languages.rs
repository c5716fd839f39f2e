//! Questions and orders in languages other than English: word lists only.

use crate::request::clause::Clause;
use crate::request::kind::Kind;

/// Words that ask politely, or that only fill.
pub(super) const PLEASE: &str = "\
    bitte mal por favor per favore svp s'il te vous plaît alstublieft alsjeblieft proszę пожалуйста";

/// Words that begin a question: German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian.
const ASKING: &str = "\
    warum wieso weshalb wozu wofür wie wo wer wann welche welcher welches \
    pourquoi où quoi quel quelle quels quelles qu'est-ce est-ce combien \
    qué cómo dónde cuál cuándo quién \
    como onde qual quem quando \
    perché perchè dove quale quali chi cosa \
    waarom hoe waar welke wanneer \
    dlaczego jak gdzie który która które kto kiedy czy \
    почему зачем как где что кто какой какая когда";
/// The same where a question mark says so: in English they are other words.
const ASKING_IF_MARKED: &str = "was comment come wat co che que qui por para o";

/// Verbs of orders, by what they ask for.
const ORDERS: &[(Kind, &str)] = &[
    (
        Kind::Fix,
        "behebe beheb repariere korrigiere corrige corriger corrigez répare réparer réparez arregla arreglar repara \
         soluciona corregir corrija conserte arrume corrigir correggi correggere ripara aggiusta repareer herstel verhelp \
         napraw popraw исправь исправьте исправить почини",
    ),
    (
        Kind::Rename,
        "benenne umbenennen renomme renommer renommez renombra renombrar renomeie renomear rinomina rinominare hernoem \
         przemianuj переименуй переименуйте переименовать",
    ),
    (
        Kind::Change,
        "ändere entferne lösche vereinfache ersetze modifie modifier supprime supprimer enlève simplifie remplace cambia \
         cambiar modifica elimina quita simplifica reemplaza mude altere remova simplifique substitua rimuovi semplifica \
         sostituisci wijzig verander verwijder vereenvoudig vervang zmień usuń uprość zastąp измени удали упрости замени",
    ),
    (
        Kind::Add,
        "füge ergänze erstelle implementiere schreibe schreib ajoute ajouter ajoutez crée créer implémente écris écrire añade \
         añadir agrega crea implementa escribe adicione acrescente crie implemente escreva aggiungi scrivi voeg maak \
         implementeer schrijf dodaj utwórz zaimplementuj napisz добавь добавьте создай реализуй напиши",
    ),
];

/// What an order to add something is about when it asks for tests.
const TESTS: &str = "test tests testfall testfälle prueba pruebas teste testes testy тест тесты";

/// Says whether a clause asks at `at`.
pub(super) fn asks(clause: &Clause, at: usize) -> bool {
    let por_que = clause.is(at, "por") && clause.is(at + 1, "qué que");
    por_que || clause.is(at, ASKING) || clause.question && clause.is(at, ASKING_IF_MARKED)
}

/// Reads the verb at `at` as an order.
pub(super) fn order(clause: &Clause, at: usize) -> Option<Kind> {
    // "zmień nazwę a na b": change the name.
    if clause.is(at, "zmień ändere change cambia") && clause.has("nazwę namen nombre nome nom") {
        return Some(Kind::Rename);
    }
    let (kind, _) = ORDERS.iter().find(|(_, verbs)| clause.is(at, verbs))?;
    let about_tests = *kind == Kind::Add && clause.has(TESTS);
    Some(if about_tests { Kind::Tests } else { *kind })
}

/// What Chinese and Japanese write without spaces, asked in this order.
const UNSPACED: &[(Kind, &str)] = &[
    (Kind::Rename, "重命名 改名为 リネーム 名前を"),
    (
        Kind::Question,
        "为什么 怎么 什么 哪里 哪个 吗 なぜ どうして どこ 何を ですか ますか",
    ),
    (Kind::Tests, "写测试 添加测试 テストを書 テストを追加"),
    (Kind::Fix, "修复 修正 改正 直して バグ"),
    (Kind::Add, "添加 增加 实现 创建 追加 実装 作成"),
    (
        Kind::Change,
        "重构 リファクタ 删除 移除 简化 修改 替换 削除 変更 簡単に",
    ),
];

/// Reads a sentence in a script that is written without spaces.
pub(super) fn unspaced(text: &str) -> Option<Kind> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let (kind, _) = UNSPACED.iter().find(|(_, words)| {
        words
            .split_ascii_whitespace()
            .any(|word| line.contains(word))
    })?;
    Some(*kind)
}

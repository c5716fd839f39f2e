//! What a text of code says, for the rules that compare a change with a task: pure functions over texts.

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::symbols::code::{CodeToken, code_tokens};
use harness_code::symbols::{self, Definition};
use harness_code::text::whole_words;

/// Says whether others can use a definition: one inside of a function, or of a block at the top of a file that may
/// never run, is there for nobody.
pub(super) fn is_seen(
    language: Language,
    text: &str,
    all: &[Definition],
    one: &Definition,
) -> bool {
    let parent = one.parent.and_then(|at| all.get(at as usize));
    let in_function = parent.is_some_and(|parent| parent.kind.is_function());
    let line = text[..one.header_start()]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let is_indented = line < one.header_start();
    let indent = |at: usize| at - text[..at].rfind('\n').map_or(0, |at| at + 1);
    // The first line of a class says how deep its own definitions stand.
    let depth = parent.map(|parent| {
        let body = text.get(parent.header_start()..).unwrap_or_default();
        let mut lines = body.lines().skip(1).filter(|line| !line.trim().is_empty());
        lines
            .next()
            .map_or(0, |line| line.len() - line.trim_start().len())
    });
    let in_block = language == Language::Python
        && match depth {
            None => is_indented,
            Some(depth) => indent(one.header_start()) > depth,
        };
    let is_lost = match language {
        Language::Python => is_taken_again(text, parent, one),
        _ => in_condition(language, text, one.header_start()),
    };
    !in_function && !in_block && !is_lost
}

/// Says whether a text imports a name from elsewhere under that name.
pub(super) fn imports(language: Language, text: &str, name: &str) -> bool {
    let facts = symbols::read(language, text);
    let mut names = facts.imports.iter().flat_map(|import| &import.names);
    names.any(|one| &**one.alias.as_ref().unwrap_or(&one.name) == name)
}

/// Returns the lines of a text outside of all definitions, without imports and blank lines.
pub(super) fn outside(language: Language, text: &str) -> Vec<String> {
    let definitions = symbols::definitions(language, text);
    let mut at = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let (start, said) = (at, line.trim());
        at += line.len();
        let is_inside = definitions.iter().any(|one| one.span().contains(&start));
        let is_import = ["import ", "from ", "use ", "#include", "const ", "require"]
            .iter()
            .any(|word| said.starts_with(word));
        if !is_inside && !is_import && !said.is_empty() {
            lines.push(said.to_owned());
        }
    }
    lines
}

/// Returns the definitions that hold no other.
fn innermost(definitions: &[Definition]) -> impl Iterator<Item = &Definition> {
    definitions.iter().filter(|one| {
        let span = one.span();
        !definitions.iter().any(|other| {
            let inner = other.span();
            span.start <= inner.start && inner.end <= span.end && inner != span
        })
    })
}

/// Returns the words of the innermost definitions of a file as they were where they are others now.
pub(super) fn changed_code(change: &FileChange) -> Vec<String> {
    let before = change.old_text();
    let definitions = symbols::definitions(change.language(), before);
    let changed =
        innermost(&definitions).filter(|one| !change.new_text().contains(&before[one.span()]));
    let spans: Vec<_> = changed.map(Definition::span).collect();
    let is_inside = |at: usize| spans.iter().any(|span| span.contains(&at));
    let tokens = code_tokens(change.language(), before).into_iter();
    let tokens = tokens.filter(|token| is_inside(token.range.start));
    tokens.map(|token| token.text).collect()
}

/// Returns the lines of Rust by which a type implements traits.
pub(super) fn traits_of(text: &str, name: &str) -> Vec<String> {
    let heads = text.lines().map(str::trim);
    let heads = heads.filter(|line| line.starts_with("impl") || line.starts_with("unsafe impl"));
    let heads = heads.filter_map(|line| Some((line, line.split_once(" for ")?.1)));
    let own = heads.filter(|(_, owner)| whole_words(owner, name).next().is_some());
    own.map(|(line, _)| line.to_owned()).collect()
}

/// Returns the innermost definitions that one of two texts has otherwise than the other, by their last names.
pub(super) fn changed_names(language: Language, before: &str, after: &str) -> Vec<String> {
    let of = |text: &str| -> Vec<(String, String)> {
        let definitions = symbols::definitions(language, text);
        innermost(&definitions)
            .map(|one| {
                let code = text.get(one.span()).unwrap_or_default();
                (one.qualified.to_string(), code.trim_end().to_owned())
            })
            .collect()
    };
    let (old, new) = (of(before), of(after));
    let differs = |one: &&(String, String), all: &[(String, String)]| !all.contains(one);
    let changed = old
        .iter()
        .filter(|one| differs(one, &new))
        .chain(new.iter().filter(|one| differs(one, &old)));
    changed
        .map(|(name, _)| name.rsplit('.').next().unwrap_or(name).to_owned())
        .collect()
}

/// Says whether a later line of the same block deletes a definition, or gives its name to something else.
fn is_taken_again(text: &str, parent: Option<&Definition>, one: &Definition) -> bool {
    let end = parent.map_or(text.len(), |parent| parent.span().end);
    let start = text[..one.header_start()]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let indent = text.get(start..one.header_start()).unwrap_or_default();
    let behind = text.get(one.span().end..end).unwrap_or_default();
    let statements = behind.lines().filter_map(|line| line.strip_prefix(indent));
    let name = one.name();
    let takes = |statement: &str| {
        let is_deleted = statement
            .strip_prefix("del ")
            .is_some_and(|names| names.split(',').any(|other| other.trim() == name));
        let value = statement.strip_prefix(name).map(str::trim_start);
        let value = value.and_then(|rest| rest.strip_prefix('='));
        // `f = cached(f)` is `f` still.
        let is_other = value.is_some_and(|value| {
            !value.starts_with('=') && whole_words(value, name).next().is_none()
        });
        is_deleted || is_other
    };
    statements.into_iter().any(takes)
}

/// Says whether a place lies in a block that runs only under a condition.
fn in_condition(language: Language, text: &str, at: usize) -> bool {
    let mut blocks: Vec<bool> = Vec::new();
    let mut brackets: Vec<bool> = Vec::new();
    let mut closed_condition = false;
    let mut previous = String::new();
    for token in code_tokens(language, text) {
        if token.range.start >= at {
            break;
        }
        match token.text.as_str() {
            "(" => brackets.push(matches!(
                previous.as_str(),
                "if" | "while" | "for" | "switch"
            )),
            ")" => closed_condition = brackets.pop().unwrap_or_default(),
            "{" => blocks.push(match previous.as_str() {
                ")" => closed_condition,
                "else" => true,
                _ => false,
            }),
            "}" => {
                blocks.pop();
            }
            _ => {}
        }
        previous = token.text;
    }
    blocks.contains(&true)
}

/// Returns the texts of the functions of a name.
pub(super) fn functions(language: Language, text: &str, name: &str) -> Vec<String> {
    let definitions = symbols::definitions(language, text);
    let named = definitions
        .iter()
        .filter(|one| one.kind.is_function() && one.name() == name);
    let texts = named.filter_map(|one| text.get(one.span()));
    texts.map(str::to_owned).collect()
}

/// A text with its definitions and its code. A file may hold hundreds of definitions: it is read once for all of them.
pub(super) struct ReadText {
    definitions: Vec<Definition>,
    tokens: Vec<CodeToken>,
}

impl ReadText {
    pub(super) fn new(language: Language, text: &str) -> Self {
        Self {
            definitions: symbols::definitions(language, text),
            tokens: code_tokens(language, text),
        }
    }

    pub(super) fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Returns the code of a definition, word by word.
    fn definition(&self, qualified: &str) -> Vec<&str> {
        let named = |one: &&Definition| *one.qualified == *qualified;
        let Some(one) = self.definitions.iter().find(named) else {
            return Vec::new();
        };
        let span = one.span();
        let inside = self.tokens.iter();
        let inside = inside.filter(|token| span.contains(&token.range.start));
        inside.map(|token| token.text.as_str()).collect()
    }

    /// Returns what stands between the brackets behind the name of a function.
    pub(super) fn signature(&self, qualified: &str) -> Option<Vec<String>> {
        let name = qualified.rsplit('.').next()?;
        let code = self.definition(qualified);
        let start = code
            .windows(2)
            .position(|pair| pair[0] == name && pair[1] == "(")?;
        let mut depth = 0;
        let mut found = Vec::new();
        for token in &code[start + 1..] {
            depth += match *token {
                "(" => 1,
                ")" => -1,
                _ => 0,
            };
            if depth == 0 {
                break;
            }
            found.push((*token).to_owned());
        }
        Some(found)
    }
}

/// Returns the code of a definition, word by word.
pub(super) fn definition(language: Language, text: &str, qualified: &str) -> Vec<String> {
    let read = ReadText::new(language, text);
    let code = read.definition(qualified).into_iter();
    code.map(str::to_owned).collect()
}

/// Returns what stands between the brackets behind the name of a function.
pub(super) fn signature(language: Language, text: &str, qualified: &str) -> Option<Vec<String>> {
    ReadText::new(language, text).signature(qualified)
}

/// Returns how much deeper inside of brackets the code behind a word is.
pub(super) fn bracket_step(word: &str) -> i32 {
    match word {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

/// Returns where a function is called with a keyword.
pub(super) fn keyword_passed(tokens: &[CodeToken], function: &str, keyword: &str) -> Option<usize> {
    let calls = tokens.windows(2).enumerate();
    let calls = calls.filter(|(_, pair)| pair[0].text == function && pair[1].text == "(");
    let mut starts = calls.map(|(at, _)| at + 1);
    starts.find_map(|start| {
        let mut depth = 0;
        for pair in tokens[start..].windows(2) {
            depth += bracket_step(&pair[0].text);
            if depth == 0 {
                break;
            }
            if depth == 1 && pair[0].text == keyword && pair[1].text == "=" {
                return Some(pair[0].range.start);
            }
        }
        None
    })
}

/// Returns how often the tests of a file that passed use a name; importing it is no use.
pub(super) fn uses_in_tests(
    language: Language,
    text: &str,
    name: &str,
    has_passed: &dyn Fn(&str) -> bool,
) -> usize {
    let definitions = symbols::definitions(language, text);
    let is_idle = |one: &&Definition| {
        let is_test = one.kind.is_function() && one.name().starts_with("test");
        is_test && !has_passed(one.name())
    };
    let idle: Vec<_> = definitions
        .iter()
        .filter(is_idle)
        .map(Definition::span)
        .collect();
    let counts = |token: &&CodeToken| {
        let start = text[..token.range.start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..].trim_start();
        let is_import = line.starts_with("from ") || line.starts_with("import ");
        token.text == name
            && !is_import
            && !idle.iter().any(|span| span.contains(&token.range.start))
    };
    code_tokens(language, text).iter().filter(counts).count()
}

pub(super) fn all_code(language: Language, text: &str) -> Vec<String> {
    let tokens = code_tokens(language, text).into_iter();
    tokens.map(|token| token.text).collect()
}

/// Returns how often a change brings a name into the code of a file, beyond what is there already.
pub(super) fn added_tokens(change: &FileChange, name: &str) -> usize {
    let count = |text: &str| {
        let tokens = code_tokens(change.language(), text);
        tokens.iter().filter(|one| one.text == name).count()
    };
    if !change.language().is_source() {
        return 0;
    }
    let before = change.before.as_deref().map_or(0, count);
    count(change.new_text()).saturating_sub(before)
}

//! The two tables of the search: operators (`operators.txt`) and words taken for each other (`alternatives.txt`).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::mutate::kind::MutationKind;
use crate::mutate::role::ExpressionRole;

/// What stands for the number of names where a template says none.
const EVERY: usize = usize::MAX;

/// One way to change a piece of code.
#[derive(Debug)]
pub(super) struct MutationRule {
    pub(super) kind: MutationKind,
    /// How often bugs are of this kind; only the order means something.
    pub(super) prior: f32,
    /// A name that looks like what it replaces is likelier.
    pub(super) by_likeness: bool,
    /// Takes code away or makes a result constant.
    pub(super) destructive: bool,
    /// The part that is replaced; the whole piece when there is none.
    pub(super) target: Option<&'static str>,
    pub(super) template: Vec<Part>,
}

/// One part of a template.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    /// Written as it stands.
    Text(String),
    /// A new line with the indentation of the piece.
    NewLine,
    /// One level of indentation.
    Level,
    /// The code of a part, or each of some names in sight.
    Hole {
        name: &'static str,
        /// In brackets where an operator beside it needs them.
        operand: bool,
        most: usize,
    },
}

/// Rules for some shapes in some roles.
#[derive(Debug, Default)]
struct Section {
    /// With the weight of the priors; every role when empty.
    roles: Vec<(ExpressionRole, f32)>,
    rules: Vec<MutationRule>,
}

/// Every rule by the shape it is for.
#[derive(Debug, Default)]
pub(super) struct Table {
    sections: Vec<Section>,
    by_shape: FxHashMap<&'static str, Vec<usize>>,
}

/// The operators.
static OPERATORS: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("operators.txt")).0);

/// The lines of `alternatives.txt` by their section.
static ALTERNATIVES: LazyLock<FxHashMap<&str, Vec<Vec<String>>>> = LazyLock::new(|| {
    let mut sections: FxHashMap<&str, Vec<Vec<String>>> = FxHashMap::default();
    let mut current = "";
    for line in lines_of(include_str!("alternatives.txt")) {
        match line
            .strip_prefix('[')
            .and_then(|head| head.strip_suffix(']'))
        {
            Some(name) => current = name,
            None => {
                let word = |word: &str| word.replace('·', " ").replace('∅', "");
                let words = line.split_whitespace().map(word).collect();
                sections.entry(current).or_default().push(words);
            }
        }
    }
    sections
});

/// Returns the lines of a section that hold a word, each with that word left out.
pub(super) fn alternatives(section: &str, word: &str) -> Vec<Vec<String>> {
    families(section)
        .iter()
        .filter(|family| family.iter().any(|known| known == word))
        .map(|family| {
            family
                .iter()
                .filter(|known| *known != word)
                .cloned()
                .collect()
        })
        .collect()
}

/// Returns the lines of a section.
pub(super) fn families(section: &str) -> &'static [Vec<String>] {
    ALTERNATIVES.get(section).map_or(&[], Vec::as_slice)
}

/// Returns the rules for a shape in a role, each with its prior there.
pub(super) fn rules(
    shape: &str,
    role: ExpressionRole,
) -> impl Iterator<Item = (&'static MutationRule, f32)> {
    let table: &'static Table = &OPERATORS;
    let sections = table.by_shape.get(shape).into_iter().flatten();
    let sections = sections.filter_map(|at| table.sections.get(*at));
    sections
        .filter_map(move |section| {
            let mut known = section.roles.iter();
            let weight = match section.roles.is_empty() {
                true => Some(1.0),
                false => known
                    .find(|(known, _)| *known == role)
                    .map(|(_, weight)| *weight),
            };
            weight.map(|weight| (section, weight))
        })
        .flat_map(|(section, weight)| {
            section
                .rules
                .iter()
                .map(move |rule| (rule, rule.prior * weight))
        })
}

fn lines_of(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Table {
    /// Reads a table; the lines that mean nothing come beside it.
    pub(super) fn read(text: &'static str) -> (Table, Vec<&'static str>) {
        let (mut table, mut unread) = (Table::default(), Vec::new());
        for line in lines_of(text) {
            let understood = match line
                .strip_prefix('[')
                .and_then(|head| head.strip_suffix(']'))
            {
                Some(head) => table.open(head),
                None => table.add(line),
            };
            if understood.is_none() {
                unread.push(line);
            }
        }
        (table, unread)
    }

    fn add(&mut self, line: &'static str) -> Option<()> {
        let section = self.sections.last_mut()?;
        section.rules.push(rule(line)?);
        Some(())
    }

    fn open(&mut self, head: &'static str) -> Option<()> {
        let (shapes, roles) = head.split_once(": ").unwrap_or((head, ""));
        let roles = roles
            .split(", ")
            .filter(|role| !role.is_empty())
            .map(|role| {
                let (name, weight) = role.split_once(' ').unwrap_or((role, "1"));
                Some((ExpressionRole::named(name)?, weight.parse().ok()?))
            });
        let roles = roles.collect::<Option<_>>()?;
        for shape in shapes.split(", ") {
            self.by_shape
                .entry(shape)
                .or_default()
                .push(self.sections.len());
        }
        self.sections.push(Section {
            roles,
            rules: Vec::new(),
        });
        Some(())
    }
}

/// Reads `0.35~ wrong name @attr: $local{24}`.
fn rule(line: &'static str) -> Option<MutationRule> {
    let (head, text) = line
        .split_once(": ")
        .or_else(|| Some((line.strip_suffix(':')?, "")))?;
    let (number, kind) = head.split_once(' ')?;
    let (kind, target) = match kind.split_once(" @") {
        Some((kind, target)) => (kind, Some(target)),
        None => (kind, None),
    };
    Some(MutationRule {
        kind: MutationKind::named(kind)?,
        prior: number.trim_end_matches(['~', '!']).parse().ok()?,
        by_likeness: number.ends_with('~'),
        destructive: number.ends_with('!'),
        target,
        template: template(text)?,
    })
}

/// Reads a template: text, `\n`, `\t`, `\\`, `$$`, `$name`, `${name}`, `$(name)`, each name with `{most}` or without.
fn template(text: &'static str) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let (part, length) = match next {
            '\\' => match rest.get(1..2)? {
                "n" => (Part::NewLine, 2),
                "t" => (Part::Level, 2),
                "\\" => (Part::Text("\\".to_owned()), 2),
                _ => return None,
            },
            '$' if rest.starts_with("$$") => (Part::Text("$".to_owned()), 2),
            '$' => hole(rest)?,
            plain => (Part::Text(plain.to_string()), plain.len_utf8()),
        };
        match (parts.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(more)) => before.push_str(&more),
            (_, part) => parts.push(part),
        }
        rest = rest.get(length..)?;
    }
    Some(parts)
}

/// Reads the hole at the start of a text, and tells its length.
fn hole(text: &'static str) -> Option<(Part, usize)> {
    let (open, close) = match text.get(1..2)? {
        "(" => (2, ")"),
        "{" => (2, "}"),
        _ => (1, ""),
    };
    let rest = text.get(open..)?;
    let length = rest
        .find(|c: char| !c.is_ascii_alphabetic() && c != '_')
        .unwrap_or(rest.len());
    let name = rest.get(..length).filter(|name| !name.is_empty())?;
    let after = rest.get(length..)?.strip_prefix(close)?;
    let limit = after
        .strip_prefix('{')
        .and_then(|limit| limit.split_once('}'));
    let most = limit.and_then(|(limit, _)| Some((limit.parse().ok()?, limit.len() + 2)));
    let (most, limit_length) = most.unwrap_or((EVERY, 0));
    let part = Part::Hole {
        name,
        operand: close == ")",
        most,
    };
    Some((part, open + length + close.len() + limit_length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let (table, unread) = Table::read(include_str!("operators.txt"));
        assert!(unread.is_empty(), "{unread:#?}");
        assert!(
            table
                .sections
                .iter()
                .all(|section| !section.rules.is_empty())
        );
    }

    #[test]
    fn templates_are_read() {
        let name = |name, operand, most| Part::Hole {
            name,
            operand,
            most,
        };
        assert_eq!(
            template("${a}x$(b) $c{3}\\n\\t\\\\n$$"),
            Some(vec![
                name("a", false, EVERY),
                Part::Text("x".into()),
                name("b", true, EVERY),
                Part::Text(" ".into()),
                name("c", false, 3),
                Part::NewLine,
                Part::Level,
                Part::Text("\\n$".into()),
            ])
        );
        assert_eq!(template("a \\x"), None);
        assert_eq!(template("a $ b"), None);
        assert!(rule("0.3 no such kind: x").is_none());
    }
}

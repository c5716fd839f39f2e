//! Blocks of Rust that hold the methods of a type: `impl<T> Stack<T> { … }`. A type may have several, of which each
//! knows other type parameters.

use std::collections::BTreeSet;

use crate::language::Language;
use crate::symbols::Definition;
use crate::symbols::code::code_tokens;

/// Returns where the block around a place begins, and its head up to the brace.
fn head(content: &str, at: usize) -> Option<(usize, &str)> {
    let is_head = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("unsafe ").unwrap_or(line);
        line.starts_with("impl ") || line.starts_with("impl<")
    };
    let mut start = at;
    let lines = content[..at].split_inclusive('\n').rev();
    let mut starts = lines.map(|line| {
        start -= line.len();
        (start, line)
    });
    let (start, _) = starts.find(|(_, line)| is_head(line))?;
    Some((start, content[start..at].split('{').next()?))
}

/// Says whether what stands at a place of a file of Rust implements a trait.
pub fn is_of_trait(content: &str, at: usize) -> bool {
    let head = head(content, at);
    head.is_some_and(|(_, head)| head.split_whitespace().any(|word| word == "for"))
}

/// Returns the type parameters in angle brackets at the beginning of a text, as they are written.
fn parameters(text: &str) -> Vec<&str> {
    let Some(rest) = text.trim_start().strip_prefix('<') else {
        return Vec::new();
    };
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (at, sign) in rest.char_indices() {
        let is_arrow = rest[..at].ends_with('-');
        match sign {
            '<' | '(' | '[' => depth += 1,
            '>' if is_arrow => {}
            ',' | '>' if depth == 0 => {
                found.push(rest[start..at].trim());
                start = at + 1;
            }
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if start == at + 1 && sign == '>' {
            break;
        }
    }
    found.retain(|one| !one.is_empty());
    found
}

/// Returns the name of a type parameter: `T` of `T: Clone`, `N` of `const N: usize`.
fn name(parameter: &str) -> &str {
    let name = parameter.split([':', '=']).next().unwrap_or_default();
    name.trim().trim_start_matches("const ").trim()
}

/// Returns the names that the head of a block introduces.
fn known_in(head: &str) -> BTreeSet<&str> {
    let rest = head.trim_start().trim_start_matches("unsafe ");
    let rest = rest.strip_prefix("impl").unwrap_or_default();
    parameters(rest).into_iter().map(name).collect()
}

/// Returns the method of a type behind which another one goes: the last one of a block that knows the type parameters
/// which the new code uses, and where several do the one with the fewest others and the most methods.
pub(super) fn neighbour<'d>(
    content: &str,
    methods: &[&'d Definition],
    code: &str,
) -> Option<&'d Definition> {
    let mut blocks: Vec<(usize, &str, Vec<&Definition>)> = Vec::new();
    for method in methods {
        // What implements a trait takes nothing else.
        if is_of_trait(content, method.span().start) {
            continue;
        }
        let (start, head) = head(content, method.span().start)?;
        match blocks.iter_mut().find(|block| block.0 == start) {
            Some(block) => block.2.push(method),
            None => blocks.push((start, head, vec![method])),
        }
    }
    let everywhere: BTreeSet<&str> = blocks.iter().flat_map(|block| known_in(block.1)).collect();
    let behind_name = code.split_once("fn ").map_or("", |(_, rest)| {
        rest.trim_start_matches(|sign: char| sign.is_alphanumeric() || sign == '_')
    });
    let own: BTreeSet<&str> = parameters(behind_name).into_iter().map(name).collect();
    let tokens = code_tokens(Language::Rust, code);
    let words = tokens.iter().map(|token| token.text.as_str());
    let used: BTreeSet<&str> = words
        .filter(|word| everywhere.contains(word) && !own.contains(word))
        .collect();
    let order = |block: &&(usize, &str, Vec<&Definition>)| {
        let known = known_in(block.1);
        let others = match used.is_empty() {
            true => 0,
            false => known.difference(&used).count(),
        };
        let above = content[..block.0].trim_end().lines().next_back();
        let is_conditional = above.is_some_and(|line| line.trim_start().starts_with("#[cfg"));
        let lacks = !used.is_subset(&known);
        (lacks, is_conditional, others, usize::MAX - block.2.len())
    };
    let best = blocks.iter().rev().min_by_key(order)?;
    best.2.last().copied()
}

/// Returns the head of a first block for a type, by the line that defines it: `impl<T: Clone> Stack<T>`.
pub(super) fn first_head(owner: &str, signature: &str) -> String {
    let behind = signature.split_once(owner).map_or("", |(_, rest)| rest);
    let parameters = parameters(behind);
    if parameters.is_empty() {
        return format!("impl {owner}");
    }
    let bounds = parameters.iter().map(|one| one.split('=').next());
    let bounds: Vec<&str> = bounds.map(|one| one.unwrap_or_default().trim()).collect();
    let names: Vec<&str> = parameters.into_iter().map(name).collect();
    format!("impl<{}> {owner}<{}>", bounds.join(", "), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols;

    /// Returns the method behind which new code goes.
    fn behind(content: &str, code: &str) -> String {
        let all = symbols::definitions(Language::Rust, content);
        let methods: Vec<&Definition> = all.iter().filter(|one| one.kind.is_function()).collect();
        let found = neighbour(content, &methods, code);
        found.map_or(String::new(), |one| one.name().to_owned())
    }

    #[test]
    fn a_method_goes_to_the_block_that_knows_its_types() {
        let content = "enum E<L, R> { A(L), B(R) }\n\nimpl<L, R> E<L, R> {\n    fn a(&self) {}\n\n    fn b(&self) {}\n}\n\nimpl<T, L, R> E<(T, L), (T, R)> {\n    fn c(&self) {}\n}\n\n#[cfg(feature = \"std\")]\nimpl<T> E<T, T> {\n    fn d(&self) {}\n}\n\nimpl<T> E<T, T>\nwhere\n    T: Copy,\n{\n    fn e(&self) {}\n}\n\nimpl<L, R> Drop for E<L, R> {\n    fn drop(&mut self) {}\n}\n";
        assert_eq!(behind(content, "fn new(self) -> E<R, L> {}"), "b");
        assert_eq!(behind(content, "fn new(self) -> (T, E<L, R>) {}"), "c");
        assert_eq!(behind(content, "fn new(self) -> T {}"), "e");
        assert_eq!(behind(content, "fn new(&self) -> bool {}"), "b");
        assert_eq!(behind(content, "fn new<T>(&self, f: T) -> bool {}"), "b");
        assert_eq!(behind(content, "/// Of T.\nfn new(&self) -> L {}"), "b");
    }

    #[test]
    fn the_first_block_of_a_type_has_its_parameters() {
        for (owner, signature, head) in [
            ("R", "struct R;", "impl R"),
            ("R", "pub struct R(u8);", "impl R"),
            (
                "R",
                "pub struct R<'a, T: Into<Vec<u8>> = u8, const N: usize = 1> {",
                "impl<'a, T: Into<Vec<u8>>, const N: usize> R<'a, T, N>",
            ),
            (
                "R",
                "struct R<F: Fn(u8, u8) -> u8>(F);",
                "impl<F: Fn(u8, u8) -> u8> R<F>",
            ),
        ] {
            assert_eq!(first_head(owner, signature), head);
        }
    }
}

//! Blocks of Rust that hold the methods of a type: `impl<T> Stack<T> { … }`. A type may have several, of which each
//! knows other type parameters.

use std::collections::BTreeSet;

use crate::language::Language;
use crate::symbols::code::code_tokens;
use crate::symbols::{self, Definition};
use crate::text::whole_words;

/// Returns where the block around a place begins, and its head up to the brace.
fn head(content: &str, at: usize) -> Option<(usize, &str)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_head = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("unsafe ").unwrap_or(line);
        line.starts_with("impl ") || line.starts_with("impl<")
    };
    let own = content[..at].rsplit('\n').next().unwrap_or_default();
    let depth = match own.trim().is_empty() {
        true => own.len(),
        // It stands on the line of the head.
        false => usize::MAX,
    };
    let mut start = at;
    let mut closed = usize::MAX;
    for line in content[..at].split_inclusive('\n').rev() {
        start -= line.len();
        let indent = indent(line);
        // A block inside of a method, or one that ends before, holds it not.
        if is_head(line) && indent < depth && indent < closed {
            return Some((start, content[start..at].split('{').next()?));
        }
        if line.trim_start().starts_with('}') {
            closed = closed.min(indent);
        }
    }
    None
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

/// What the head of a block says.
struct Block<'c, 'd> {
    start: usize,
    /// The names that it introduces.
    known: BTreeSet<&'c str>,
    /// It holds for every type of that name: `impl<T> Stack<T>`.
    is_general: bool,
    methods: Vec<&'d Definition>,
}

impl<'c> Block<'c, '_> {
    fn read(start: usize, head: &'c str) -> Self {
        let rest = head.trim_start().trim_start_matches("unsafe ");
        let rest = rest.strip_prefix("impl").unwrap_or_default();
        let introduced = parameters(rest);
        let names: Vec<&str> = introduced.iter().map(|one| name(one)).collect();
        let behind = rest.trim_end().rsplit_once(&names.join(", "));
        let is_same = match names.is_empty() {
            true => !rest.contains('<'),
            false => behind.is_some_and(|(before, end)| before.contains('>') && end == ">"),
        };
        let is_bare = introduced.iter().all(|one| name(one) == *one);
        Block {
            start,
            is_general: is_same && is_bare,
            known: names.into_iter().collect(),
            methods: Vec::new(),
        }
    }
}

/// Returns the method of a type behind which another one goes: the last one of a block that knows the type parameters
/// which the new code uses, and where several do of one for all types, with the fewest others and the most methods.
pub(super) fn neighbour<'d>(
    content: &str,
    methods: &[&'d Definition],
    code: &str,
) -> Option<&'d Definition> {
    let mut blocks: Vec<Block<'_, 'd>> = Vec::new();
    for method in methods {
        let at = method.span().start;
        // What implements a trait takes nothing else.
        if is_of_trait(content, at) {
            continue;
        }
        let Some((start, head)) = head(content, at) else {
            continue;
        };
        match blocks.iter_mut().find(|block| block.start == start) {
            Some(block) => block.methods.push(method),
            None => {
                let mut block = Block::read(start, head);
                block.methods.push(method);
                blocks.push(block);
            }
        }
    }
    let everywhere: BTreeSet<&str> = blocks
        .iter()
        .flat_map(|block| &block.known)
        .copied()
        .collect();
    let new = symbols::definitions(Language::Rust, code);
    let signature = new.first().map_or("", |one| &*one.signature);
    let behind_name = signature.split_once("fn ").map_or("", |(_, rest)| {
        rest.trim_start_matches(|sign: char| sign.is_alphanumeric() || sign == '_')
    });
    let own: BTreeSet<&str> = parameters(behind_name).into_iter().map(name).collect();
    let tokens = code_tokens(Language::Rust, code);
    let is_used = |word: &&str| match word.strip_prefix('\'') {
        Some(lifetime) => whole_words(code, lifetime).any(|at| code[..at].ends_with('\'')),
        None => tokens.iter().any(|token| token.text == **word),
    };
    let used = everywhere
        .iter()
        .copied()
        .filter(|word| !own.contains(word));
    let used: BTreeSet<&str> = used.filter(is_used).collect();
    let order = |block: &&Block<'_, '_>| {
        let lacks = !used.is_subset(&block.known);
        let others = block.known.difference(&used).count();
        let others = if used.is_empty() { 0 } else { others };
        let fewer = usize::MAX - block.methods.len();
        (
            lacks,
            is_conditional(content, block.start),
            !block.is_general,
            others,
            fewer,
        )
    };
    let best = blocks.iter().rev().min_by_key(order)?;
    best.methods.last().copied()
}

/// Says whether what begins at a line is compiled only under a condition.
fn is_conditional(content: &str, start: usize) -> bool {
    let above = content[..start].lines().rev().map(str::trim_start);
    let mut attributes = above.take_while(|line| line.starts_with(['#', '/']));
    attributes.any(|line| line.starts_with("#[cfg("))
}

/// Returns the head of a first block for a type, by how it is defined: `impl<T: Clone> Stack<T>`.
pub(super) fn first_head(owner: &str, definition: &str) -> String {
    let header = definition.split(['{', ';']).next().unwrap_or_default();
    let behind = header.split_once(owner).map_or("", |(_, rest)| rest);
    let parameters = parameters(behind);
    if parameters.is_empty() {
        return format!("impl {owner}");
    }
    let bounds = parameters.iter().map(|one| one.split('=').next());
    let bounds: Vec<&str> = bounds.map(|one| one.unwrap_or_default().trim()).collect();
    let names: Vec<&str> = parameters.into_iter().map(name).collect();
    let condition = whole_words(behind, "where")
        .next()
        .map(|at| behind[at..].trim());
    let condition = condition.map_or(String::new(), |words| format!(" {words}"));
    format!(
        "impl<{}> {owner}<{}>{condition}",
        bounds.join(", "),
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_a_block_is_for_decides_before_how_long_it_is() {
        let block = |head: &str, names: &[&str]| {
            let methods = names
                .iter()
                .map(|name| format!("    fn {name}(&self) {{}}\n"));
            format!("{head} {{\n{}}}\n\n", methods.collect::<String>())
        };
        let lives = block("impl<'a> S<'a>", &["a"]) + &block("impl S<'static>", &["b", "c"]);
        assert_eq!(behind(&lives, "fn new(&self) -> &'a str {}"), "a");
        let bytes = block("impl<T> S<T>", &["a"]) + &block("impl S<u8>", &["b", "c"]);
        assert_eq!(behind(&bytes, "fn new(&self) -> bool {}"), "a");
        let bound =
            block("impl<T> S<T>", &["a"]) + &block("impl<T> S<T> where T: Ord", &["b", "c"]);
        assert_eq!(behind(&bound, "fn new(&self) -> Option<&T> {}"), "a");
        let pairs = block("impl<A> S<A>", &["a"]) + &block("impl<T> S<(T, T)>", &["b"]);
        assert_eq!(
            behind(&pairs, "/// Any fn or closure.\nfn new<T>(&self, f: T) {}"),
            "a"
        );
    }

    #[test]
    fn a_block_holds_what_stands_between_its_braces() {
        let local = "impl S {\n    fn a(&self) {\n        impl Drop for G {\n            fn drop(&mut self) {}\n        }\n    }\n\n    fn b(&self) {}\n}\n";
        assert_eq!(behind(local, "fn new(&self) {}"), "b");
        assert!(!is_of_trait(local, local.find("fn b").unwrap()));
        assert!(is_of_trait(local, local.find("fn drop").unwrap()));
        let other = "impl Drop for S {\n    fn drop(&mut self) {}\n}\n\nfn free() {}\n\ntrait T {\n    fn c(&self);\n}\n";
        assert!(!is_of_trait(other, other.find("fn free").unwrap()));
        assert!(!is_of_trait(other, other.find("fn c").unwrap()));
        assert!(is_of_trait("impl Drop for S { fn drop(&mut self) {} }", 18));
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

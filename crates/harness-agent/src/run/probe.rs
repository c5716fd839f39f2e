//! Code that is made to find out what tests look at.

use harness_code::language::Language;
use harness_code::symbols;

/// Returns Python code with a function that returns nothing in place of what it returns; none where it returns nothing
/// anyway.
pub(super) fn returning_nothing(text: &str, qualified: &str) -> Option<String> {
    let definitions = symbols::definitions(Language::Python, text);
    let one = definitions
        .iter()
        .find(|one| *one.qualified == *qualified)?;
    let code = text.get(one.span())?;
    let gives = |line: &str| line.trim_start().starts_with("return ") || line.contains("yield ");
    if !code.lines().any(gives) {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let last = usize::try_from(one.end_line).ok()?.min(lines.len());
    let head = text[..one.header_start()].matches('\n').count();
    let mut depth = 0i32;
    let body = (head..last).find(|at| {
        let line = lines[*at].split('#').next().unwrap_or_default();
        depth += i32::try_from(line.matches(['(', '[', '{']).count()).unwrap_or(0);
        depth -= i32::try_from(line.matches([')', ']', '}']).count()).unwrap_or(0);
        depth == 0 && line.trim_end().ends_with(':')
    })? + 1;
    let first = lines
        .get(body..last)?
        .iter()
        .find(|line| !line.trim().is_empty())?;
    let indent = &first[..first.len() - first.trim_start().len()];
    let mut changed = lines[..body].join("\n");
    changed.push_str(&format!("\n{indent}return None\n"));
    changed.push_str(&lines[body..].join("\n"));
    changed.push('\n');
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_returns_nothing_is_made() {
        let text = "import os\n\n\nclass A:\n    def f(\n        self, a=(1, 2)\n    ):\n        # first\n        return a\n\n    def g(self):\n        self.x = 1\n";
        let made = returning_nothing(text, "A.f").unwrap();
        assert!(
            made.contains("    ):\n        return None\n        # first\n        return a\n"),
            "{made}"
        );
        assert_eq!(returning_nothing(text, "A.g"), None);
        assert_eq!(returning_nothing(text, "A.h"), None);
    }
}

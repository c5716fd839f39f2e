//! What comes along with a definition in a reply: imports, merged where a file has none of them yet; new constants.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::imports::with_imports;
use crate::language::{Language, python};
use crate::symbols::code::code_tokens;
use crate::text::{line_end, line_ending, with_line_ending};

/// Returns `content` with the imports and new constants that stand beside the definitions of `code`.
///
/// Names that the file binds already are left alone; `__future__` imports go first. Example calls and prints that
/// models add below a definition are not taken over.
pub fn with_companions(language: Language, content: &str, code: &str) -> String {
    if language != Language::Python {
        return with_imports(language, content, code).unwrap_or_else(|| content.to_owned());
    }
    let (known, anchor) = python::with_module(content, |module| {
        let body = &module.syntax().body;
        (bound(body), Anchors::of(body, content))
    })
    .unwrap_or_default();
    let wanted = python::with_module(code, |module| wanted(&module.syntax().body, code, &known));
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
        return content.to_owned();
    };
    let ending = line_ending(content).as_str();
    let mut result = content.to_owned();
    // From the end to the start, so that the places before stay right.
    if !wanted.constants.is_empty() {
        let text: String = wanted.constants.iter().fold(String::new(), |text, line| {
            text + &line.replace('\n', ending) + ending
        });
        let lead = if anchor.imports_end > 0 { ending } else { "" };
        result.insert_str(anchor.imports_end, &format!("{lead}{text}"));
    }
    let lines = |lines: &[String]| -> String {
        lines.iter().map(|line| format!("{line}{ending}")).collect()
    };
    let mut imports = lines(&wanted.imports);
    if !imports.is_empty() && !anchor.has_imports {
        let (head, tail) = result.split_at(anchor.imports_end);
        let is_definition = ["def ", "class ", "async ", "@"]
            .iter()
            .any(|word| tail.starts_with(word));
        let blank_lines = match tail.starts_with(['\r', '\n']) || tail.is_empty() {
            true => 0,
            false if is_definition => 2,
            false => 1,
        };
        let is_apart = anchor.is_documented && !head.is_empty() || !wanted.future.is_empty();
        let lead = if is_apart { ending } else { "" };
        imports = format!("{lead}{imports}{}", ending.repeat(blank_lines));
    }
    let mut future = lines(&wanted.future);
    if !future.is_empty() && !anchor.has_imports && anchor.is_documented {
        future.insert_str(0, ending);
    }
    result.insert_str(anchor.imports_end, &imports);
    result.insert_str(anchor.future, &future);
    result
}

/// Returns `content` with `code` among the constants at its top, or below what it uses; none where `code` is anything
/// but constants. At the end of the file other code would use them before they are there.
pub(super) fn with_constants(language: Language, content: &str, code: &str) -> Option<String> {
    let is_constant = |statement: &Stmt| matches!(statement, Stmt::Assign(_) | Stmt::AnnAssign(_));
    let is_only = |body: &[Stmt]| !body.is_empty() && body.iter().all(is_constant);
    if language != Language::Python
        || !python::with_module(code, |module| is_only(&module.syntax().body))?
    {
        return None;
    }
    let below_line = |statement: &Stmt| line_end(content, statement.end().into());
    let (at, blank_lines) = python::with_module(content, |module| {
        let body = &module.syntax().body;
        let top = Anchors::of(body, content).imports_end;
        let mut place = (top, usize::from(top > 0));
        let below = body.iter().skip_while(|one| usize::from(one.end()) <= top);
        for one in below.clone().take_while(|one| is_constant(one)) {
            place = (below_line(one), 0);
        }
        let used = code_tokens(language, code);
        let is_used = |name: &String| used.iter().any(|token| token.text == **name);
        let one_of = |one: &&Stmt| bound(std::slice::from_ref(*one)).iter().any(is_used);
        for one in below.filter(one_of) {
            let below_it = (below_line(one), if is_constant(one) { 0 } else { 2 });
            place = if below_it.0 > place.0 {
                below_it
            } else {
                place
            };
        }
        place
    })?;
    let ending = line_ending(content).as_str();
    let (before, after) = content.split_at(at);
    let open = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        ending
    };
    let code = with_line_ending(code.trim_end(), line_ending(content));
    let tail = if after.is_empty() || after.starts_with(['\n', '\r']) {
        ""
    } else {
        ending
    };
    let lead = ending.repeat(blank_lines);
    Some(format!("{before}{open}{lead}{code}{ending}{tail}{after}"))
}

/// Where imports of a file go.
#[derive(Default)]
struct Anchors {
    /// Behind the last import at the top, or behind the module's own documentation.
    imports_end: usize,
    /// Where a `__future__` import may stand.
    future: usize,
    /// Whether there are imports at the top.
    has_imports: bool,
    /// Whether the module has documentation of its own.
    is_documented: bool,
}

impl Anchors {
    fn of(body: &[Stmt], content: &str) -> Anchors {
        let documented = body.first().filter(|first| is_text(first));
        let start = match documented {
            Some(first) => line_end(content, first.end().into()),
            None => first_code_line(content),
        };
        // Imports below the first definition belong to what stands around them.
        let top = body
            .iter()
            .take_while(|statement| !matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)))
            .filter(|statement| matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)))
            .last();
        Anchors {
            imports_end: top.map_or(start, |last| line_end(content, last.end().into())),
            future: start,
            has_imports: top.is_some(),
            is_documented: documented.is_some(),
        }
    }
}

/// Returns where the first line stands that is not a comment at the top of a file.
fn first_code_line(content: &str) -> usize {
    let top = content
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('#'));
    let bytes: usize = top.map(str::len).sum();
    // A comment right above code belongs to that code, unless it is the file's own head.
    let head = content.starts_with("#!") || content.starts_with("# -*-");
    if head { bytes } else { 0 }
}

/// What a piece of code brings that a file does not have.
#[derive(Default)]
struct Brought {
    future: Vec<String>,
    imports: Vec<String>,
    constants: Vec<String>,
}

impl Brought {
    fn is_empty(&self) -> bool {
        self.future.is_empty() && self.imports.is_empty() && self.constants.is_empty()
    }
}

fn wanted(body: &[Stmt], code: &str, known: &[String]) -> Brought {
    let mut brought = Brought::default();
    let is_new = |name: &str| !known.iter().any(|bound| bound == name);
    let alias = |name: &str, as_name: Option<&str>| match as_name {
        Some(other) => format!("{name} as {other}"),
        None => name.to_owned(),
    };
    for statement in body {
        match statement {
            Stmt::Import(node) => {
                for one in &node.names {
                    let as_name = one.asname.as_ref().map(|name| name.as_str());
                    let name = one.name.as_str();
                    let first = name.split('.').next().unwrap_or(name);
                    // `import a.b` beside `import a` still has to run.
                    let needed = match as_name {
                        Some(bound) => is_new(bound),
                        None if name.contains('.') => is_new(name),
                        None => is_new(first),
                    };
                    if needed {
                        brought
                            .imports
                            .push(format!("import {}", alias(name, as_name)));
                    }
                }
            }
            Stmt::ImportFrom(node) => {
                let module = node.module.as_ref().map_or("", |name| name.as_str());
                let dots = ".".repeat(usize::try_from(node.level).unwrap_or_default());
                let names: Vec<String> = node
                    .names
                    .iter()
                    .filter(|one| {
                        let bound = one.asname.as_ref().unwrap_or(&one.name).as_str();
                        bound != "*" && is_new(bound)
                    })
                    .map(|one| {
                        let as_name = one.asname.as_ref().map(|name| name.as_str());
                        alias(one.name.as_str(), as_name)
                    })
                    .collect();
                if names.is_empty() {
                    continue;
                }
                let line = format!("from {dots}{module} import {}", names.join(", "));
                if module == "__future__" {
                    brought.future.push(line);
                } else {
                    brought.imports.push(line);
                }
            }
            Stmt::Assign(node) => {
                let new_names = node.targets.iter().all(
                    |target| matches!(target, Expr::Name(name) if is_constant(name.id.as_str()) && is_new(name.id.as_str())),
                );
                let used = node.targets.iter().any(|target| {
                    matches!(target, Expr::Name(name) if code.matches(name.id.as_str()).count() > 1)
                });
                if new_names
                    && used
                    && let Some(text) = code.get(node.start().into()..node.end().into())
                {
                    brought.constants.push(text.to_owned());
                }
            }
            _ => {}
        }
    }
    brought.imports.dedup();
    brought
}

/// Results of examples are named in small letters; what a definition needs beside it is a constant or private.
fn is_constant(name: &str) -> bool {
    name.starts_with('_') || !name.chars().any(char::is_lowercase)
}

/// Returns every name that the top of a module binds; of `import a.b` both `a` and `a.b`.
pub(super) fn bound(body: &[Stmt]) -> Vec<String> {
    let mut names = Vec::new();
    for statement in body {
        match statement {
            Stmt::Import(node) => {
                for one in &node.names {
                    match &one.asname {
                        Some(bound) => names.push(bound.to_string()),
                        None => {
                            let name = one.name.as_str();
                            names.extend(name.split('.').next().map(str::to_owned));
                            names.push(name.to_owned());
                        }
                    }
                }
            }
            Stmt::ImportFrom(node) => names.extend(
                node.names
                    .iter()
                    .map(|one| one.asname.as_ref().unwrap_or(&one.name).to_string()),
            ),
            Stmt::Assign(node) => names.extend(
                node.targets
                    .iter()
                    .filter(|target| matches!(target, Expr::Name(_)))
                    .map(name_of),
            ),
            Stmt::AnnAssign(node) => names.push(name_of(&node.target)),
            Stmt::FunctionDef(node) => names.push(node.name.to_string()),
            Stmt::ClassDef(node) => names.push(node.name.to_string()),
            // An import under a condition or behind a `try` is there for whoever needs it.
            Stmt::If(node) => {
                names.extend(bound(&node.body));
                for clause in &node.elif_else_clauses {
                    names.extend(bound(&clause.body));
                }
            }
            Stmt::Try(node) => {
                names.extend(bound(&node.body));
                names.extend(bound(&node.orelse));
                for handler in &node.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    names.extend(bound(&handler.body));
                }
            }
            _ => {}
        }
    }
    names
}

fn name_of(target: &Expr) -> String {
    match target {
        Expr::Name(name) => name.id.to_string(),
        _ => String::new(),
    }
}

fn is_text(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(node) if matches!(&*node.value, Expr::StringLiteral(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[test]
    fn a_constant_goes_to_the_others_or_below_what_it_uses() {
        let check = |content: &str, code: &str, after: &str| {
            let result = with_constants(Language::Python, content, code);
            assert_eq!(result.as_deref(), Some(after), "{content}");
        };
        let uses = "def f():\n    return 1\n\n\nTABLE = {1: f}\n";
        check(
            &format!("import re\n\nMOST = 2\nLEAST = 1\n\n\n{uses}"),
            "RULES: dict = {\"f\": \"TABLE\"}\n",
            &format!(
                "import re\n\nMOST = 2\nLEAST = 1\nRULES: dict = {{\"f\": \"TABLE\"}}\n\n\n{uses}"
            ),
        );
        check(
            &format!("import re\n\n\n{uses}"),
            "RULES = re.compile('x')",
            &format!("import re\n\nRULES = re.compile('x')\n\n\n{uses}"),
        );
        check(uses, "RULES = 1", &format!("RULES = 1\n\n{uses}"));
        check(
            uses,
            "RULES = [f]",
            "def f():\n    return 1\n\n\nRULES = [f]\n\n\nTABLE = {1: f}\n",
        );
        check(
            uses,
            "RULES = {**TABLE}",
            &format!("{uses}RULES = {{**TABLE}}\n"),
        );
        check("X = 1", "RULES = 2", "X = 1\nRULES = 2\n");
        check("", "RULES = 2", "RULES = 2\n");
        check(
            "import re\r\n\r\nX = 1\r\n",
            "RULES = 2\n",
            "import re\r\n\r\nX = 1\r\nRULES = 2\r\n",
        );
        for code in ["def g():\n    pass\n", "RULES = 1\nprint(RULES)\n", ""] {
            assert_eq!(with_constants(Language::Python, uses, code), None);
        }
        assert_eq!(with_constants(Language::Go, "", "const x = 1\n"), None);
    }

    #[track_caller]
    fn check(content: &str, code: &str, after: &Expect) {
        after.assert_eq(&with_companions(Language::Python, content, code));
    }

    #[test]
    fn imports_that_are_missing_go_behind_the_last_one() {
        check(
            "\"\"\"About.\"\"\"\nimport os\nfrom a import (\n    b,\n    c,\n)\n\n\ndef f():\n    pass\n",
            "import os\nimport sys, re\nfrom a import (\n    c,\n    d as e,\n)\n\ndef f():\n    return e\n",
            &expect![[r#"
                """About."""
                import os
                from a import (
                    b,
                    c,
                )
                import sys
                import re
                from a import d as e


                def f():
                    pass
            "#]],
        );
    }

    #[test]
    fn a_file_without_imports_gets_them_at_its_top() {
        check(
            "#!/usr/bin/env python\n\"\"\"About.\"\"\"\n\n\ndef f():\n    pass\n",
            "from __future__ import annotations\nimport re\n\ndef f():\n    return re\n",
            &expect![[r##"
                #!/usr/bin/env python
                """About."""

                from __future__ import annotations

                import re


                def f():
                    pass
            "##]],
        );
        check(
            "def f():\n    pass\n",
            "import re\ndef f(): pass\n",
            &expect![[r#"
                import re


                def f():
                    pass
            "#]],
        );
    }

    #[test]
    fn constants_come_along_and_examples_do_not() {
        check(
            "import os\n\n\ndef f():\n    pass\n",
            "RATE = 3\n\ndef f():\n    return RATE\n\nresult = f()\nprint(result)\n",
            &expect![[r#"
                import os

                RATE = 3


                def f():
                    pass
            "#]],
        );
    }

    #[test]
    fn line_endings_stay_and_nothing_is_added_twice() {
        check(
            "import os\r\nx = 1\r\n",
            "import os\nimport re\n",
            &expect![["import os\r\nimport re\r\nx = 1\r\n"]],
        );
        check(
            "import os.path\n",
            "import os.path\nimport os\n",
            &expect![["import os.path\n"]],
        );
        check(
            "try:\n    import json\nexcept ImportError:\n    json = None\n",
            "import json\n",
            &expect![["try:\n    import json\nexcept ImportError:\n    json = None\n"]],
        );
    }
}

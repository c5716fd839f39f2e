//! Whole definitions: replaced by name, or added where they belong. Only the text of the definition changes.

use std::ops::Range;

use crate::edit::EditProblem;
use crate::edit::companions::with_constants;
use crate::edit::impl_block;
use crate::edit::indent::{Unit, Wanted, moved};
use crate::language::Language;
use crate::symbols::{self, Definition, DefinitionKind};
use crate::text::{LineEnding, line_ending, line_start, with_line_ending};

/// Returns `content` with one whole definition replaced by `code`.
///
/// The definition is named as `Class.method` or by its bare name when that is unique. Its decorators stay when
/// `code` has none; its indentation, the file's way to indent and the file's line endings are used whatever `code` has.
/// A method may come wrapped in its class.
pub fn replace_definition(
    language: Language,
    content: &str,
    name: &str,
    code: &str,
) -> Result<String, EditProblem> {
    let definitions = symbols::definitions(language, content);
    if code.trim().is_empty() {
        return Err(EditProblem::Empty);
    }
    let code = with_line_ending(code, LineEnding::Lf);
    let (code, span, start) = match overloads(&definitions, name) {
        Some(span) if brings_overloads(language, &code, name) => (&*code, span.clone(), span.start),
        Some(_) | None => {
            let definition = find_definition(&definitions, name, &code)?;
            let code = unwrapped(language, &code, definition).unwrap_or(&code);
            let start = match brings_decorators(code) {
                true => definition.span().start,
                false => definition.header_start(),
            };
            let (code, start) = with_documentation(language, content, definition, (code, start));
            (code, definition.span(), start)
        }
    };
    let line = line_start(content, span.start);
    let before = &content[line..span.start];
    let indent = if before.trim().is_empty() { before } else { "" };
    let body = moved(
        language,
        code,
        &Wanted {
            indent,
            unit: Unit::of(content),
        },
    );
    let mut result = String::with_capacity(content.len() + body.len());
    // A comment behind its last line may come with the code.
    let comment = content[span.end..].lines().next().unwrap_or_default();
    let is_comment =
        comment.trim_start().starts_with('#') || comment.trim_start().starts_with("//");
    let comes = is_comment && body.ends_with(comment.trim());
    let end = span.end + if comes { comment.len() } else { 0 };
    result.push_str(&content[..start]);
    result.push_str(&with_line_ending(&body, line_ending(content)));
    result.push_str(&content[end..]);
    Ok(result)
}

/// Returns the code and where it goes, where it may come with the comment that documents it: that takes the place of the
/// old one, unless it is shorter.
fn with_documentation<'c>(
    language: Language,
    content: &str,
    definition: &Definition,
    (code, start): (&'c str, usize),
) -> (&'c str, usize) {
    let new = symbols::definitions(language, code);
    let Some(first) = new.first() else {
        return (code, start);
    };
    let own = line_start(code, first.span().start);
    let Some(above) = documentation(language, code, first) else {
        return (code, start);
    };
    let lines = |text: &str| text.lines().count();
    let old = definition.span().start;
    let old_above = documentation(language, content, definition).unwrap_or(old);
    let is_shorter = lines(&code[above..own]) < lines(&content[old_above..old]);
    if is_shorter || start != old {
        return (&code[own..], start);
    }
    (code, old_above)
}

/// Returns where the comment begins that stands right above a definition and documents it. Python has none: what is
/// documented there is inside.
pub fn documentation(language: Language, text: &str, definition: &Definition) -> Option<usize> {
    let end = line_start(text, definition.span().start);
    let mut first = end;
    let mut is_block = false;
    for line in text[..end].split_inclusive('\n').rev() {
        let bare = line.trim();
        // Code may stand before a comment that ends its line.
        is_block |= bare.ends_with("*/") && (bare.starts_with("/*") || !bare.contains("/*"));
        let is_comment = is_block || bare.starts_with("//") && !bare.starts_with("//!");
        if !is_comment {
            break;
        }
        first -= line.len();
        if is_block && bare.starts_with("/*") {
            break;
        }
    }
    let block = text[first..end].trim_start();
    let is_documentation = match language {
        Language::Python => false,
        Language::Go => {
            let words = block.trim_start_matches('/').split_whitespace();
            words.into_iter().next() == Some(definition.name())
        }
        _ => block.starts_with("///") || block.starts_with("/**"),
    };
    const DIRECTIVES: [&str; 5] = ["//go:", "//export ", "//nolint", "// eslint", "// @ts-"];
    let is_directive = |line: &str| DIRECTIVES.iter().any(|sign| line.trim().starts_with(sign));
    let is_documentation = is_documentation && !block.lines().any(is_directive);
    is_documentation.then(|| first + (text[first..end].len() - block.len()))
}

/// Returns where a Python function lies with all its overloads, where it has some.
pub fn overloads(definitions: &[Definition], name: &str) -> Option<Range<usize>> {
    let all: Vec<&Definition> = definitions
        .iter()
        .filter(|one| *one.qualified == *name)
        .collect();
    let (last, rest) = all.split_last()?;
    let span = rest.first()?.span().start..last.span().end;
    let is_own = |one: &Definition| {
        let rest = one.qualified.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut inside = definitions
        .iter()
        .filter(|one| span.contains(&one.span().start));
    let is_group = !is_overload(last) && rest.iter().all(|one| is_overload(one));
    (is_group && inside.all(is_own)).then_some(span)
}

fn is_overload(definition: &Definition) -> bool {
    let mut decorators = definition.decorators.iter();
    decorators.any(|text| {
        let name = text.split('#').next().unwrap_or_default().trim();
        name == "overload" || name.ends_with(".overload")
    })
}

/// Says whether code is a function with its overloads.
fn brings_overloads(language: Language, code: &str, name: &str) -> bool {
    let own = name.rsplit('.').next().unwrap_or(name);
    let found = symbols::definitions(language, code);
    overloads(&found, own).is_some()
        && found
            .iter()
            .all(|one| one.parent.is_some() || one.name() == own)
}

/// Returns `content` with a method added in a language whose methods lie beside their type: behind the last one of the
/// type, else behind the type itself. Go's may also lie in another file.
fn beside_type(language: Language, content: &str, parent: &str, code: &str) -> Option<String> {
    if !matches!(language, Language::Go | Language::Rust) {
        return None;
    }
    let definitions = symbols::definitions(language, content);
    let is_method = |one: &&Definition| {
        let rest = one.qualified.strip_prefix(parent);
        one.kind.is_function() && rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let methods: Vec<&Definition> = definitions.iter().filter(is_method).collect();
    let owner = definitions.iter().find(|one| *one.qualified == *parent);
    // A trait holds its methods itself.
    let is_trait = owner.is_some_and(|owner| owner.kind == DefinitionKind::Interface);
    let method = match language {
        Language::Rust if !is_trait => impl_block::neighbour(content, &methods, code),
        _ => methods.last().copied(),
    };
    let is_wrapped = code.trim_start().starts_with("impl");
    let (after, indent) = match (method, owner) {
        (Some(method), _) if !is_wrapped => (method.span().end, leading(content, method)),
        (Some(_), _) => (content.trim_end().len(), String::new()),
        (None, Some(owner)) => {
            let end = owner.span().end;
            let line = content[end..].find('\n').unwrap_or(content.len() - end);
            (end + line, String::new())
        }
        (None, None) if language == Language::Go => (content.trim_end().len(), String::new()),
        (None, None) => return None,
    };
    let needs_block = language == Language::Rust && method.is_none() && !is_wrapped;
    let unit = Unit::of(content);
    let inside = if needs_block { "    " } else { indent.as_str() };
    let wanted = Wanted {
        indent: inside,
        unit,
    };
    let body = moved(language, code, &wanted);
    let body = match needs_block {
        true => {
            let definition = owner.map_or("", |owner| &content[owner.span()]);
            let head = impl_block::first_head(parent, definition);
            format!("{head} {{\n{inside}{body}\n}}")
        }
        false => format!("{indent}{body}"),
    };
    let added = format!("\n\n{}", body.trim_end());
    let added = with_line_ending(&added, line_ending(content));
    let (before, rest) = content.split_at(after);
    let rest = if rest.trim().is_empty() { "\n" } else { rest };
    Some(format!("{before}{added}{rest}"))
}

/// Returns `content` with `code` added as a new definition: at the end of the class `parent`, or of the file.
///
/// At the end of a Python file it stands before the part that runs the file as a program; constants go to the others at
/// its top.
pub fn add_definition(
    language: Language,
    content: &str,
    parent: Option<&str>,
    code: &str,
) -> Result<String, EditProblem> {
    if code.trim().is_empty() {
        return Err(EditProblem::Empty);
    }
    let code = with_line_ending(code, LineEnding::Lf);
    let ending = line_ending(content).as_str();
    let unit = Unit::of(content);
    let definitions = symbols::definitions(language, content);
    let Some(parent) = parent else {
        let body = moved(language, &code, &Wanted { indent: "", unit });
        if let Some(text) = with_constants(language, content, &body) {
            return Ok(text);
        }
        return Ok(at_end(language, content, &body));
    };
    if let Some(text) = beside_type(language, content, parent, &code) {
        return Ok(text);
    }
    let class = find_definition(&definitions, parent, "")?;
    let position = definitions
        .iter()
        .position(|known| std::ptr::eq(known, class));
    let members = definitions
        .iter()
        .filter(|known| known.parent.map(|at| at as usize) == position);
    // A member may stand deeper, under a condition.
    let is_first = |member: &&Definition| {
        let line = content[..member.span().start].rsplit('\n').next();
        line.is_some_and(|line| line.trim().is_empty())
    };
    let indent = members
        .filter(is_first)
        .map(|member| leading(content, member))
        .min_by_key(String::len)
        .unwrap_or_else(|| {
            let step = match unit {
                Some(Unit::Tab) => "\t".to_string(),
                Some(Unit::Spaces(step)) => " ".repeat(step),
                None => "    ".to_string(),
            };
            format!("{}{step}", leading(content, class))
        });
    let body = moved(
        language,
        &code,
        &Wanted {
            indent: &indent,
            unit,
        },
    );
    // A language with braces closes the class after its last member.
    let end = match content[..class.span().end].strip_suffix('}') {
        Some(open) if language != Language::Python => open.trim_end().len(),
        Some(_) | None => class.span().end,
    };
    let added = with_line_ending(&format!("\n\n{indent}{body}"), line_ending(content)).into_owned();
    let rest = &content[end..];
    let separator = if rest.is_empty() || rest.starts_with(['\n', '\r', ' ', '\t']) {
        ""
    } else {
        ending
    };
    Ok(format!("{}{added}{separator}{rest}", &content[..end]))
}

/// Returns `content` with a definition at the end of its definitions.
fn at_end(language: Language, content: &str, body: &str) -> String {
    let (before, after) = content.split_at(end_of_definitions(language, content));
    let gap = if language == Language::Python {
        "\n\n\n"
    } else {
        "\n\n"
    };
    let before = before.trim_end();
    let lead = if before.is_empty() { "" } else { gap };
    let tail = if after.trim().is_empty() {
        "\n".to_string()
    } else {
        format!(
            "{gap}{}",
            with_line_ending(after.trim_start_matches(['\r', '\n']), LineEnding::Lf)
        )
    };
    let added = format!("{lead}{body}{tail}");
    let added = with_line_ending(&added, line_ending(content));
    format!("{before}{added}")
}

/// Returns the white space before a definition.
fn leading(content: &str, definition: &Definition) -> String {
    let start = definition.span().start;
    let line = line_start(content, start);
    let before = &content[line..start];
    if before.trim().is_empty() {
        before.to_string()
    } else {
        String::new()
    }
}

/// Returns where a file's definitions end: before `if __name__ == "__main__"` when that comes last.
fn end_of_definitions(language: Language, content: &str) -> usize {
    if language != Language::Python {
        return content.len();
    }
    let guard = [
        "\nif __name__ ==",
        "\nif '__main__' ==",
        "\nif \"__main__\" ==",
    ]
    .iter()
    .filter_map(|text| content.rfind(text))
    .max();
    match guard {
        // Only what belongs to the block may follow it.
        Some(at)
            if content[at + 1..]
                .lines()
                .skip(1)
                .all(|line| line.trim().is_empty() || line.starts_with([' ', '\t', '#'])) =>
        {
            at + 1
        }
        Some(_) | None => content.len(),
    }
}

/// Returns the method inside `code` when the code is its class with nothing else in it.
fn unwrapped<'c>(language: Language, code: &'c str, wanted: &Definition) -> Option<&'c str> {
    let (outer, _) = wanted.qualified.rsplit_once('.')?;
    let class_name = outer.rsplit('.').next()?;
    let found = symbols::definitions(language, code);
    let [class, rest @ ..] = &found[..] else {
        return None;
    };
    let is_wrapper = class.kind == DefinitionKind::Class
        && class.parent.is_none()
        && class.name() == class_name
        && wanted.kind != DefinitionKind::Class;
    let direct: Vec<&Definition> = rest
        .iter()
        .filter(|known| known.parent == Some(0))
        .collect();
    let others = found.iter().skip(1).any(|known| known.parent.is_none());
    match (&direct[..], is_wrapper && !others) {
        ([one], true) if one.name() == wanted.name() => {
            let line = line_start(code, one.span().start);
            let from = if code[line..one.span().start].trim().is_empty() {
                line
            } else {
                one.span().start
            };
            code.get(from..one.span().end)
        }
        (_, _) => None,
    }
}

/// Says whether the code starts with what may stand before a definition; comments aside.
fn brings_decorators(code: &str) -> bool {
    let lines = code.lines().map(str::trim);
    let first = lines
        .filter(|line| !line.is_empty())
        .find(|line| line.starts_with("#[") || !line.starts_with(['#', '/', '*']));
    first.is_some_and(|line| {
        ["@", "#[", "export ", "template"]
            .iter()
            .any(|mark| line.starts_with(mark))
    })
}

fn find_definition<'a>(
    definitions: &'a [Definition],
    name: &str,
    code: &str,
) -> Result<&'a Definition, EditProblem> {
    let name = name.trim();
    let exact: Vec<&Definition> = definitions
        .iter()
        .filter(|d| &*d.qualified == name)
        .collect();
    let found = if exact.is_empty() {
        definitions.iter().filter(|d| d.name() == name).collect()
    } else {
        exact
    };
    match found[..] {
        [] => Err(EditProblem::NoSuchDefinition(name.to_string())),
        [one] => Ok(one),
        _ => {
            // A property and its setter share a name; the decorators of the new code tell which is meant.
            let decorators: Vec<&str> = code
                .lines()
                .map_while(|line| line.trim().strip_prefix('@'))
                .map(str::trim)
                .collect();
            let same: Vec<&&Definition> = found
                .iter()
                .filter(|d| {
                    d.decorators
                        .iter()
                        .map(|text| &**text)
                        .eq(decorators.iter().copied())
                })
                .collect();
            // Overloads share those too; what they are given tells them apart.
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            let new = squeezed(code);
            let is_same = |d: &&&&Definition| new.contains(&squeezed(&d.signature));
            let mut alike = same.iter().filter(is_same);
            match (&same[..], alike.next(), alike.next()) {
                ([one], _, _) => Ok(one),
                (_, Some(one), None) => Ok(one),
                _ => Err(EditProblem::Ambiguous {
                    name: name.to_string(),
                    lines: found.iter().map(|d| d.line).collect(),
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(before: &str, name: &str, code: &str, after: &Expect) {
        let result = replace_definition(Language::Python, before, name, code);
        after.assert_eq(&result.unwrap_or_else(|problem| problem.to_string()));
    }

    #[test]
    fn a_method_written_flat_takes_its_place_in_the_class() {
        check(
            "class A:\n    x = 1\n\n    @property\n    def f(self):\n        return 1\n\n    def g(self): pass\n",
            "A.f",
            "def f(self):\n    y = 2\n\n    return y\n",
            &expect![[r#"
                class A:
                    x = 1

                    @property
                    def f(self):
                        y = 2

                        return y

                    def g(self): pass
            "#]],
        );
    }

    #[test]
    fn new_decorators_replace_the_old() {
        check(
            "@old\ndef f(): pass\n",
            "f",
            "@new\ndef f():\n    return 2",
            &expect![["@new\ndef f():\n    return 2\n"]],
        );
    }

    #[test]
    fn line_endings_stay() {
        check(
            "def f():\r\n    pass\r\nx = 1\r\n",
            "f",
            "def f():\n    return 2\n",
            &expect![["def f():\r\n    return 2\r\nx = 1\r\n"]],
        );
    }

    #[test]
    fn what_cannot_be_replaced_is_said() {
        check(
            "def f(): pass\n",
            "g",
            "def g(): pass",
            &expect!["there is no definition named `g`"],
        );
        check(
            "def f(): pass\n",
            "f",
            " \n",
            &expect!["the new code is empty"],
        );
        check(
            "class A:\n  def f(): 1\nclass B:\n  def f(): 1\n",
            "f",
            "def f(): 2",
            &expect!["`f` is defined 2 times, at lines 2, 4"],
        );
    }

    #[test]
    fn a_comment_behind_the_last_line_stands_there_once() {
        let before = "def f():\n    return 1  # one\n";
        for (code, after) in [
            (
                "def f():\n    return 2  # one\n",
                "def f():\n    return 2  # one\n",
            ),
            (
                "def f():\n    return 2\n",
                "def f():\n    return 2  # one\n",
            ),
        ] {
            let replaced = replace_definition(Language::Python, before, "f", code);
            assert_eq!(replaced.unwrap(), after);
        }
    }

    #[test]
    fn overloads_are_told_apart_by_what_they_are_given() {
        let before = "@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x): return x\n";
        let code = "@overload\ndef f(x: str) -> str:\n    pass\n";
        let result = replace_definition(Language::Python, before, "f", code).unwrap();
        assert_eq!(result, before.replace("str: ...", "str:\n    pass"));
        let code = "@overload\ndef f(x: bytes) -> bytes: ...\n";
        assert!(replace_definition(Language::Python, before, "f", code).is_err());
    }

    #[test]
    fn the_comment_that_documents_a_definition_comes_with_it() {
        let rust = "impl A {\n    /// One.\n    fn f(&self) -> u8 {\n        1\n    }\n\n    fn g(&self) {}\n}\n";
        let go = "package a\n\n// F is\n// one.\nfunc F() int {\n\treturn 1\n}\n";
        for (language, before, name, code, after) in [
            (
                Language::Rust,
                rust,
                "A.f",
                "/// Two,\n/// not one.\nfn f(&self) -> u8 {\n    2\n}\n",
                rust.replace("/// One.", "/// Two,\n    /// not one.")
                    .replace("        1", "        2"),
            ),
            (
                Language::Rust,
                rust,
                "A.g",
                "    /// Nothing.\n    fn g(&self) {}\n",
                rust.replace("    fn g", "    /// Nothing.\n    fn g"),
            ),
            // A shorter comment is no reason to lose a longer one, and another comment documents nothing.
            (
                Language::Go,
                go,
                "F",
                "// F is two.\nfunc F() int {\n\treturn 2\n}\n",
                go.replace("return 1", "return 2"),
            ),
            (
                Language::Go,
                go,
                "F",
                "// F is\n// two.\nfunc F() int {\n\treturn 2\n}\n",
                go.replace("one", "two").replace("return 1", "return 2"),
            ),
        ] {
            let result = replace_definition(language, before, name, code).unwrap();
            assert_eq!(result, after, "{code}");
        }
        let behind_code = "/** Of A. */\nconst A = 1; /* one */\nfunction f() {}\n";
        let found = symbols::definitions(Language::JavaScript, behind_code);
        let last = found.last().unwrap();
        assert_eq!(documentation(Language::JavaScript, behind_code, last), None);
        let remark = "// a.go, mended\nfunc F() int {\n\treturn 2\n}\n";
        let found = symbols::definitions(Language::Go, remark);
        assert_eq!(documentation(Language::Go, remark, &found[0]), None);
    }

    #[test]
    fn a_function_is_replaced_with_its_overloads() {
        let before = "class A:\n    @overload\n    def f(self, x: int) -> int: ...\n\n    @typing.overload\n    def f(self, x: str) -> str: ...\n\n    def f(self, x):\n        return x\n\n    def g(self): ...\n";
        check(
            before,
            "A.f",
            "@overload\ndef f(self, x: int) -> str: ...\n\n@overload\ndef f(self, x: str) -> str: ...\n\ndef f(self, x):\n    return str(x)\n",
            &expect![[
                "class A:\n    @overload\n    def f(self, x: int) -> str: ...\n\n    @overload\n    def f(self, x: str) -> str: ...\n\n    def f(self, x):\n        return str(x)\n\n    def g(self): ...\n"
            ]],
        );
        // The function alone leaves its overloads.
        let code = "def f(self, x):\n    return str(x)\n";
        let result = replace_definition(Language::Python, before, "A.f", code).unwrap();
        assert_eq!(result, before.replace("return x", "return str(x)"));
    }

    #[test]
    fn a_setter_is_told_from_its_property() {
        check(
            "class A:\n    @property\n    def f(self): return 1\n    @f.setter\n    def f(self, x): pass\n",
            "A.f",
            "@f.setter\ndef f(self, x): self.x = x",
            &expect![[
                "class A:\n    @property\n    def f(self): return 1\n    @f.setter\n    def f(self, x): self.x = x\n"
            ]],
        );
    }

    #[test]
    fn a_method_may_come_wrapped_or_half_indented() {
        let file = "class A:\n    def f(self):\n        return 1\n";
        let after = &expect![["class A:\n    def f(self):\n        return 2\n"]];
        check(
            file,
            "A.f",
            "class A:\n    def f(self):\n        return 2\n",
            after,
        );
        check(file, "A.f", "    def f(self):\n        return 2\n", after);
        check(file, "A.f", "def f(self):\n        return 2\n", after);
        check(file, "f", "def f(self):\n  return 2\n", after);
        check(file, "f", "def f(self):\n\treturn 2\n", after);
        check(
            file,
            "A.f",
            "@x\n    def f(self):\n        return 2\n",
            &expect![["class A:\n    @x\n    def f(self):\n        return 2\n"]],
        );
    }

    #[test]
    fn tabs_stay_tabs() {
        check(
            "class A:\n\tdef f(self):\n\t\treturn 1\n",
            "f",
            "def f(self):\n    if x:\n        return 2\n",
            &expect![["class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 2\n"]],
        );
    }

    #[test]
    fn the_inside_of_strings_does_not_move_but_documentation_does() {
        check(
            "class A:\n    def f(self): pass\n",
            "f",
            "def f(self):\n    \"\"\"Does.\n\n    More.\n    \"\"\"\n    return \"\"\"a\n  b\nc\"\"\"\n",
            &expect![[r#"
                class A:
                    def f(self):
                        """Does.

                        More.
                        """
                        return """a
                  b
                c"""
            "#]],
        );
    }

    #[test]
    fn other_languages_too() {
        let replaced = replace_definition(
            Language::TypeScript,
            "export class A {\n  f(): number {\n    return 1;\n  }\n}\n",
            "A.f",
            "f(): number {\n    return 2;\n}",
        );
        assert_eq!(
            replaced.unwrap(),
            "export class A {\n  f(): number {\n    return 2;\n  }\n}\n"
        );
        let replaced = replace_definition(
            Language::Rust,
            "#[test]\npub fn f() -> u8 {\n    1\n}\n",
            "f",
            "pub fn f() -> u8 { 2 }",
        );
        assert_eq!(replaced.unwrap(), "#[test]\npub fn f() -> u8 { 2 }\n");
        let replaced = replace_definition(
            Language::TypeScript,
            "export function f() {}\n",
            "f",
            "export function f() { g(); }",
        );
        assert_eq!(replaced.unwrap(), "export function f() { g(); }\n");
    }

    #[track_caller]
    fn check_added(
        language: Language,
        before: &str,
        parent: Option<&str>,
        code: &str,
        after: &str,
    ) {
        assert_eq!(
            add_definition(language, before, parent, code).unwrap(),
            after
        );
    }

    #[test]
    fn definitions_are_added_where_they_belong() {
        check_added(
            Language::Python,
            "x = 1\n",
            None,
            "def f():\n    pass",
            "x = 1\n\n\ndef f():\n    pass\n",
        );
        check_added(
            Language::Python,
            "",
            None,
            "def f(): pass\n",
            "def f(): pass\n",
        );
        check_added(
            Language::Python,
            "x = 1\r\n\r\n\r\nif __name__ == '__main__':\r\n    main()\r\n",
            None,
            "def f(): pass",
            "x = 1\r\n\r\n\r\ndef f(): pass\r\n\r\n\r\nif __name__ == '__main__':\r\n    main()\r\n",
        );
        check_added(
            Language::Python,
            "class A:\n    def f(self): pass\n\nx = 1\n",
            Some("A"),
            "def g(self):\n    return 1\n",
            "class A:\n    def f(self): pass\n\n    def g(self):\n        return 1\n\nx = 1\n",
        );
        check_added(
            Language::Python,
            "class A:\n    x = 1; y = 2\n",
            Some("A"),
            "def g(self): pass\n",
            "class A:\n    x = 1; y = 2\n\n    def g(self): pass\n",
        );
        check_added(
            Language::Python,
            "class A:\n    x = 1\n    if x:\n        def f(self): pass\n",
            Some("A"),
            "y = 2\n",
            "class A:\n    x = 1\n    if x:\n        def f(self): pass\n\n    y = 2\n",
        );
        check_added(
            Language::Java,
            "class A {\n    void f() {}\n}\n",
            Some("A"),
            "void g() {\n}",
            "class A {\n    void f() {}\n\n    void g() {\n    }\n}\n",
        );
    }

    #[test]
    fn methods_lie_beside_their_type() {
        for (language, before, code, after) in [
            (
                Language::Go,
                "package a\n\ntype R struct {\n\tx int\n}\n\nfunc (r *R) A() {}\n\nfunc b() {}\n",
                "// B does.\nfunc (r *R) B() int {\n\treturn 1\n}\n",
                "package a\n\ntype R struct {\n\tx int\n}\n\nfunc (r *R) A() {}\n\n// B does.\nfunc (r *R) B() int {\n\treturn 1\n}\n\nfunc b() {}\n",
            ),
            (
                Language::Go,
                "package a\n\ntype R struct {\n\tx int\n} // R\n",
                "func (r *R) B() {}",
                "package a\n\ntype R struct {\n\tx int\n} // R\n\nfunc (r *R) B() {}\n",
            ),
            (
                Language::Go,
                "package a\n",
                "func (r *R) B() {}",
                "package a\n\nfunc (r *R) B() {}\n",
            ),
            (
                Language::Rust,
                "struct R;\n\nimpl R {\n    fn a(&self) {}\n}\n",
                "fn b(&self) {\n    self.a();\n}\n",
                "struct R;\n\nimpl R {\n    fn a(&self) {}\n\n    fn b(&self) {\n        self.a();\n    }\n}\n",
            ),
            (
                Language::Rust,
                "struct R;\n\nimpl R {\n    fn a(&self) {}\n}\n\nimpl Drop for R {\n    fn drop(&mut self) {}\n}\n",
                "fn b(&self) {}\n",
                "struct R;\n\nimpl R {\n    fn a(&self) {}\n\n    fn b(&self) {}\n}\n\nimpl Drop for R {\n    fn drop(&mut self) {}\n}\n",
            ),
            (
                Language::Rust,
                "trait R {\n    fn a(&self) {}\n}\n",
                "fn b(&self) {}\n",
                "trait R {\n    fn a(&self) {}\n\n    fn b(&self) {}\n}\n",
            ),
            (
                Language::Rust,
                "struct R;\n",
                "fn b(&self) {}\n",
                "struct R;\n\nimpl R {\n    fn b(&self) {}\n}\n",
            ),
        ] {
            let added = add_definition(language, before, Some("R"), code).unwrap();
            assert_eq!(added, after);
        }
    }
}

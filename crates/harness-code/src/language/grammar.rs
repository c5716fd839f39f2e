//! How a language is read by its grammar: which nodes define, call, import and name things. Tables only; `symbols` walks.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// What `symbols` needs to know of one grammar.
pub(crate) struct Grammar {
    /// The parser's tables.
    pub(crate) tables: fn() -> tree_sitter::Language,
    /// Nodes that define something.
    pub(crate) definitions: &'static [Rule],
    /// Nodes that call something, with the field that holds what is called.
    pub(crate) calls: &'static [(&'static str, &'static str)],
    /// Nodes that import something.
    pub(crate) imports: &'static [(&'static str, Importing)],
    /// Leaves that are names, with blanks between them as in all lists of words here.
    pub(crate) names: &'static str,
    /// Nodes that are comments.
    pub(crate) comments: &'static str,
    /// Nodes that are strings.
    pub(crate) strings: &'static str,
}

/// A node that defines something.
pub(crate) struct Rule {
    /// The kind of node.
    pub(crate) node: &'static str,
    /// What it defines.
    pub(crate) shape: Shape,
    /// Where its name is.
    pub(crate) name: NameAt,
    /// When it counts.
    pub(crate) when: When,
}

impl Rule {
    /// A node with its name in the field `name` that always counts.
    pub(crate) const fn named(node: &'static str, shape: Shape) -> Rule {
        Rule {
            node,
            shape,
            name: NameAt::Field("name"),
            when: When::Always,
        }
    }

    /// A node that counts only with a body: without one it is a mention.
    pub(crate) const fn with_body(node: &'static str, shape: Shape) -> Rule {
        Rule {
            when: When::Body,
            ..Rule::named(node, shape)
        }
    }

    /// A variable that counts only outside functions.
    pub(crate) const fn outside(node: &'static str, name: &'static str) -> Rule {
        Rule::named(node, Shape::Variable)
            .at(NameAt::Field(name))
            .outside_functions()
    }

    /// The same with its name elsewhere.
    pub(crate) const fn at(self, name: NameAt) -> Rule {
        Rule { name, ..self }
    }

    /// The same where it is not inside a function.
    pub(crate) const fn outside_functions(self) -> Rule {
        Rule {
            when: When::OutsideFunctions,
            ..self
        }
    }
}

/// What a node defines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A function; a method inside a type.
    Function,
    /// A type with a body.
    Type,
    /// An interface or trait.
    Interface,
    /// A namespace.
    Module,
    /// A variable, constant or field.
    Variable,
    /// A variable, or a function when its value is one.
    Value,
    /// A macro.
    Macro,
    /// Not a definition of its own: what is inside belongs to the type it names (Rust's `impl`).
    Scope,
}

/// Where the name of a definition is.
#[derive(Clone, Copy)]
pub(crate) enum NameAt {
    /// In this field.
    Field(&'static str),
    /// At the end of nested declarators, as C has it.
    Declarator,
    /// In the field `name`, qualified by the type of the receiver, as Go has it.
    Receiver,
}

/// When a node counts as a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Always.
    Always,
    /// When it has a body.
    Body,
    /// When it is not inside a function.
    OutsideFunctions,
}

/// How an import is written.
#[derive(Clone, Copy)]
pub(crate) enum Importing {
    /// The module is the text of this field, quotes aside.
    Field(&'static str),
    /// The module is the node's own text without these words and the final semicolon.
    Words(&'static str),
    /// JavaScript's `import {a as b} from "m"`.
    JavaScript,
    /// A call of one of these functions with a string.
    Call(&'static str),
    /// Rust's `use` trees.
    RustUse,
    /// Rust's `mod name;`.
    RustMod,
}

/// What calls something in JavaScript and TypeScript.
#[cfg(any(feature = "javascript", feature = "typescript"))]
pub(crate) const SCRIPT_CALLS: &[(&str, &str)] = &[
    ("call_expression", "function"),
    ("new_expression", "constructor"),
    ("jsx_opening_element", "name"),
    ("jsx_self_closing_element", "name"),
];

/// What imports something in JavaScript and TypeScript.
#[cfg(any(feature = "javascript", feature = "typescript"))]
pub(crate) const SCRIPT_IMPORTS: &[(&str, Importing)] = &[
    ("import_statement", Importing::JavaScript),
    ("export_statement", Importing::JavaScript),
    ("call_expression", Importing::Call("require import")),
];

/// A file that takes longer is given up, whatever its work was.
const PARSE_TIME: Duration = Duration::from_secs(3);

/// The parser reports after every hundred steps, and reading takes about one step for three bytes. Error recovery
/// on text that is not the language can take thousands a byte: ten times the usual is given up.
/// Counting steps instead of seconds gives the same facts on a busy machine.
const BYTES_A_REPORT: usize = 30;

/// Short files may be as broken as they like.
const FREE_REPORTS: usize = 1_000;

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Parses `content`; `None` when it takes too long.
pub(crate) fn parse(grammar: &Grammar, content: &str) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&(grammar.tables)()).ok()?;
        let end = Instant::now() + PARSE_TIME;
        let mut left = FREE_REPORTS + content.len() / BYTES_A_REPORT;
        let mut overdue = |_: &_| {
            left = left.saturating_sub(1);
            let is_overdue = left == 0 || (left.is_multiple_of(64) && Instant::now() > end);
            if is_overdue {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut overdue);
        let bytes = content.as_bytes();
        let tree = parser.parse_with_options(
            &mut |at, _| bytes.get(at..).unwrap_or_default(),
            None,
            Some(options),
        );
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
}

/// Returns how many places of a tree are not the language.
pub(crate) fn errors(root: Node<'_>) -> usize {
    if !root.has_error() {
        return 0;
    }
    let mut count = 0;
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let is_wrong = node.is_error() || node.is_missing();
        count += usize::from(is_wrong);
        if node.has_error() && !node.is_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return count;
            }
        }
    }
}

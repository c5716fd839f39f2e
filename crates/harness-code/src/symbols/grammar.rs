//! Definitions, calls, imports and names of a file by its language's grammar. One walk, without recursion.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use tree_sitter::{Node, Tree};

use crate::language::grammar::{self, Grammar, Importing, Rule, Shape, When};
use crate::language::{self, Language};
use crate::symbols::naming::{LONGEST_NAME, is_name, last_part, name_of};
use crate::symbols::{
    Definition, DefinitionKind, Facts, ImportTime, NameCollector, NameId, SIGNATURE_LENGTH,
    first_paragraph, one_line, sorted,
};
use crate::symbols::{comment, importing};
use crate::text::is_among;

/// Reads the facts of a file; `None` when the language has no grammar here or the file could not be parsed in time.
pub(super) fn facts(language: Language, content: &str) -> Option<Facts> {
    let grammar = language::grammar_of(language)?;
    let tree = grammar::parse(grammar, content)?;
    let mut reader = Reader {
        content,
        path: Vec::new(),
        actions: actions(language, grammar),
        names: NameCollector::default(),
        facts: Facts {
            broken: tree.root_node().has_error(),
            ..Facts::default()
        },
        around: Vec::new(),
        comments: comment::Tracker::default(),
        attribute: None,
    };
    reader.walk(&tree);
    reader.facts.doc = reader.comments.file_doc(content);
    reader.facts.names = reader.names.finish();
    Some(reader.facts)
}

/// What to do at a kind of node.
#[derive(Clone, Copy, Default)]
struct Action {
    rule: Option<&'static Rule>,
    call: Option<&'static str>,
    import: Option<Importing>,
    leaf: Leaf,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Leaf {
    #[default]
    None,
    Name,
    Comment,
    String,
    Attribute,
    /// A function without a name: what it holds is not outside functions.
    Anonymous,
}

/// Functions without a name, in all grammars.
const ANONYMOUS: &str = "\
    arrow_function function_expression generator_function closure_expression lambda_expression \
    func_literal do_block block_argument lambda anonymous_function \
    anonymous_function_creation_expression anonymous_method_expression static_initializer";

/// Attributes stand before what they belong to.
const ATTRIBUTES: &str = "attribute_item decorator";

/// Returns the actions of a grammar by the number of the node kind; made once a language.
fn actions(language: Language, grammar: &'static Grammar) -> &'static [Action] {
    static TABLES: [OnceLock<Vec<Action>>; 16] = [const { OnceLock::new() }; 16];
    let make = || {
        let tables = (grammar.tables)();
        let mut by_name: FxHashMap<&str, Action> = FxHashMap::default();
        for rule in grammar.definitions {
            by_name.entry(rule.node).or_default().rule = Some(rule);
        }
        for (node, field) in grammar.calls {
            by_name.entry(node).or_default().call = Some(field);
        }
        for (node, importing) in grammar.imports {
            by_name.entry(node).or_default().import = Some(*importing);
        }
        let leaves = [
            (grammar.names, Leaf::Name),
            (grammar.comments, Leaf::Comment),
            (grammar.strings, Leaf::String),
            (ATTRIBUTES, Leaf::Attribute),
            (ANONYMOUS, Leaf::Anonymous),
        ];
        for (kinds, leaf) in leaves {
            for kind in kinds.split_ascii_whitespace() {
                by_name.entry(kind).or_default().leaf = leaf;
            }
        }
        let action = |id: usize| {
            let id = u16::try_from(id).unwrap_or(u16::MAX);
            let named = tables.node_kind_is_named(id);
            tables
                .node_kind_for_id(id)
                .filter(|_| named)
                .and_then(|kind| by_name.get(kind))
                .copied()
                .unwrap_or_default()
        };
        (0..tables.node_kind_count()).map(action).collect()
    };
    TABLES
        .get(language as usize)
        .map_or(&[], |table| table.get_or_init(make))
}

/// A definition, scope or function that is being read.
struct Open {
    depth: u32,
    position: Option<u32>,
    /// What names inside are qualified with.
    prefix: Box<str>,
    is_function: bool,
    is_type: bool,
    calls: Vec<NameId>,
}

/// Attributes that stand before what they belong to.
#[derive(Clone, Copy)]
struct Attribute {
    start: usize,
    end: usize,
    row: usize,
}

/// Where a definition is.
struct Place {
    start: usize,
    header: usize,
    end: usize,
    row: usize,
}

struct Reader<'a, 't> {
    content: &'a str,
    /// The nodes around the one being looked at; asking a node for its parent searches from the top.
    path: Vec<Node<'t>>,
    actions: &'static [Action],
    names: NameCollector<'a>,
    facts: Facts,
    around: Vec<Open>,
    comments: comment::Tracker,
    /// The attributes right before the next node.
    attribute: Option<Attribute>,
}

impl<'a, 't> Reader<'a, 't> {
    fn walk(&mut self, tree: &'t Tree) {
        let mut cursor = tree.walk();
        let mut depth = 0u32;
        loop {
            let node = cursor.node();
            let goes_in = self.visit(node, depth);
            if goes_in && cursor.goto_first_child() {
                self.path.push(node);
                depth += 1;
                continue;
            }
            loop {
                self.close(depth);
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
                self.path.pop();
                depth -= 1;
            }
        }
    }

    /// Ends what was opened at this depth or deeper.
    fn close(&mut self, depth: u32) {
        while self.around.last().is_some_and(|open| open.depth >= depth) {
            let Some(open) = self.around.pop() else {
                return;
            };
            match open
                .position
                .and_then(|at| self.facts.definitions.get_mut(at as usize))
            {
                Some(definition) => definition.calls = sorted(open.calls),
                // What a scope or a nameless function calls belongs to what is around it.
                None => {
                    if let Some(outer) = self.around.last_mut() {
                        outer.calls.extend(open.calls);
                    }
                }
            }
        }
    }

    /// Looks at one node; says whether to look inside.
    fn visit(&mut self, node: Node<'t>, depth: u32) -> bool {
        let action = self
            .actions
            .get(usize::from(node.kind_id()))
            .copied()
            .unwrap_or_default();
        match action.leaf {
            Leaf::Comment => {
                self.comments.saw(&node);
                return false;
            }
            Leaf::Attribute => {
                let (start, row) = self
                    .attribute
                    .map_or((node.start_byte(), node.start_position().row), |first| {
                        (first.start, first.row)
                    });
                self.attribute = Some(Attribute {
                    start,
                    row,
                    end: node.end_byte(),
                });
                return true;
            }
            Leaf::Name => {
                let text = self.text(&node);
                if text.len() <= LONGEST_NAME {
                    self.names.id(text);
                }
            }
            Leaf::String => return false,
            Leaf::Anonymous => self.open(depth, None, Box::default(), true, false),
            Leaf::None => {}
        }
        self.comments.passed(&node, depth);
        if let Some(importing) = action.import {
            let when = if self.in_function() {
                ImportTime::Later
            } else {
                ImportTime::Start
            };
            importing::read(
                self.content,
                &node,
                importing,
                when,
                &mut self.facts.imports,
            );
        }
        if let Some(called) = action
            .call
            .and_then(|field| node.child_by_field_name(field))
        {
            self.call(called);
        }
        if let Some(rule) = action.rule {
            self.define(&node, rule, depth);
        }
        if depth > 0
            && node.is_named()
            && self
                .attribute
                .is_some_and(|before| node.start_byte() >= before.end)
        {
            self.attribute = None;
        }
        true
    }

    fn text(&self, node: &Node<'_>) -> &'a str {
        self.content.get(node.byte_range()).unwrap_or("")
    }

    fn in_function(&self) -> bool {
        self.around.iter().any(|open| open.is_function)
    }

    fn open(
        &mut self,
        depth: u32,
        position: Option<u32>,
        prefix: Box<str>,
        is_function: bool,
        is_type: bool,
    ) {
        self.around.push(Open {
            depth,
            position,
            prefix,
            is_function,
            is_type,
            calls: Vec::new(),
        });
    }

    fn call(&mut self, called: Node<'_>) {
        let name = self.text(&last_part(called));
        if !is_name(name) {
            return;
        }
        let id = self.names.id(name);
        if let Some(open) = self.around.last_mut() {
            open.calls.push(id);
        }
    }

    fn define(&mut self, node: &Node<'t>, rule: &Rule, depth: u32) {
        let has_body = node.child_by_field_name("body").is_some();
        if rule.when == When::Body && !has_body {
            return;
        }
        let Some((name_node, qualifier)) = name_of(self.content, node, rule.name) else {
            return;
        };
        let name = self.text(&name_node);
        let prefix = self
            .around
            .iter()
            .rev()
            .find(|open| !open.prefix.is_empty())
            .map_or("", |open| &*open.prefix);
        let mut qualified = String::with_capacity(prefix.len() + qualifier.len() + name.len() + 2);
        for part in [prefix, qualifier.as_str()] {
            if !part.is_empty() {
                qualified.push_str(part);
                qualified.push('.');
            }
        }
        qualified.push_str(name);
        if rule.shape == Shape::Scope {
            let bare = name.split('<').next().unwrap_or(name).trim();
            self.open(depth, None, bare.into(), false, true);
            return;
        }
        if !is_name(name) {
            return;
        }
        let Some(kind) = self.kind_of(node, rule, !qualifier.is_empty(), name) else {
            return;
        };
        let is_variable = kind == DefinitionKind::Variable;
        if is_variable && rule.when == When::OutsideFunctions && self.in_function() {
            return;
        }
        let place = self.place(node);
        let position = self.facts.definitions.len() as u32;
        let lines = (name_node.start_position().row, node.end_position());
        let end_row = if lines.1.column == 0 {
            lines.1.row.saturating_sub(1)
        } else {
            lines.1.row
        };
        if kind == DefinitionKind::Function && name == "main" && self.around.is_empty() {
            self.facts.runnable = true;
        }
        self.facts.definitions.push(Definition {
            qualified: qualified.as_str().into(),
            kind,
            line: lines.0 as u32 + 1,
            end_line: end_row.max(lines.0) as u32 + 1,
            start: place.start as u32,
            header: place.header as u32,
            end: place.end as u32,
            name_start: name_node.start_byte() as u32,
            name_length: u16::try_from(name.len()).unwrap_or(u16::MAX),
            parent: self.around.iter().rev().find_map(|open| open.position),
            signature: self.signature(node, &place),
            doc: self
                .comments
                .doc_before(self.content, place.row)
                .and_then(|doc| first_paragraph(&doc)),
            decorators: Box::default(),
            calls: Box::default(),
        });
        if !is_variable {
            let is_type = matches!(kind, DefinitionKind::Class | DefinitionKind::Interface);
            self.open(
                depth,
                Some(position),
                qualified.into(),
                kind.is_function(),
                is_type,
            );
        }
    }

    fn kind_of(
        &self,
        node: &Node<'_>,
        rule: &Rule,
        has_receiver: bool,
        name: &str,
    ) -> Option<DefinitionKind> {
        let in_type = has_receiver || self.around.last().is_some_and(|open| open.is_type);
        let function = if in_type {
            DefinitionKind::Method
        } else {
            DefinitionKind::Function
        };
        Some(match rule.shape {
            Shape::Function => function,
            Shape::Type => match node.child_by_field_name("type").map(|kind| kind.kind()) {
                Some("interface_type") => DefinitionKind::Interface,
                Some(_) | None => DefinitionKind::Class,
            },
            Shape::Interface => DefinitionKind::Interface,
            Shape::Module => DefinitionKind::Module,
            Shape::Macro => DefinitionKind::Macro,
            Shape::Value => match node.child_by_field_name("value") {
                Some(value) if is_among(ANONYMOUS, value.kind()) => function,
                Some(_) | None => DefinitionKind::Variable,
            },
            // Ruby's only outer variables are constants; its other assignments are locals of a script.
            Shape::Variable
                if node.kind() == "assignment" && !name.starts_with(char::is_uppercase) =>
            {
                return None;
            }
            Shape::Variable => DefinitionKind::Variable,
            Shape::Scope => return None,
        })
    }

    /// Returns where a definition is, with what belongs to it: attributes, `export`, `template`, `const`.
    fn place(&self, node: &Node<'t>) -> Place {
        let mut whole = *node;
        let mut header = *node;
        for &parent in self.path.iter().rev() {
            let is_declaration = matches!(
                parent.kind(),
                "lexical_declaration"
                    | "variable_declaration"
                    | "type_declaration"
                    | "const_declaration"
                    | "var_declaration"
                    | "field_declaration"
                    | "declaration"
            );
            match parent.kind() {
                "export_statement" | "template_declaration" => whole = parent,
                _ if is_declaration && is_alone(&parent, node) => {
                    (whole, header) = (parent, parent);
                }
                _ => break,
            }
        }
        let (mut start, mut row) = (whole.start_byte(), whole.start_position().row);
        if let Some(before) = self.attribute {
            (start, row) = (start.min(before.start), row.min(before.row));
        }
        let end = whole.end_byte().max(node.end_byte());
        let end = self
            .content
            .get(start..end)
            .map_or(end, |text| start + text.trim_end().len());
        Place {
            start,
            header: header.start_byte(),
            end,
            row,
        }
    }

    fn signature(&self, node: &Node<'_>, place: &Place) -> Box<str> {
        let value_body = node
            .child_by_field_name("value")
            .and_then(|value| value.child_by_field_name("body"));
        let body = node.child_by_field_name("body").or(value_body);
        let end = body.map_or(place.end, |body| body.start_byte());
        let text = self.content.get(place.header..end).unwrap_or("");
        let text = if body.is_none() {
            text.split(['{', '\n']).next().unwrap_or(text)
        } else {
            text
        };
        let text = text.trim_end().trim_end_matches(['{', ';', ' ']);
        let text = text
            .strip_suffix("=>")
            .or_else(|| text.strip_suffix('='))
            .unwrap_or(text);
        one_line(text, SIGNATURE_LENGTH)
    }
}

/// Says whether a declaration declares only this: `const a = 1`, not `const a = 1, b = 2`.
fn is_alone(declaration: &Node<'_>, node: &Node<'_>) -> bool {
    let mut cursor = declaration.walk();
    let alike = declaration
        .named_children(&mut cursor)
        .filter(|child| child.kind_id() == node.kind_id())
        .take(2);
    alike.count() <= 1
}

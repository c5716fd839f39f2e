//! Definitions, imports, calls and names of a Python file, from its exact syntax tree.

mod recovery;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Decorator, Expr, ExprContext, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use crate::language::python::{ParsedModule, is_type_checking};
use crate::symbols::{
    Definition, DefinitionKind, Facts, Import, ImportTime, ImportedName, Lines, NameCollector,
    NameId, SIGNATURE_LENGTH, first_paragraph, one_line, sorted,
};

/// Reads the facts of a parsed module.
pub(super) fn facts(content: &str, module: &ParsedModule) -> Facts {
    let mut reader = Reader {
        content,
        lines: Lines::of(content),
        names: NameCollector::default(),
        facts: Facts {
            broken: module.has_invalid_syntax(),
            ..Facts::default()
        },
        around: Vec::new(),
        variables: FxHashSet::default(),
        dotted: FxHashSet::default(),
        when: ImportTime::Start,
        kind: Around::Module,
    };
    reader.facts.doc = docstring(module.suite());
    reader.visit_body(module.suite());
    if reader.facts.broken {
        recovery::recover(content, module, &mut reader);
    }
    let mut dotted: Vec<Box<str>> = reader.dotted.into_iter().collect();
    dotted.sort_unstable();
    reader.facts.dotted = dotted.into();
    reader.facts.names = reader.names.finish();
    reader.facts
}

/// What the reader is directly inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Module,
    Class,
    Function,
}

/// A definition that is being read.
struct Open {
    position: u32,
    calls: Vec<NameId>,
}

struct Reader<'a> {
    content: &'a str,
    lines: Lines,
    names: NameCollector<'a>,
    facts: Facts,
    around: Vec<Open>,
    /// Variables already seen, by the definition around them: only the first binding counts.
    variables: FxHashSet<(Option<u32>, &'a str)>,
    dotted: FxHashSet<Box<str>>,
    when: ImportTime,
    kind: Around,
}

impl<'a> Reader<'a> {
    /// Forgets what was read from this offset on; definitions that reach beyond it end before it.
    fn cut(&mut self, at: u32) {
        let first = self.facts.definitions.iter().position(|d| d.start >= at);
        self.facts
            .definitions
            .truncate(first.unwrap_or(self.facts.definitions.len()));
        let end = self
            .content
            .get(..at as usize)
            .map_or(at, |before| before.trim_end().len() as u32);
        let (line, last) = (self.lines.line(at), self.lines.line(end.saturating_sub(1)));
        for definition in self.facts.definitions.iter_mut().filter(|d| d.end > at) {
            definition.end = end.max(definition.name_start + u32::from(definition.name_length));
            definition.end_line = last.max(definition.line);
        }
        self.facts.imports.retain(|import| import.line < line);
    }

    fn parent(&self) -> Option<u32> {
        self.around.last().map(|open| open.position)
    }

    fn qualified(&self, name: &str) -> Box<str> {
        match self
            .parent()
            .and_then(|at| self.facts.definitions.get(at as usize))
        {
            Some(parent) => format!("{}.{name}", parent.qualified).into(),
            None => name.into(),
        }
    }

    /// Takes note of a name as it is written.
    fn name(&mut self, range: TextRange) -> NameId {
        let text = self.slice(range.start().to_u32(), range.end().to_u32());
        self.names.id(text)
    }

    fn slice(&self, start: u32, end: u32) -> &'a str {
        self.content.get(start as usize..end as usize).unwrap_or("")
    }

    fn define(
        &mut self,
        kind: DefinitionKind,
        name: &str,
        whole: TextRange,
        named: TextRange,
        signature: Box<str>,
    ) -> u32 {
        let position = self.facts.definitions.len() as u32;
        self.facts.definitions.push(Definition {
            qualified: self.qualified(name),
            kind,
            line: self.lines.line(named.start().to_u32()),
            end_line: self.lines.line(
                whole
                    .end()
                    .to_u32()
                    .saturating_sub(1)
                    .max(whole.start().to_u32()),
            ),
            start: whole.start().to_u32(),
            header: whole.start().to_u32(),
            end: whole.end().to_u32(),
            name_start: named.start().to_u32(),
            name_length: u16::try_from(name.len()).unwrap_or(u16::MAX),
            parent: self.parent(),
            signature,
            doc: None,
            decorators: Box::default(),
            calls: Box::default(),
        });
        position
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        let named = function.name.range();
        let end = function
            .returns
            .as_ref()
            .map_or(function.parameters.end(), |returns| returns.end());
        let keyword = if function.is_async {
            "async def "
        } else {
            "def "
        };
        let header = self.slice(named.start().to_u32(), end.to_u32());
        let signature = one_line(&format!("{keyword}{header}"), SIGNATURE_LENGTH);
        let kind = if self.kind == Around::Class {
            DefinitionKind::Method
        } else {
            DefinitionKind::Function
        };
        let position = self.define(kind, &function.name, function.range(), named, signature);
        self.describe(position, &function.decorator_list, &function.body);
        self.enter(position, Around::Function, |reader| {
            if let Some(type_params) = &function.type_params {
                reader.visit_type_params(type_params);
            }
            reader.visit_parameters(&function.parameters);
            if let Some(returns) = &function.returns {
                reader.visit_annotation(returns);
            }
            reader.visit_body(&function.body);
        });
    }

    fn class(&mut self, class: &StmtClassDef) {
        let named = class.name.range();
        let end = class
            .arguments
            .as_ref()
            .map_or(named.end(), |arguments| arguments.end());
        let header = self.slice(named.start().to_u32(), end.to_u32());
        let signature = one_line(&format!("class {header}"), SIGNATURE_LENGTH);
        let position = self.define(
            DefinitionKind::Class,
            &class.name,
            class.range(),
            named,
            signature,
        );
        self.describe(position, &class.decorator_list, &class.body);
        self.enter(position, Around::Class, |reader| {
            if let Some(type_params) = &class.type_params {
                reader.visit_type_params(type_params);
            }
            if let Some(arguments) = &class.arguments {
                reader.visit_arguments(arguments);
            }
            reader.visit_body(&class.body);
        });
    }

    fn describe(&mut self, position: u32, decorators: &[Decorator], body: &[Stmt]) {
        let texts = decorators.iter().map(|d| {
            one_line(
                self.slice(d.expression.start().to_u32(), d.expression.end().to_u32()),
                80,
            )
        });
        let texts: Box<[Box<str>]> = texts.collect();
        for decorator in decorators {
            self.visit_expr(&decorator.expression);
        }
        if let Some(definition) = self.facts.definitions.get_mut(position as usize) {
            definition.doc = docstring(body);
            if let Some(last) = decorators.last() {
                definition.header =
                    header_after(self.content, last.end().to_u32()).min(definition.end);
            }
            definition.decorators = texts;
        }
    }

    fn enter(&mut self, position: u32, kind: Around, read: impl FnOnce(&mut Self)) {
        let (outer_kind, outer_when) = (self.kind, self.when);
        self.kind = kind;
        if kind == Around::Function && outer_when != ImportTime::Typing {
            self.when = ImportTime::Later;
        }
        self.around.push(Open {
            position,
            calls: Vec::new(),
        });
        read(self);
        if let Some(open) = self.around.pop()
            && let Some(definition) = self.facts.definitions.get_mut(open.position as usize)
        {
            definition.calls = sorted(open.calls);
        }
        (self.kind, self.when) = (outer_kind, outer_when);
    }

    fn during(&mut self, when: ImportTime, read: impl FnOnce(&mut Self)) {
        let outer = self.when;
        if matches!(outer, ImportTime::Start | ImportTime::Guarded) {
            self.when = when;
        }
        read(self);
        self.when = outer;
    }

    fn variable(&mut self, target: &Expr, whole: TextRange) {
        match target {
            Expr::Name(name) => {
                let parent = self.parent();
                let text = self.slice(name.start().to_u32(), name.end().to_u32());
                if self.kind != Around::Function && self.variables.insert((parent, text)) {
                    let statement = self.slice(whole.start().to_u32(), whole.end().to_u32());
                    let first_line = statement.lines().next().unwrap_or("");
                    let signature = one_line(first_line, 80);
                    self.define(
                        DefinitionKind::Variable,
                        text,
                        whole,
                        name.range(),
                        signature,
                    );
                }
            }
            Expr::Tuple(tuple) => tuple
                .elts
                .iter()
                .for_each(|target| self.variable(target, whole)),
            Expr::List(list) => list
                .elts
                .iter()
                .for_each(|target| self.variable(target, whole)),
            _ => {}
        }
    }

    fn import(&mut self, statement: &Stmt) {
        let line = self.lines.line(statement.start().to_u32());
        let when = self.when;
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.facts.imports.push(Import {
                        module: alias.name.as_str().into(),
                        level: 0,
                        names: Box::default(),
                        alias: alias.asname.as_ref().map(|name| name.as_str().into()),
                        line,
                        when,
                    });
                }
            }
            Stmt::ImportFrom(import) => {
                let names = import.names.iter().map(|alias| ImportedName {
                    name: alias.name.as_str().into(),
                    alias: alias.asname.as_ref().map(|name| name.as_str().into()),
                });
                self.facts.imports.push(Import {
                    module: import
                        .module
                        .as_ref()
                        .map_or("", |module| module.as_str())
                        .into(),
                    level: u8::try_from(import.level).unwrap_or(u8::MAX),
                    names: names.collect(),
                    alias: None,
                    line,
                    when,
                });
            }
            _ => {}
        }
    }
}

impl<'v> Visitor<'v> for Reader<'_> {
    fn visit_stmt(&mut self, statement: &'v Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(statement),
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.variable(target, assign.range());
                }
                walk_stmt(self, statement);
            }
            Stmt::AnnAssign(assign) => {
                self.variable(&assign.target, assign.range());
                walk_stmt(self, statement);
            }
            Stmt::AugAssign(assign) => {
                self.variable(&assign.target, assign.range());
                walk_stmt(self, statement);
            }
            Stmt::TypeAlias(alias) => {
                self.variable(&alias.name, alias.range());
                walk_stmt(self, statement);
            }
            Stmt::Try(_) => self.during(ImportTime::Guarded, |reader| walk_stmt(reader, statement)),
            Stmt::If(branch) if self.around.is_empty() && is_main_guard(&branch.test) => {
                self.facts.runnable = true;
                walk_stmt(self, statement);
            }
            Stmt::If(branch) if is_type_checking(&branch.test) => {
                self.during(ImportTime::Typing, |reader| walk_stmt(reader, statement));
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'v Expr) {
        match expression {
            Expr::Name(name) => {
                if !matches!(name.ctx, ExprContext::Invalid) {
                    self.name(name.range());
                }
            }
            Expr::Attribute(attribute) => {
                self.name(attribute.attr.range());
                self.visit_expr(&attribute.value);
            }
            Expr::Call(call) => {
                let called = match &*call.func {
                    Expr::Name(name) => Some(name.range()),
                    Expr::Attribute(attribute) => Some(attribute.attr.range()),
                    _ => None,
                };
                if let Some(called) = called {
                    let id = self.name(called);
                    if let Some(open) = self.around.last_mut() {
                        open.calls.push(id);
                    }
                }
                walk_expr(self, expression);
            }
            Expr::StringLiteral(string) => {
                if let Some(literal) = string.as_single_part_string()
                    && is_dotted(&literal.value)
                    && !self.dotted.contains(&*literal.value)
                {
                    self.dotted.insert((&*literal.value).into());
                }
            }
            _ => walk_expr(self, expression),
        }
    }
}

/// Says whether a string has the shape `a.b` or `a.b:c`, as module and entry point names have.
fn is_dotted(text: &str) -> bool {
    let plausible =
        text.len() >= 3 && text.len() <= 120 && memchr::memchr(b'.', text.as_bytes()).is_some();
    plausible
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.split(['.', ':']).all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
}

/// Says whether this is the test of `if __name__ == "__main__"`.
fn is_main_guard(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else {
        return false;
    };
    let is_name = |side: &Expr| {
        side.as_name_expr()
            .is_some_and(|name| name.id.as_str() == "__name__")
    };
    is_name(&compare.left) || compare.comparators.iter().any(is_name)
}

/// Returns where the keyword after a decorator starts; comments may stand between.
fn header_after(content: &str, end: u32) -> u32 {
    let mut at = end as usize;
    // The rest of the decorator's own line is a comment at most.
    while let Some(newline) = content.get(at..).and_then(|rest| rest.find('\n')) {
        at += newline + 1;
        let line = content.get(at..).unwrap_or("");
        let code = line.trim_start_matches([' ', '\t', '\x0c', '\r']);
        if !code.starts_with(['#', '\n']) {
            return (at + line.len() - code.len()) as u32;
        }
    }
    end
}

/// Returns the first paragraph of the string that opens a body.
fn docstring(body: &[Stmt]) -> Option<Box<str>> {
    let Some(Stmt::Expr(first)) = body.first() else {
        return None;
    };
    let Expr::StringLiteral(string) = &*first.value else {
        return None;
    };
    first_paragraph(string.value.to_str())
}

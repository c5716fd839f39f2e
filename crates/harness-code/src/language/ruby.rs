//! Ruby by its grammar.

use crate::language::grammar::{Grammar, Importing, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_ruby::LANGUAGE.into(),
    definitions: &[
        Rule::named("method", Shape::Function),
        Rule::named("singleton_method", Shape::Function),
        Rule::named("class", Shape::Type),
        Rule::named("module", Shape::Module),
        Rule::outside("assignment", "left"),
    ],
    calls: &[("call", "method")],
    imports: &[("call", Importing::Call("require require_relative load"))],
    names: "identifier constant instance_variable simple_symbol",
    comments: "comment",
    strings: "string",
};

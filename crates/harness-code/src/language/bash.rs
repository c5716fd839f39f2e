//! Shell scripts by the grammar of bash.

use crate::language::grammar::{Grammar, Importing, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_bash::LANGUAGE.into(),
    definitions: &[
        Rule::named("function_definition", Shape::Function),
        Rule::outside("variable_assignment", "name"),
    ],
    calls: &[("command", "name")],
    imports: &[("command", Importing::Call("source ."))],
    names: "variable_name command_name",
    comments: "comment",
    strings: "string raw_string",
};

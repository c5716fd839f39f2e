//! Ruby by its grammar.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape, When};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_ruby::LANGUAGE.into(),
    definitions: &[
        Rule::named("method", Shape::Function),
        Rule::named("singleton_method", Shape::Function),
        Rule::named("class", Shape::Type),
        Rule::named("module", Shape::Module),
        Rule {
            node: "assignment",
            shape: Shape::Variable,
            name: NameAt::Field("left"),
            when: When::OutsideFunctions,
        },
    ],
    calls: &[("call", "method")],
    imports: &[(
        "call",
        Importing::Call(&["require", "require_relative", "load"]),
    )],
    names: &[
        "identifier",
        "constant",
        "instance_variable",
        "simple_symbol",
    ],
    comments: &["comment"],
    strings: &["string"],
};

//! C by its grammar.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape, When};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_c::LANGUAGE.into(),
    definitions: &[
        Rule {
            node: "function_definition",
            shape: Shape::Function,
            name: NameAt::Declarator,
            when: When::Always,
        },
        Rule::with_body("struct_specifier", Shape::Type),
        Rule::with_body("union_specifier", Shape::Type),
        Rule::with_body("enum_specifier", Shape::Type),
        Rule {
            node: "type_definition",
            shape: Shape::Type,
            name: NameAt::Declarator,
            when: When::Always,
        },
        Rule::named("preproc_function_def", Shape::Macro),
        Rule {
            node: "init_declarator",
            shape: Shape::Variable,
            name: NameAt::Declarator,
            when: When::OutsideFunctions,
        },
    ],
    calls: &[("call_expression", "function")],
    imports: &[("preproc_include", Importing::Field("path"))],
    names: &["identifier", "type_identifier", "field_identifier"],
    comments: &["comment"],
    strings: &["string_literal"],
};

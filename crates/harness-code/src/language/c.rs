//! C by its grammar.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_c::LANGUAGE.into(),
    definitions: &[
        Rule::named("function_definition", Shape::Function).at(NameAt::Declarator),
        Rule::with_body("struct_specifier", Shape::Type),
        Rule::with_body("union_specifier", Shape::Type),
        Rule::with_body("enum_specifier", Shape::Type),
        Rule::named("type_definition", Shape::Type).at(NameAt::Declarator),
        Rule::named("preproc_function_def", Shape::Macro),
        Rule::named("init_declarator", Shape::Variable)
            .at(NameAt::Declarator)
            .outside_functions(),
    ],
    calls: &[("call_expression", "function")],
    imports: &[("preproc_include", Importing::Field("path"))],
    names: "identifier type_identifier field_identifier",
    comments: "comment",
    strings: "string_literal",
};

//! C++ by its grammar.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_cpp::LANGUAGE.into(),
    definitions: &[
        Rule::named("function_definition", Shape::Function).at(NameAt::Declarator),
        Rule::with_body("class_specifier", Shape::Type),
        Rule::with_body("struct_specifier", Shape::Type),
        Rule::with_body("union_specifier", Shape::Type),
        Rule::with_body("enum_specifier", Shape::Type),
        Rule::with_body("namespace_definition", Shape::Module),
        Rule::named("alias_declaration", Shape::Type),
        Rule::named("concept_definition", Shape::Interface),
        Rule::named("type_definition", Shape::Type).at(NameAt::Declarator),
        Rule::named("preproc_function_def", Shape::Macro),
        Rule::named("init_declarator", Shape::Variable)
            .at(NameAt::Declarator)
            .outside_functions(),
    ],
    calls: &[("call_expression", "function"), ("new_expression", "type")],
    imports: &[("preproc_include", Importing::Field("path"))],
    names: "identifier type_identifier field_identifier namespace_identifier",
    comments: "comment",
    strings: "string_literal raw_string_literal",
};

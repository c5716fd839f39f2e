//! C++ by its grammar.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape, When};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_cpp::LANGUAGE.into(),
    definitions: &[
        Rule {
            node: "function_definition",
            shape: Shape::Function,
            name: NameAt::Declarator,
            when: When::Always,
        },
        Rule::with_body("class_specifier", Shape::Type),
        Rule::with_body("struct_specifier", Shape::Type),
        Rule::with_body("union_specifier", Shape::Type),
        Rule::with_body("enum_specifier", Shape::Type),
        Rule::with_body("namespace_definition", Shape::Module),
        Rule::named("alias_declaration", Shape::Type),
        Rule::named("concept_definition", Shape::Interface),
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
    calls: &[("call_expression", "function"), ("new_expression", "type")],
    imports: &[("preproc_include", Importing::Field("path"))],
    names: &[
        "identifier",
        "type_identifier",
        "field_identifier",
        "namespace_identifier",
    ],
    comments: &["comment"],
    strings: &["string_literal", "raw_string_literal"],
};

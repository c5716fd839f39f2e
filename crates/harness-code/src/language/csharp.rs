//! C# by its grammar.

use crate::language::grammar::{Grammar, Importing, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_c_sharp::LANGUAGE.into(),
    definitions: &[
        Rule::named("class_declaration", Shape::Type),
        Rule::named("struct_declaration", Shape::Type),
        Rule::named("enum_declaration", Shape::Type),
        Rule::named("record_declaration", Shape::Type),
        Rule::named("delegate_declaration", Shape::Type),
        Rule::named("interface_declaration", Shape::Interface),
        Rule::with_body("namespace_declaration", Shape::Module),
        Rule::named("method_declaration", Shape::Function),
        Rule::named("constructor_declaration", Shape::Function),
        Rule::named("local_function_statement", Shape::Function),
        Rule::outside("property_declaration", "name"),
        Rule::outside("variable_declarator", "name"),
    ],
    calls: &[
        ("invocation_expression", "function"),
        ("object_creation_expression", "type"),
    ],
    imports: &[("using_directive", Importing::Words("global using static"))],
    names: "identifier",
    comments: "comment",
    strings: "string_literal verbatim_string_literal interpolated_string_expression",
};

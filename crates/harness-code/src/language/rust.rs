//! Rust by its grammar.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_rust::LANGUAGE.into(),
    definitions: &[
        Rule::named("function_item", Shape::Function),
        Rule::named("function_signature_item", Shape::Function),
        Rule::named("struct_item", Shape::Type),
        Rule::named("enum_item", Shape::Type),
        Rule::named("union_item", Shape::Type),
        Rule::named("type_item", Shape::Type),
        Rule::named("trait_item", Shape::Interface),
        Rule::with_body("mod_item", Shape::Module),
        Rule::named("macro_definition", Shape::Macro),
        Rule::outside("const_item", "name"),
        Rule::outside("static_item", "name"),
        Rule::named("impl_item", Shape::Scope).at(NameAt::Field("type")),
    ],
    calls: &[
        ("call_expression", "function"),
        ("macro_invocation", "macro"),
    ],
    imports: &[
        ("use_declaration", Importing::RustUse),
        ("mod_item", Importing::RustMod),
    ],
    names: "identifier type_identifier field_identifier shorthand_field_identifier",
    comments: "line_comment block_comment",
    strings: "string_literal raw_string_literal",
};

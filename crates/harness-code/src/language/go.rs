//! Go by its grammar.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_go::LANGUAGE.into(),
    definitions: &[
        Rule::named("function_declaration", Shape::Function),
        Rule::named("method_declaration", Shape::Function).at(NameAt::Receiver),
        Rule::named("type_spec", Shape::Type),
        Rule::named("type_alias", Shape::Type),
        Rule::outside("const_spec", "name"),
        Rule::outside("var_spec", "name"),
    ],
    calls: &[("call_expression", "function")],
    imports: &[("import_spec", Importing::Field("path"))],
    names: "identifier type_identifier field_identifier package_identifier",
    comments: "comment",
    strings: "interpreted_string_literal raw_string_literal",
};

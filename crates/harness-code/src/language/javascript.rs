//! JavaScript, JSX included, by its grammar.

use crate::language::grammar::{Grammar, NameAt, Rule, SCRIPT_CALLS, SCRIPT_IMPORTS, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_javascript::LANGUAGE.into(),
    definitions: &[
        Rule::named("function_declaration", Shape::Function),
        Rule::named("generator_function_declaration", Shape::Function),
        Rule::named("class_declaration", Shape::Type),
        Rule::named("method_definition", Shape::Function),
        Rule::named("variable_declarator", Shape::Value).outside_functions(),
        Rule::named("field_definition", Shape::Value).at(NameAt::Field("property")),
    ],
    calls: SCRIPT_CALLS,
    imports: SCRIPT_IMPORTS,
    names: "\
        identifier property_identifier shorthand_property_identifier \
        shorthand_property_identifier_pattern private_property_identifier",
    comments: "comment",
    strings: "string template_string",
};

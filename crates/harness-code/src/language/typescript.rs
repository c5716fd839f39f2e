//! TypeScript, with and without JSX, by its grammars.

use crate::language::grammar::{Grammar, Rule, SCRIPT_CALLS, SCRIPT_IMPORTS, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    ..TABLE
};

pub(crate) const TSX: Grammar = Grammar {
    tables: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    ..TABLE
};

const TABLE: Grammar = Grammar {
    tables: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    definitions: &[
        Rule::named("function_declaration", Shape::Function),
        Rule::named("generator_function_declaration", Shape::Function),
        Rule::named("function_signature", Shape::Function),
        Rule::named("class_declaration", Shape::Type),
        Rule::named("abstract_class_declaration", Shape::Type),
        Rule::named("enum_declaration", Shape::Type),
        Rule::named("type_alias_declaration", Shape::Type),
        Rule::named("interface_declaration", Shape::Interface),
        Rule::named("method_definition", Shape::Function),
        Rule::named("method_signature", Shape::Function),
        Rule::named("abstract_method_signature", Shape::Function),
        Rule::named("internal_module", Shape::Module),
        Rule::with_body("module", Shape::Module),
        Rule::named("variable_declarator", Shape::Value).outside_functions(),
        Rule::named("public_field_definition", Shape::Value),
    ],
    calls: SCRIPT_CALLS,
    imports: SCRIPT_IMPORTS,
    names: "\
        identifier property_identifier type_identifier shorthand_property_identifier \
        shorthand_property_identifier_pattern private_property_identifier",
    comments: "comment",
    strings: "string template_string",
};

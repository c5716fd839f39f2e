//! Java by its grammar.

use crate::language::grammar::{Grammar, Importing, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_java::LANGUAGE.into(),
    definitions: &[
        Rule::named("class_declaration", Shape::Type),
        Rule::named("enum_declaration", Shape::Type),
        Rule::named("record_declaration", Shape::Type),
        Rule::named("interface_declaration", Shape::Interface),
        Rule::named("annotation_type_declaration", Shape::Interface),
        Rule::named("method_declaration", Shape::Function),
        Rule::named("constructor_declaration", Shape::Function),
        Rule::named("compact_constructor_declaration", Shape::Function),
        Rule::outside("variable_declarator", "name"),
        Rule::outside("enum_constant", "name"),
    ],
    calls: &[
        ("method_invocation", "name"),
        ("object_creation_expression", "type"),
    ],
    imports: &[("import_declaration", Importing::Words("import static"))],
    names: "identifier type_identifier",
    comments: "line_comment block_comment",
    strings: "string_literal",
};

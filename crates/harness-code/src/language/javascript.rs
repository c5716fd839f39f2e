//! JavaScript, JSX included, by its grammar.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape, When};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_javascript::LANGUAGE.into(),
    definitions: &[
        Rule::named("function_declaration", Shape::Function),
        Rule::named("generator_function_declaration", Shape::Function),
        Rule::named("class_declaration", Shape::Type),
        Rule::named("method_definition", Shape::Function),
        Rule {
            node: "variable_declarator",
            shape: Shape::Value,
            name: NameAt::Field("name"),
            when: When::OutsideFunctions,
        },
        Rule {
            node: "field_definition",
            shape: Shape::Value,
            name: NameAt::Field("property"),
            when: When::Always,
        },
    ],
    calls: &[
        ("call_expression", "function"),
        ("new_expression", "constructor"),
        ("jsx_opening_element", "name"),
        ("jsx_self_closing_element", "name"),
    ],
    imports: &[
        ("import_statement", Importing::JavaScript),
        ("export_statement", Importing::JavaScript),
        ("call_expression", Importing::Call(&["require", "import"])),
    ],
    names: &[
        "identifier",
        "property_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "private_property_identifier",
    ],
    comments: &["comment"],
    strings: &["string", "template_string"],
};

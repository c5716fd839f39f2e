//! TypeScript, with and without JSX, by its grammars.

use crate::language::grammar::{Grammar, Importing, NameAt, Rule, Shape, When};

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
        Rule {
            node: "variable_declarator",
            shape: Shape::Value,
            name: NameAt::Field("name"),
            when: When::OutsideFunctions,
        },
        Rule {
            node: "public_field_definition",
            shape: Shape::Value,
            name: NameAt::Field("name"),
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
        "type_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "private_property_identifier",
    ],
    comments: &["comment"],
    strings: &["string", "template_string"],
};

//! PHP, with the HTML around it, by its grammar.

use crate::language::grammar::{Grammar, Importing, Rule, Shape};

pub(crate) const GRAMMAR: Grammar = Grammar {
    tables: || tree_sitter_php::LANGUAGE_PHP.into(),
    definitions: &[
        Rule::named("function_definition", Shape::Function),
        Rule::named("method_declaration", Shape::Function),
        Rule::named("class_declaration", Shape::Type),
        Rule::named("enum_declaration", Shape::Type),
        Rule::named("interface_declaration", Shape::Interface),
        Rule::named("trait_declaration", Shape::Interface),
    ],
    calls: &[
        ("function_call_expression", "function"),
        ("member_call_expression", "name"),
        ("nullsafe_member_call_expression", "name"),
        ("scoped_call_expression", "name"),
    ],
    imports: &[
        (
            "namespace_use_declaration",
            Importing::Words("use function const"),
        ),
        ("require_expression", Importing::Words("require")),
        ("require_once_expression", Importing::Words("require_once")),
        ("include_expression", Importing::Words("include")),
        ("include_once_expression", Importing::Words("include_once")),
    ],
    names: "name",
    comments: "comment",
    strings: "string encapsed_string",
};

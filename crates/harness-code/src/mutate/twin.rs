//! Built-ins and methods that are taken for their twins: `min` and `max`, `append` and `extend`, `lstrip` and `rstrip`.

use ruff_python_ast::Expr;

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node, Role};

/// Families of names that stand in for each other; any may have been meant.
const TWINS: &[&[&str]] = &[
    &["min", "max"],
    &["any", "all"],
    &["sorted", "reversed", "list"],
    &["append", "extend", "insert", "add"],
    &["lstrip", "rstrip", "strip"],
    &["startswith", "endswith"],
    &["floor", "ceil", "trunc", "round"],
    &["int", "float", "round", "str", "bool"],
    &["lower", "upper", "casefold"],
    &["title", "capitalize"],
    &["find", "rfind", "index"],
    &["index", "rindex"],
    &["split", "rsplit", "splitlines"],
    &["partition", "rpartition"],
    &["ljust", "rjust", "center"],
    &["keys", "values", "items"],
    &["add", "discard", "remove"],
    &["remove", "pop", "discard"],
    &["pop", "popleft", "get"],
    &["append", "appendleft"],
    &["update", "setdefault"],
    &[
        "union",
        "intersection",
        "difference",
        "symmetric_difference",
    ],
    &["issubset", "issuperset"],
    &["tuple", "list", "set", "frozenset"],
    &["str", "repr"],
    &["isdigit", "isnumeric", "isdecimal", "isalnum", "isalpha"],
    &["islower", "isupper"],
    &["match", "search", "fullmatch"],
    &["findall", "finditer"],
    &["heappush", "heappushpop", "heapreplace"],
    &["nlargest", "nsmallest"],
    &["bisect_left", "bisect_right", "bisect", "insort"],
    &["insort_left", "insort_right"],
    &["takewhile", "dropwhile"],
    &["chain", "zip", "product"],
    &["zip", "zip_longest"],
    &[
        "permutations",
        "combinations",
        "combinations_with_replacement",
        "product",
    ],
    &["filter", "filterfalse", "map"],
    &["isinstance", "issubclass"],
    &["getattr", "hasattr"],
    &["dirname", "basename"],
    &["realpath", "abspath"],
    &["exists", "isfile", "isdir"],
    &["read", "readline", "readlines"],
    &["write", "writelines"],
    &["encode", "decode"],
    &["dumps", "dump"],
    &["loads", "load"],
    &["sin", "cos", "tan"],
    &["asin", "acos", "atan"],
    &["log", "log2", "log10", "log1p", "exp"],
    &["radians", "degrees"],
    &["gcd", "lcm"],
    &["year", "month", "day", "hour", "minute", "second"],
    &["days", "seconds"],
    &["utcnow", "now"],
    &["group", "groups", "groupdict"],
    &["start", "end", "span"],
    &["appendleft", "append"],
    &["popleft", "pop", "popitem"],
    &["sum", "len", "max", "min"],
    &["lru_cache", "cache"],
    &["removeprefix", "removesuffix"],
    &["head", "tail"],
    &["first", "last"],
    &["left", "right"],
    &["prev", "next", "previous", "successor", "predecessor"],
    &["parent", "child", "children"],
    &["width", "height"],
    &["x", "y", "z"],
    &["row", "col", "column"],
    &["start", "stop", "end", "step"],
    &["key", "value"],
    &["min_value", "max_value"],
    &["lower", "upper"],
    &["real", "imag"],
    &["args", "kwargs"],
    &["from_bytes", "to_bytes"],
    &["popitem", "pop"],
    &["quote", "unquote"],
    &["escape", "unescape"],
    &["copy", "deepcopy"],
    &["stdout", "stderr"],
    &["ord", "chr"],
    &["hex", "oct", "bin"],
    &["isspace", "strip"],
    &["classmethod", "staticmethod"],
    &["setattr", "getattr", "delattr"],
    &["iter", "next"],
    &["enumerate", "zip", "range"],
    &["quantize", "normalize"],
    &["prefix", "suffix"],
    &["__eq__", "__ne__"],
    &["__lt__", "__gt__", "__le__", "__ge__"],
    &["__add__", "__radd__", "__sub__"],
    &["acquire", "release"],
    &["ljust", "zfill"],
    &["swapcase", "lower"],
    &["count", "index", "find"],
    &["intersection_update", "difference_update"],
    &["isidentifier", "isalpha"],
    &["translate", "replace"],
    &["format", "format_map"],
    &["expandtabs", "strip"],
    &["extend", "update"],
    &["fromkeys", "from_iterable"],
];

/// Types that are taken for each other where a value's type is asked.
const TYPES: &[&[&str]] = &[
    &["str", "bytes"],
    &["list", "tuple", "set", "dict"],
    &["int", "float", "bool"],
    &["dict", "Mapping"],
    &["list", "Sequence", "Iterable"],
];

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    let Node::Expr(expr, role) = node else {
        return;
    };
    match expr {
        Expr::Name(name) => {
            let id = name.id.as_str();
            if found.sight.locals.iter().any(|known| known == id) {
                return;
            }
            let prior = if *role == Role::Callee { 0.6 } else { 0.2 };
            swap(id, bytes(*expr), prior, found);
            if *role != Role::Callee {
                types(id, bytes(*expr), found);
            }
        }
        Expr::Attribute(attribute) => {
            swap(attribute.attr.as_str(), bytes(&attribute.attr), 0.5, found);
        }
        _ => {}
    }
}

fn swap(id: &str, range: std::ops::Range<usize>, prior: f32, found: &mut Found<'_>) {
    for family in TWINS.iter().filter(|family| family.contains(&id)) {
        let prior = if family.len() == 2 {
            prior
        } else {
            prior * 0.7
        };
        for other in family.iter().filter(|other| **other != id) {
            found.add("twin", prior, range.clone(), *other);
        }
    }
}

fn types(id: &str, range: std::ops::Range<usize>, found: &mut Found<'_>) {
    for family in TYPES.iter().filter(|family| family.contains(&id)) {
        for other in family.iter().filter(|other| **other != id) {
            found.add("type", 0.2, range.clone(), *other);
            found.add("type", 0.25, range.clone(), format!("({id}, {other})"));
        }
    }
}

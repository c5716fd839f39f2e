//! What is printed for GitHub Actions without anything that it would take for a command: a line that begins with `::`, or
//! that has `##[` in it.

const NEW_FORM: &str = "::";
const OLD_FORM: &str = "##[";

/// Returns text for people, with a blank in what looks like a command.
pub(super) fn text(text: &str) -> String {
    lines(text, ": :", "# #[")
}

/// Returns a document of which no reader sees a difference where it is JSON or XML; anything else as text.
pub(super) fn document(document: &str) -> String {
    match document.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => lines(document, NEW_FORM, "#\\u0023["),
        Some(b'<') => lines(document, "&#58;:", "#&#35;["),
        Some(_) | None => text(document),
    }
}

fn lines(text: &str, new_form: &str, old_form: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    // A carriage return ends a line for whoever reads the log.
    for line in text.split_inclusive(['\n', '\r']) {
        let words = line.trim_start();
        let (blank, words) = line.split_at(line.len() - words.len());
        harmless.push_str(blank);
        match words.strip_prefix(NEW_FORM) {
            Some(rest) => {
                harmless.push_str(&format!("{new_form}{rest}").replace(OLD_FORM, old_form))
            }
            None => harmless.push_str(&words.replace(OLD_FORM, old_form)),
        }
    }
    harmless
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{document, text};

    #[test]
    fn no_line_is_a_command_any_more() {
        let cases = [
            ("::error::planted\n", ": :error::planted\n"),
            (
                "it says\n  ::add-mask::x\nand a::b\n",
                "it says\n  : :add-mask::x\nand a::b\n",
            ),
            ("x ##[error]y ###[z", "x # #[error]y ## #[z"),
            ("a\r::b::\n", "a\r: :b::\n"),
            ("\u{a0}::c::", "\u{a0}: :c::"),
            ("fn a() {}\n", "fn a() {}\n"),
        ];
        for (said, printed) in cases {
            assert_eq!(text(said), printed);
        }
    }

    #[test]
    fn documents_stay_what_they_are() {
        let json = "{\n  \"a\": \"##[error] ::b\"\n}\n";
        let printed = document(json);
        assert!(!printed.contains("##["));
        let both = [json, &printed].map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(both[0], both[1]);
        assert_eq!(document("<a>\n::b ##[c]</a>"), "<a>\n&#58;:b #&#35;[c]</a>");
    }
}

//! What a person or a model is told about a project, without a model: the brief, the layout and the map.

pub mod brief;
pub mod entry;
pub mod facts;
pub mod finding;
pub mod layout;
mod manifest;
pub mod map;
pub mod overview;

/// Returns a number with thin groups of three digits: `158,984`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `1 file`, `2 files`.
fn counted(number: u64, thing: &str) -> String {
    let ending = match (number, thing.strip_suffix('y')) {
        (1, _) => return format!("1 {thing}"),
        (_, Some(stem)) if !thing.ends_with("ey") => {
            return format!("{} {stem}ies", grouped(number));
        }
        (_, _) => "s",
    };
    format!("{} {thing}{ending}", grouped(number))
}

/// Returns `text` cut to `longest` characters at a word, without control characters.
fn clipped(text: &str, longest: usize) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if clean.chars().count() <= longest {
        return clean;
    }
    let cut: String = clean.chars().take(longest.saturating_sub(1)).collect();
    let whole = match cut.rfind(' ') {
        Some(space) if space > longest / 2 => &cut[..space],
        Some(_) | None => &cut,
    };
    format!("{}…", whole.trim_end_matches([' ', ',', '.', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_for_a_person() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(158_984), "158,984");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(1234, "entry"), "1,234 entries");
        assert_eq!(clipped("one two three four", 12), "one two…");
        assert_eq!(clipped("a\u{1b}[31mb", 20), "a [31mb");
    }
}

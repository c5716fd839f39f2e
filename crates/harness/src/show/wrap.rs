//! Lays prose out for a terminal: a line that does not fit goes on in the next at a word. Code and commands stay whole.

use unicode_width::UnicodeWidthStr;

/// Where a command begins that is to be copied.
const COMMAND: &str = ": harness ";
/// Lines that begin so are code or the output of a program.
const CODE_INDENT: &str = "    ";

/// Returns the text with no word broken where it fits into the columns. Fenced and indented code is left as it is.
pub(super) fn wrapped(text: &str, columns: usize) -> String {
    let mut laid = String::with_capacity(text.len());
    let mut is_fenced = false;
    for line in text.split_inclusive('\n') {
        let words = line.strip_suffix('\n').unwrap_or(line);
        let is_fence = words.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        let is_code = is_fenced || is_fence || words.starts_with(CODE_INDENT);
        if is_code || words.width() <= columns {
            laid.push_str(words);
        } else {
            lay_out(words, columns, &mut laid);
        }
        laid.push_str(&line[words.len()..]);
    }
    laid
}

/// Returns how far the lines that continue this one are indented: below the text of a list item or of a second column.
pub(super) fn hanging_indent(line: &str, columns: usize) -> usize {
    let words = line.trim_start();
    let before = line.len() - words.len();
    let column = words.find("  ").map(|gap| {
        let after = words[gap..].trim_start();
        before + words[..words.len() - after.len()].width()
    });
    if let Some(column) = column.filter(|column| *column < columns / 2) {
        return column;
    }
    let marker = words.split(' ').next().unwrap_or_default();
    let number = marker.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    match matches!(marker, "-" | "*" | "+") || is_number {
        true => before + marker.len() + 1,
        false => before,
    }
}

fn lay_out(line: &str, columns: usize, laid: &mut String) {
    let indent = hanging_indent(line, columns);
    let mut used = 0;
    for piece in pieces(line, columns - indent.min(columns)) {
        let words = piece.trim_start();
        if used > indent && used + piece.width() > columns {
            laid.push('\n');
            laid.extend(std::iter::repeat_n(' ', indent));
            laid.push_str(words);
            used = indent + words.width();
        } else {
            laid.push_str(piece);
            used += piece.width();
        }
        // The terminal breaks a word that is wider than itself.
        if used > columns {
            used = (used - 1) % columns + 1;
        }
    }
}

/// Cuts a line before its spaces; what stands in backticks and a command at its end are one piece where they fit.
fn pieces(line: &str, room: usize) -> Vec<&str> {
    let command = line.find(COMMAND).map_or(line.len(), |at| at + 1);
    let command = Some(command).filter(|at| line[*at..].trim_start().width() <= room);
    let (prose, command) = line.split_at(command.unwrap_or(line.len()));
    let mut pieces = Vec::new();
    let mut rest = prose;
    while !rest.is_empty() {
        let (end, next) = match rest.trim_start().starts_with('`') {
            true => (quoted_end(rest, room), word_end(rest)),
            false => (None, word_end(rest)),
        };
        let (piece, after) = rest.split_at(end.unwrap_or(next));
        pieces.push(piece);
        rest = after;
    }
    pieces.extend(Some(command).filter(|command| !command.is_empty()));
    pieces
}

/// Returns where the next word ends.
fn word_end(text: &str) -> usize {
    let start = text.len() - text.trim_start_matches(' ').len();
    text[start..].find(' ').map_or(text.len(), |at| start + at)
}

/// Returns where the word ends that closes the backticks which the text begins with, unless that is too far.
fn quoted_end(text: &str, room: usize) -> Option<usize> {
    let start = text.find('`')? + 1;
    let close = start + text[start..].find('`')? + 1;
    let end = close + text[close..].find(' ').unwrap_or(text.len() - close);
    (text[..end].trim_start().width() <= room).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[track_caller]
    fn check(text: &str, columns: usize, laid_out: &str) {
        assert_eq!(wrapped(text, columns), laid_out);
    }

    #[test]
    fn a_line_breaks_between_words() {
        check("one two three four\n", 10, "one two\nthree four\n");
        check("naïve → 漢字漢字 end", 12, "naïve →\n漢字漢字 end");
        check("fits exactly", 12, "fits exactly");
    }

    #[test]
    fn a_word_that_fits_nowhere_is_left_to_the_terminal() {
        check(
            "see shop/a/very/long/path.py now",
            12,
            "see\nshop/a/very/long/path.py\nnow",
        );
    }

    #[test]
    fn what_goes_on_stands_below_its_text() {
        check("- an item that is long", 14, "- an item that\n  is long");
        check("  1. the second one", 12, "  1. the\n     second\n     one");
        check(
            "/diff    show it all again",
            22,
            "/diff    show it all\n         again",
        );
    }

    #[test]
    fn what_is_copied_stays_whole() {
        check(
            "say so, or type `harness undo x` then",
            20,
            "say so, or type\n`harness undo x`\nthen",
        );
        check(
            "take it back with: harness undo 1",
            20,
            "take it back with:\nharness undo 1",
        );
        check(
            "a ` alone breaks as usual",
            12,
            "a ` alone\nbreaks as\nusual",
        );
    }

    #[test]
    fn code_is_left_as_it_is() {
        let code = "```\na line of code that is long\n```\n    so is this one, by its indent\n";
        check(code, 10, code);
    }
}

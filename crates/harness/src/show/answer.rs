//! An answer while its words arrive: lines break between words, and light Markdown is shown as bold and colour.

use unicode_width::UnicodeWidthChar;

/// A phrase that is longer is not held back until its bold ends, in characters.
const LONGEST_BOLD: usize = 60;
/// A list is nested no deeper than this, in columns; what is indented more is code.
const DEEPEST_LIST: usize = 12;

/// What the terminal can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// It shows bold and colours.
    pub(crate) has_colour: bool,
    /// It can go back in a line, so that half a word may be shown before it is known where the line breaks.
    pub(crate) moves_cursor: bool,
}

/// Lays an answer out, piece by piece.
#[derive(Debug)]
pub(crate) struct AnswerLayout {
    abilities: Abilities,
    columns: usize,
    line: Line,
    /// Whether the lines are inside a fenced block.
    is_fenced: bool,
    /// What cannot be shown before more is known.
    held: String,
    /// What is printed next.
    out: String,
}

/// The line that is being written.
#[derive(Debug, Default)]
struct Line {
    kind: Kind,
    /// How far the lines that continue it are indented.
    indent: usize,
    /// The column in which the last word begins.
    start: usize,
    /// Where that ends which stands before it.
    end: usize,
    /// Spaces between the two that are not printed yet.
    spaces: usize,
    /// The last word with what colours it.
    word: String,
    /// The columns that it takes.
    width: usize,
    /// How many bytes of it are printed.
    printed: usize,
    /// How the word began, and how the text goes on.
    word_style: Style,
    style: Style,
    /// The character before, for what begins a word.
    before: Option<char>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// Nothing but marks and spaces so far.
    #[default]
    Begun,
    Prose,
    /// Code, the output of a program, a row of a table: left as it is.
    Exact,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Style {
    is_bold: bool,
    is_code: bool,
}

impl Style {
    fn codes(self) -> &'static str {
        match (self.is_bold, self.is_code) {
            (false, false) => "\u{1b}[0m",
            (true, false) => "\u{1b}[0;1m",
            (false, true) => "\u{1b}[0;36m",
            (true, true) => "\u{1b}[0;1;36m",
        }
    }
}

impl AnswerLayout {
    /// Returns the layout of an answer that begins at the left of the screen.
    pub(crate) fn new(abilities: Abilities) -> AnswerLayout {
        AnswerLayout {
            abilities,
            columns: 80,
            line: Line::default(),
            is_fenced: false,
            held: String::new(),
            out: String::new(),
        }
    }

    /// Returns what is printed for the next piece of the answer; it holds no control characters but tabs and line feeds.
    pub(crate) fn piece(&mut self, text: &str, columns: usize) -> String {
        self.columns = columns.max(1);
        for c in text.chars() {
            self.put(c);
        }
        if self.abilities.moves_cursor {
            self.print_word();
        }
        std::mem::take(&mut self.out)
    }

    /// Returns what is printed at the end of the answer: what was held back, and the end of its line.
    pub(crate) fn end(&mut self) -> String {
        self.release();
        if self.line.kind != Kind::Begun {
            self.end_line();
        }
        std::mem::take(&mut self.out)
    }

    fn put(&mut self, c: char) {
        match (c, self.line.kind) {
            ('\n', _) => {
                self.release();
                self.end_line();
            }
            (_, Kind::Begun) => {
                self.held.push(c);
                self.begin_line();
            }
            (_, Kind::Exact) => self.out.push(c),
            (_, Kind::Prose) => self.prose(c),
        }
    }

    /// Finds out what kind of line it is, once its first characters tell.
    fn begin_line(&mut self) {
        let text = self.held.trim_start_matches(' ');
        let before = self.held.len() - text.len();
        let Some(first) = text.chars().next() else {
            return;
        };
        let is_fence = text.starts_with("```");
        if !is_fence && first == '`' && text.bytes().all(|byte| byte == b'`') {
            return;
        }
        if is_fence || self.is_fenced || matches!(first, '|' | '\t') {
            self.is_fenced ^= is_fence;
            return self.exact();
        }
        let marker = Marker::of(text);
        if marker == Marker::Unknown {
            return;
        }
        let is_code = before >= 4 && (marker == Marker::None || before > DEEPEST_LIST);
        if is_code {
            return self.exact();
        }
        let held = std::mem::take(&mut self.held);
        let (marks, text) = held.split_at(before + marker.length());
        let (marks, text) = (marks.to_owned(), text.to_owned());
        self.line.kind = Kind::Prose;
        self.line.indent = marks.len();
        if matches!(marker, Marker::Heading(_)) && self.abilities.has_colour {
            self.line.indent = 0;
            self.line.style.is_bold = true;
            self.out.push_str(self.line.style.codes());
        } else {
            self.out.push_str(&marks);
            (self.line.start, self.line.end) = (marks.len(), marks.len());
        }
        self.line.word_style = self.line.style;
        text.chars().for_each(|c| self.prose(c));
    }

    fn exact(&mut self) {
        self.line.kind = Kind::Exact;
        self.out.push_str(&std::mem::take(&mut self.held));
    }

    /// Takes one more character of prose; bold is held back until it ends.
    fn prose(&mut self, c: char) {
        if self.held.is_empty() && !(c == '*' && self.may_open_bold()) {
            return self.styled(c);
        }
        self.held.push(c);
        match Phrase::of(&self.held) {
            Phrase::Open => {}
            Phrase::Closed(length) => {
                let held = std::mem::take(&mut self.held);
                self.change_style(|style| style.is_bold = true);
                held.chars()
                    .skip(2)
                    .take(length)
                    .for_each(|c| self.styled(c));
                self.change_style(|style| style.is_bold = false);
            }
            Phrase::None => self.release(),
        }
    }

    fn may_open_bold(&self) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '*';
        let is_plain = self.line.style == Style::default();
        self.abilities.has_colour && is_plain && !self.line.before.is_some_and(is_word)
    }

    /// Shows what was held back as it is.
    fn release(&mut self) {
        let held = std::mem::take(&mut self.held);
        if self.line.kind == Kind::Begun && !held.is_empty() {
            self.line.kind = Kind::Prose;
        }
        held.chars().for_each(|c| self.styled(c));
    }

    fn styled(&mut self, c: char) {
        if c == '`' && !self.line.style.is_code {
            self.change_style(|style| style.is_code = true);
            self.lay(c);
        } else if c == '`' {
            self.lay(c);
            self.change_style(|style| style.is_code = false);
        } else {
            self.lay(c);
        }
        self.line.before = Some(c);
    }

    fn change_style(&mut self, change: impl FnOnce(&mut Style)) {
        change(&mut self.line.style);
        if self.line.word.is_empty() {
            self.line.word_style = self.line.style;
        }
        if self.abilities.has_colour {
            self.line.word.push_str(self.line.style.codes());
        }
    }

    /// Takes one more character of a word, or of the space between two.
    fn lay(&mut self, c: char) {
        // Code is copied: it stays in one line where that is possible.
        let is_inside_code = self.line.style.is_code && self.line.width < self.columns / 2;
        if c == ' ' && !is_inside_code || c == '\t' {
            self.end_word();
            self.line.spaces += 1;
            return;
        }
        let width = c.width().unwrap_or(0);
        if self.line.width == 0 {
            self.begin_word(width);
        }
        if self.line.start + self.line.width + width > self.columns {
            self.break_line();
        }
        self.line.word.push(c);
        self.line.width += width;
    }

    fn begin_word(&mut self, width: usize) {
        let at = self.line.end + self.line.spaces;
        if at + width > self.columns && self.line.end > self.line.indent {
            self.new_row();
        } else {
            self.line.start = at;
        }
    }

    /// Moves the word that does not fit to the next row; one that is wider than a row is left to the terminal.
    fn break_line(&mut self) {
        if self.line.start <= self.line.indent {
            self.end_word();
            (self.line.start, self.line.end) = (0, 0);
            return;
        }
        if self.line.printed > 0 {
            let column = self.line.end + 1;
            self.out.push_str(&format!("\u{1b}[{column}G\u{1b}[K"));
            self.line.printed = 0;
        }
        self.new_row();
        if self.abilities.has_colour {
            self.out.push_str(self.line.word_style.codes());
        }
    }

    fn new_row(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', self.line.indent));
        (self.line.start, self.line.end) = (self.line.indent, self.line.indent);
        self.line.spaces = 0;
    }

    fn print_word(&mut self) {
        if self.line.width > 0 {
            let spaces = std::mem::take(&mut self.line.spaces);
            self.out.extend(std::iter::repeat_n(' ', spaces));
        }
        self.out.push_str(&self.line.word[self.line.printed..]);
        self.line.printed = self.line.word.len();
    }

    fn end_word(&mut self) {
        self.print_word();
        self.line.word.clear();
        self.line.printed = 0;
        self.line.end = self.line.start + std::mem::take(&mut self.line.width);
        self.line.start = self.line.end;
        self.line.word_style = self.line.style;
    }

    fn end_line(&mut self) {
        self.end_word();
        if self.line.style != Style::default() && self.abilities.has_colour {
            self.out.push_str(Style::default().codes());
        }
        self.out.push('\n');
        self.line = Line::default();
    }
}

/// What a line of prose begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    None,
    /// More characters tell.
    Unknown,
    /// A heading, whose text begins after so many bytes.
    Heading(usize),
    /// An item of a list or a quotation, likewise.
    Item(usize),
}

impl Marker {
    fn of(text: &str) -> Marker {
        let counted = |wanted: fn(&char) -> bool| text.chars().take_while(wanted).count();
        let (marks, item) = match text.chars().next() {
            Some('#') => (
                counted(|c| *c == '#'),
                Marker::Heading as fn(usize) -> Marker,
            ),
            Some('-' | '+' | '*' | '>') => (1, Marker::Item as fn(usize) -> Marker),
            Some('0'..='9') => {
                let digits = counted(char::is_ascii_digit);
                match text[digits..].chars().next() {
                    Some('.' | ')') => (digits + 1, Marker::Item as fn(usize) -> Marker),
                    None => return Marker::Unknown,
                    Some(_) => return Marker::None,
                }
            }
            _ => return Marker::None,
        };
        match text[marks..].chars().next() {
            None => Marker::Unknown,
            Some(' ') => item(marks + 1),
            Some(_) => Marker::None,
        }
    }

    fn length(self) -> usize {
        match self {
            Marker::None | Marker::Unknown => 0,
            Marker::Heading(length) | Marker::Item(length) => length,
        }
    }
}

/// What a text is that begins with a star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phrase {
    /// It may become a bold phrase.
    Open,
    /// It is one, with so many characters between its stars.
    Closed(usize),
    /// It is none.
    None,
}

impl Phrase {
    fn of(text: &str) -> Phrase {
        if matches!(text, "*" | "**") {
            return Phrase::Open;
        }
        let inside = text.strip_prefix("**").unwrap_or_default();
        let length = inside.chars().count();
        if inside.is_empty() || inside.starts_with([' ', '*']) || length > LONGEST_BOLD {
            return Phrase::None;
        }
        match inside
            .strip_suffix("**")
            .filter(|bold| !bold.ends_with(' '))
        {
            Some(_) => Phrase::Closed(length - 2),
            None => Phrase::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Abilities, AnswerLayout};

    const PLAIN: Abilities = Abilities {
        has_colour: false,
        moves_cursor: false,
    };

    fn laid_out(text: &str, columns: usize, piece: usize, abilities: Abilities) -> String {
        let mut layout = AnswerLayout::new(abilities);
        let characters: Vec<char> = text.chars().collect();
        let pieces = characters.chunks(piece).map(String::from_iter);
        let mut out: String = pieces
            .map(|piece: String| layout.piece(&piece, columns))
            .collect();
        out.push_str(&layout.end());
        out
    }

    /// Plays what goes back in a line, as a terminal does.
    fn played(text: &str) -> String {
        let mut shown = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("\u{1b}[") {
            shown.push_str(&rest[..at]);
            let sequence = &rest[at + 2..];
            let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap();
            if &sequence[end..=end] == "G" {
                let column: usize = sequence[..end].parse().unwrap();
                let line = shown.rfind('\n').map_or(0, |at| at + 1);
                let kept = shown[line..].char_indices().nth(column - 1);
                shown.truncate(kept.map_or(shown.len(), |(at, _)| line + at));
            }
            rest = &sequence[end + 1..];
        }
        shown + rest
    }

    #[track_caller]
    fn check(text: &str, columns: usize, expected: &str) {
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(laid_out(text, columns, piece, PLAIN), expected);
            let moving = Abilities {
                moves_cursor: true,
                ..PLAIN
            };
            let shown = laid_out(text, columns, piece, moving);
            assert_eq!(played(&shown), expected, "in pieces of {piece}");
        }
    }

    #[track_caller]
    fn check_coloured(text: &str, expected: &str) {
        for piece in [1, 2, 3, 1000] {
            let abilities = Abilities {
                has_colour: true,
                ..PLAIN
            };
            assert_eq!(laid_out(text, 40, piece, abilities), expected);
        }
    }

    #[test]
    fn lines_break_between_words() {
        check("one two three four", 10, "one two\nthree four\n");
        check("fits exactly", 12, "fits exactly\n");
        check("naïve and 漢字漢字 end", 12, "naïve and\n漢字漢字 end\n");
        check("one\n\ntwo  \n", 10, "one\n\ntwo\n");
    }

    #[test]
    fn a_word_that_fits_nowhere_is_left_to_the_terminal() {
        check(
            "see shop/a/very/long.py now",
            12,
            "see\nshop/a/very/long.py now\n",
        );
    }

    #[test]
    fn items_hang_below_their_text_and_code_stays_whole() {
        check("- an item that is long", 14, "- an item that\n  is long\n");
        check("  10. the second", 12, "  10. the\n      second\n");
        check("call `f(1, 2)` now", 12, "call\n`f(1, 2)`\nnow\n");
        check(
            "a ` alone is no code at all",
            12,
            "a ` alone\nis no code\nat all\n",
        );
    }

    #[test]
    fn code_and_tables_are_left_as_they_are() {
        let code = "```python\nreturn 1 + 2 + 3 + 4\n\n    # why\n```\n    so is this one\n| a | b and more |\n";
        check(code, 10, code);
    }

    #[test]
    fn light_markdown_is_bold_and_colour() {
        check_coloured("## Why\nso\n", "\u{1b}[0;1mWhy\u{1b}[0m\nso\n");
        check_coloured("it is **not** so", "it is \u{1b}[0;1mnot\u{1b}[0m so\n");
        check_coloured("`f` x", "\u{1b}[0;36m`f`\u{1b}[0m x\n");
    }

    #[test]
    fn what_is_no_markdown_stays() {
        let texts = [
            "pass **kwargs on and *args\n",
            "2**3 and 4**5\n",
            "#1 is -1 * 2\n",
            "1.5 of 3\n",
        ];
        for text in texts {
            check_coloured(text, text);
        }
    }
}

//! Settings that are code (Lua, Emacs Lisp): our lines stand between two marker lines, and go with them.

use crate::editors::text;

/// Where a block stands in a file that has other things in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Above everything else.
    Top,
    /// Inside the one list of the file, before its other members.
    InsideList,
}

/// A block of lines between markers.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// What begins a comment.
    pub(super) comment: &'static str,
    /// Where it stands.
    pub(super) place: Place,
    /// Its lines, each ending in `\n`.
    pub(super) lines: String,
}

impl Block {
    fn open(&self) -> String {
        format!("{} >>> harness", self.comment)
    }

    fn close(&self) -> String {
        format!("{} <<< harness", self.comment)
    }

    fn render(&self, newline: &str) -> String {
        let block = format!(
            "{} (`harness editors` wrote this; --remove takes it out)\n{}{}\n",
            self.open(),
            self.lines,
            self.close()
        );
        block.replace('\n', newline)
    }

    /// Returns a new file with nothing but the block.
    pub(super) fn alone(&self) -> String {
        match self.place {
            Place::Top => self.render("\n"),
            Place::InsideList => format!("(\n{})\n", self.render("\n")),
        }
    }

    /// Returns the text with the block in it, or why that cannot be done.
    pub(super) fn put_in(&self, before: &str) -> Result<String, String> {
        let newline = text::newline(before);
        match self.place {
            Place::Top => Ok(format!("{}{before}", self.render(newline))),
            Place::InsideList => {
                let at = inside_list(before)?;
                let piece = format!("{newline}{}", self.render(newline));
                Ok(text::with(before, vec![(at, piece)]))
            }
        }
    }

    /// Returns the text without the block.
    pub(super) fn take_out(&self, before: &str) -> Result<String, String> {
        let Some(open) = line_starting(before, &self.open(), 0) else {
            return Ok(before.to_owned());
        };
        let Some(close) = line_starting(before, &self.close(), open) else {
            return Err(format!("`{}` in it has no `{}`", self.open(), self.close()));
        };
        let end = before[close..]
            .find('\n')
            .map_or(before.len(), |line| close + line + 1);
        let start = match self.place {
            Place::Top => open,
            Place::InsideList => {
                let above = &before[..open];
                let above = above.strip_suffix('\n').unwrap_or(above);
                above.strip_suffix('\r').unwrap_or(above).len()
            }
        };
        Ok(text::without(before, &[(start, end)]))
    }
}

fn line_starting(source: &str, words: &str, from: usize) -> Option<usize> {
    source[from..]
        .match_indices(words)
        .map(|(at, _)| from + at)
        .find(|at| *at == 0 || source[..*at].ends_with('\n'))
}

/// Returns the position right after the bracket that opens the one list of a Lisp file.
fn inside_list(source: &str) -> Result<usize, String> {
    let bytes = source.as_bytes();
    let (mut at, mut depth, mut open, mut lists) = (0, 0usize, None, 0);
    while at < bytes.len() {
        match bytes[at] {
            b';' => at += source[at..].find('\n').unwrap_or(source.len() - at),
            b'"' => at = string_end(bytes, at).ok_or("a string in it does not end")?,
            // A character such as `?(` is no bracket.
            b'?' | b'\\' => {
                at += if bytes.get(at + 1) == Some(&b'\\') {
                    2
                } else {
                    1
                }
            }
            b'(' | b'[' => {
                if depth == 0 {
                    lists += 1;
                    open.get_or_insert(at + 1);
                }
                depth += 1;
            }
            b')' | b']' => depth = depth.checked_sub(1).ok_or("its brackets do not match")?,
            byte if depth == 0 && !byte.is_ascii_whitespace() => {
                return Err("it is not a list".to_owned());
            }
            _ => {}
        }
        at += 1;
    }
    match open {
        Some(open) if depth == 0 && lists == 1 => Ok(open),
        Some(_) => Err("its brackets do not match".to_owned()),
        None => Err("it holds no list".to_owned()),
    }
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

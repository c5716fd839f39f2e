//! Comments as documentation: the block right above a definition, and the one that opens a file.

use tree_sitter::Node;

/// Remembers the last block of comments while a file is walked.
#[derive(Default)]
pub(super) struct Tracker {
    last: Option<Block>,
    first: Option<Block>,
    /// The row of the first thing that is no comment.
    code_row: Option<usize>,
}

/// Comments on lines that follow each other.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    end: usize,
    first_row: usize,
    last_row: usize,
}

impl Tracker {
    /// Takes note of a comment.
    pub(super) fn saw(&mut self, node: &Node<'_>) {
        let end = node.end_position();
        // Some grammars count the line break to the comment.
        let last_row = if end.column == 0 {
            end.row.saturating_sub(1)
        } else {
            end.row
        };
        let block = Block {
            start: node.start_byte(),
            end: node.end_byte(),
            first_row: node.start_position().row,
            last_row,
        };
        self.last = Some(match self.last {
            Some(before) if before.last_row + 1 == block.first_row => Block {
                end: block.end,
                last_row,
                ..before
            },
            Some(_) | None => block,
        });
        let opens_file = self.code_row.is_none()
            && self.first.is_none_or(|first| {
                first.last_row + 1 == block.first_row || first.start == block.start
            });
        if opens_file {
            self.first = self.last;
        }
    }

    /// Takes note of anything else.
    pub(super) fn passed(&mut self, node: &Node<'_>, depth: u32) {
        if self.code_row.is_none() && depth > 0 {
            self.code_row = Some(node.start_position().row);
        }
    }

    /// Returns the words of the comments that end right above this row.
    pub(super) fn doc_before(&self, content: &str, row: usize) -> Option<String> {
        let block = self.last.filter(|block| {
            block.last_row + 1 == row || (block.last_row == row && block.first_row < row)
        })?;
        words(content.get(block.start..block.end)?)
    }

    /// Returns the words of the comment that opens the file, unless it is a licence or belongs to what follows.
    pub(super) fn file_doc(&self, content: &str) -> Option<Box<str>> {
        let block = self.first?;
        let text = content.get(block.start..block.end)?;
        let stands_apart = self.code_row.is_none_or(|row| row > block.last_row + 1);
        let is_meant = text.starts_with("//!")
            || text.contains("@file")
            || text
                .trim_start_matches(['/', '*', ' '])
                .starts_with("Package ");
        let head: String = text.chars().take(600).collect::<String>().to_lowercase();
        let is_licence = "copyright|license|licence|spdx-|all rights reserved"
            .split('|')
            .any(|word| head.contains(word));
        if is_licence || !(stands_apart || is_meant) {
            return None;
        }
        super::first_paragraph(&words(text)?)
    }
}

/// Returns the text of comments without their marks.
fn words(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        let line = line.trim_end_matches("*/").trim_end();
        let inner = ["/**", "/*!", "/*", "///", "//!", "//", "*", "#!", "##", "#"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        let inner = inner.unwrap_or(line).trim();
        let inner = inner
            .trim_start_matches("<summary>")
            .trim_end_matches("</summary>")
            .trim();
        // A shebang, an encoding line or a row of dashes says nothing.
        let is_noise = line.starts_with("#!/")
            || (!inner.is_empty() && inner.chars().all(|c| !c.is_alphanumeric()));
        if !is_noise {
            plain.push_str(inner);
        }
        plain.push('\n');
    }
    (!plain.trim().is_empty()).then_some(plain)
}

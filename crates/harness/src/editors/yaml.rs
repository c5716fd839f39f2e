//! Settings in YAML: one item of one top-level list, put in and taken out as whole lines. The parser
//! only says where things are and judges the outcome; it never writes.

use saphyr_parser::{Event, Parser};

use crate::editors::text;

/// Our item: `- name: NAME` and the lines below it, without indentation, each ending in `\n`.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The top-level list.
    pub(super) list: &'static str,
    /// The value of `name` that makes it ours.
    pub(super) name: &'static str,
    /// The lines.
    pub(super) lines: String,
}

/// Where the list is, by line numbers from 0.
#[derive(Debug)]
struct Found {
    key: usize,
    /// The first line of every item, and its column.
    items: Vec<(usize, usize)>,
    /// The first line that belongs to something else.
    end: usize,
    /// Which of the items is ours.
    ours: Option<usize>,
}

impl Item {
    /// Returns the text with the item at the end of its list, or why that cannot be done.
    pub(super) fn put_in(&self, before: &str) -> Result<String, String> {
        let values = read(before)?;
        let newline = text::newline(before);
        let ends_in_newline = before.is_empty() || before.ends_with('\n');
        let (at, lines) = match self.find(before)? {
            Some(found) => {
                let starts = line_starts(before);
                let last = last_line(
                    before,
                    &starts,
                    found.items.last().map_or(0, |item| item.0),
                    found.end,
                );
                let column = found.items.first().map_or(2, |item| item.1);
                let at = starts.get(last + 1).copied().unwrap_or(before.len());
                (at, self.indented(column))
            }
            None => (
                before.len(),
                format!("{}:\n{}", self.list, self.indented(2)),
            ),
        };
        let lines = lines.replace('\n', newline);
        let piece = if at == before.len() && !ends_in_newline {
            format!("{newline}{}", lines.trim_end_matches(['\r', '\n']))
        } else {
            lines
        };
        let after = text::with(before, vec![(at, piece)]);
        // The file must say all that it said, and our item, and nothing else.
        let stripped = self.take_out(&after)?;
        let kept = stripped == before && read(&after).is_ok_and(|now| now.len() > values.len());
        if !kept || self.find(&after)?.and_then(|found| found.ours).is_none() {
            return Err("its form is not one that can be added to safely".to_owned());
        }
        Ok(after)
    }

    /// Returns the text without the item; a list that held nothing else goes too.
    pub(super) fn take_out(&self, before: &str) -> Result<String, String> {
        let Some((found, ours)) = self
            .find(before)?
            .and_then(|found| found.ours.map(|ours| (found, ours)))
        else {
            return Ok(before.to_owned());
        };
        let starts = line_starts(before);
        let limit = found.items.get(ours + 1).map_or(found.end, |next| next.0);
        let first = found.items[ours].0;
        let last = last_line(before, &starts, first, limit);
        let from = if found.items.len() == 1 {
            found.key
        } else {
            first
        };
        let start = starts.get(from).copied().unwrap_or(before.len());
        let end = starts.get(last + 1).copied().unwrap_or(before.len());
        let start = if end == before.len() && !before.ends_with('\n') {
            let above = before[..start]
                .strip_suffix('\n')
                .unwrap_or(&before[..start]);
            above.strip_suffix('\r').unwrap_or(above).len()
        } else {
            start
        };
        Ok(text::without(before, &[(start, end)]))
    }

    fn indented(&self, column: usize) -> String {
        let indent = " ".repeat(column);
        self.lines
            .lines()
            .map(|line| format!("{indent}{line}\n"))
            .collect()
    }

    /// Finds the list; `None` when the file has none. Anything but a plain block list is an error.
    fn find(&self, source: &str) -> Result<Option<Found>, String> {
        let mut depth = 0usize;
        let mut documents = 0;
        let mut is_key = true;
        let mut state = Search::Before;
        let mut found: Option<Found> = None;
        let mut naming = false;
        let last_line = source.lines().count();
        for event in Parser::new_from_str(source) {
            let (event, span) = event.map_err(|error| format!("it cannot be read: {error}"))?;
            let line = span.start.line().saturating_sub(1);
            match &event {
                Event::DocumentStart(_) => documents += 1,
                Event::Scalar(value, ..) if depth == 1 => {
                    if is_key && state == Search::Inside {
                        state = Search::After;
                        if let Some(found) = &mut found {
                            found.end = line;
                        }
                    }
                    if is_key && value == self.list {
                        if found.is_some() {
                            return Err(format!("`{}` is in it more than once", self.list));
                        }
                        found = Some(Found {
                            key: line,
                            items: Vec::new(),
                            end: last_line,
                            ours: None,
                        });
                        state = Search::AtKey;
                    } else if state == Search::AtKey {
                        return Err(format!("`{}` in it is not a list", self.list));
                    }
                    is_key = !is_key;
                }
                Event::Scalar(value, ..) => {
                    if depth == 0 {
                        return Err("it is not a mapping".to_owned());
                    }
                    if state == Search::Inside
                        && depth == 3
                        && let Some(found) = &mut found
                    {
                        if naming && value == self.name {
                            found.ours = found.items.len().checked_sub(1);
                        }
                        naming = !naming && value == "name" && found.ours.is_none();
                    }
                    if state == Search::Inside && depth == 2 {
                        return Err(format!("`{}` in it holds plain values", self.list));
                    }
                }
                Event::SequenceStart(..) | Event::MappingStart(..) => {
                    let sequence = matches!(event, Event::SequenceStart(..));
                    match (depth, state) {
                        (0, _) if sequence => return Err("it is not a mapping".to_owned()),
                        (1, Search::AtKey) => {
                            let flow = byte_at(source, &span.start) == Some(b'[');
                            if !sequence || flow {
                                return Err(format!("`{}` in it is not a plain list", self.list));
                            }
                            state = Search::Inside;
                        }
                        (2, Search::Inside) => {
                            let dash =
                                dash_of(source, line, span.start.col()).ok_or_else(|| {
                                    format!("`{}` in it is not a plain list", self.list)
                                })?;
                            if let Some(found) = &mut found {
                                found.items.push((line, dash));
                            }
                        }
                        _ => {}
                    }
                    naming = false;
                    depth += 1;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    depth = depth.saturating_sub(1);
                    if depth == 1 {
                        is_key = true;
                    }
                    naming = false;
                }
                Event::Alias(_) if state == Search::AtKey => {
                    return Err(format!("`{}` in it is not a plain list", self.list));
                }
                Event::Alias(_) if depth == 1 => is_key = !is_key,
                _ => {}
            }
        }
        if documents > 1 {
            return Err("it holds more than one document".to_owned());
        }
        Ok(found)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    Before,
    AtKey,
    Inside,
    After,
}

/// Returns everything a file says, without where it says it.
fn read(source: &str) -> Result<Vec<String>, String> {
    Parser::new_from_str(source)
        .map(|event| {
            event
                .map(|(event, _)| format!("{event:?}"))
                .map_err(|error| format!("it cannot be read: {error}"))
        })
        .collect()
}

/// Returns the column of the dash that begins an item, when only it stands before the item on its line.
fn dash_of(source: &str, line: usize, column: usize) -> Option<usize> {
    let before: String = source.lines().nth(line)?.chars().take(column).collect();
    let dash = before.trim_end();
    let plain = dash.trim_start_matches(' ') == "-";
    plain.then(|| dash.len() - 1)
}

fn byte_at(source: &str, marker: &saphyr_parser::Marker) -> Option<u8> {
    let line = source.lines().nth(marker.line().checked_sub(1)?)?;
    let rest: String = line.chars().skip(marker.col()).take(1).collect();
    rest.bytes().next()
}

fn line_starts(source: &str) -> Vec<usize> {
    let after_newlines = source.match_indices('\n').map(|(at, _)| at + 1);
    let starts = std::iter::once(0).chain(after_newlines);
    starts
        .filter(|start| *start < source.len().max(1))
        .collect()
}

/// Returns the last line of an item: blank lines and comments after it belong to what follows.
fn last_line(source: &str, starts: &[usize], first: usize, limit: usize) -> usize {
    let line = |number: usize| {
        let start = starts.get(number).copied().unwrap_or(source.len());
        let end = starts.get(number + 1).copied().unwrap_or(source.len());
        source[start..end].trim()
    };
    let says = |number: &usize| !line(*number).is_empty() && !line(*number).starts_with('#');
    (first..limit.min(starts.len()))
        .rev()
        .find(says)
        .unwrap_or(first)
}

//! One pass over a file's text: how often the words of a task stand in each definition. Counts only; judges nothing.

use crate::language::Language;
use crate::locate::vocabulary::{EVERYDAY, Identifier, IdentifierCache, OTHER, Vocabulary};
use crate::symbols::{DefinitionKind, Facts};
use crate::text::identifiers;

/// How often a word stands in a chunk: in the program, and in comments and documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hits {
    pub(crate) word: u16,
    pub(crate) code: u16,
    pub(crate) doc: u16,
}

/// A function, a class without its functions, or a module without either.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    /// The place in the file's definitions; `None` for what lies outside all of them.
    pub(crate) definition: Option<u32>,
    /// How many words it has in all.
    pub(crate) length: u32,
    pub(crate) hits: Vec<Hits>,
    /// Whole names that stand in it, with how often.
    pub(crate) names: Vec<(u16, u16)>,
    /// Pairs of words that stand in it, with how often.
    pub(crate) pairs: Vec<(u16, u16)>,
    /// Words of the task in its own qualified name.
    pub(crate) named: Vec<u16>,
}

/// What was counted in one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// The chunks that say something of the task.
    pub(crate) chunks: Vec<Chunk>,
    /// All chunks there are.
    pub(crate) all_chunks: u32,
    /// Words of the whole file.
    pub(crate) length: u32,
    /// Words of comments and documentation in the whole file.
    pub(crate) doc_length: u32,
    /// The words of the task that stand in the file as they are written, by number.
    pub(crate) as_written: Box<[u16]>,
}

impl Chunk {
    fn is_silent(&self) -> bool {
        self.hits.is_empty() && self.names.is_empty() && self.pairs.is_empty()
    }

    fn shrink(&mut self) {
        self.hits.shrink_to_fit();
        self.names.shrink_to_fit();
        self.pairs.shrink_to_fit();
        self.named.shrink_to_fit();
    }
}

/// Counts the words of `vocabulary` in `content`; `cache` remembers what was read in files before.
pub(crate) fn count(
    vocabulary: &Vocabulary,
    cache: &mut IdentifierCache,
    language: Language,
    content: &str,
    facts: &Facts,
) -> Counts {
    let mut counter = Counter::new(vocabulary, cache, content, facts);
    let bytes = content.as_bytes();
    let mut at = 0;
    let mut inside = Inside::Code;
    while at < bytes.len() {
        match BYTES[usize::from(bytes[at])] {
            Byte::Name => {
                let start = at;
                at += 1;
                while at < bytes.len() && is_name_byte(bytes[at]) {
                    at += 1;
                }
                counter.identifier(start, at, inside);
            }
            Byte::Sign => at += step(language, bytes, at, &mut inside),
            Byte::Plain => at += 1,
        }
    }
    let mut counts = counter.finish();
    for chunk in &mut counts.chunks {
        let definition = chunk
            .definition
            .and_then(|at| facts.definitions.get(at as usize));
        let qualified = definition.map_or("", |definition| &definition.qualified);
        for part in identifiers(qualified) {
            cache.each(part, vocabulary, |word| {
                chunk.named.push(word);
                // The name of the class around it is not in the text of a method, and yet is what it is called by.
                if !chunk.hits.iter().any(|hits| hits.word == word) {
                    chunk.hits.push(Hits {
                        word,
                        ..Hits::default()
                    });
                }
            });
        }
    }
    // A project has far more definitions than those that say something of a task.
    counts.chunks.retain(|chunk| !chunk.is_silent());
    counts.chunks.iter_mut().for_each(Chunk::shrink);
    counts.chunks.shrink_to_fit();
    counts
}

/// Returns the definitions that have a chunk of their own.
pub(crate) fn chunked(facts: &Facts) -> Vec<u32> {
    let (chunks, _) = chunks(facts);
    chunks.iter().filter_map(|chunk| chunk.definition).collect()
}

/// What a byte is to the scanner.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Byte {
    /// A part of a name.
    Name,
    /// May begin or end a comment or a string.
    Sign,
    /// Neither.
    Plain,
}

/// What each byte is, so that most of them cost one look.
static BYTES: [Byte; 256] = {
    let mut bytes = [Byte::Plain; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        bytes[at] = if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 {
            Byte::Name
        } else if matches!(byte, b'#' | b'/' | b'*' | b'"' | b'\'' | b'\\' | b'\n') {
            Byte::Sign
        } else {
            Byte::Plain
        };
        at += 1;
    }
    bytes
};

fn is_name_byte(byte: u8) -> bool {
    BYTES[usize::from(byte)] == Byte::Name
}

/// What the scanner is inside of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Inside {
    Code,
    LineComment,
    BlockComment,
    /// A string of three quotes, nearly always documentation.
    Long(u8),
    Short(u8),
}

impl Inside {
    fn is_doc(self) -> bool {
        match self {
            Inside::LineComment | Inside::BlockComment | Inside::Long(_) => true,
            Inside::Code | Inside::Short(_) => false,
        }
    }
}

/// Reads one byte that is no part of a name; returns how many bytes it took.
fn step(language: Language, bytes: &[u8], at: usize, inside: &mut Inside) -> usize {
    let byte = bytes[at];
    let next = |more: usize| bytes.get(at + more).copied();
    let hash_comments = matches!(
        language,
        Language::Python | Language::Ruby | Language::Shell
    );
    match *inside {
        Inside::Code => match byte {
            b'#' if hash_comments => *inside = Inside::LineComment,
            b'/' if !hash_comments && next(1) == Some(b'/') => *inside = Inside::LineComment,
            b'/' if !hash_comments && next(1) == Some(b'*') => *inside = Inside::BlockComment,
            b'"' | b'\''
                if language == Language::Python
                    && next(1) == Some(byte)
                    && next(2) == Some(byte) =>
            {
                *inside = Inside::Long(byte);
                return 3;
            }
            // A lone apostrophe is a lifetime in Rust and a slip elsewhere; strings of one line end with it.
            b'"' => *inside = Inside::Short(byte),
            b'\'' if language != Language::Rust => *inside = Inside::Short(byte),
            _ => {}
        },
        Inside::LineComment if byte == b'\n' => *inside = Inside::Code,
        Inside::BlockComment if byte == b'*' && next(1) == Some(b'/') => {
            *inside = Inside::Code;
            return 2;
        }
        Inside::Long(quote)
            if byte == quote && next(1) == Some(quote) && next(2) == Some(quote) =>
        {
            *inside = Inside::Code;
            return 3;
        }
        Inside::Long(_) | Inside::Short(_) if byte == b'\\' => return 2,
        Inside::Short(quote) if byte == quote || byte == b'\n' => *inside = Inside::Code,
        Inside::LineComment | Inside::BlockComment | Inside::Long(_) | Inside::Short(_) => {}
    }
    1
}

struct Counter<'a> {
    vocabulary: &'a Vocabulary,
    cache: &'a mut IdentifierCache,
    content: &'a str,
    /// Where the chunk changes, and to which.
    switches: Vec<(usize, u32)>,
    next_switch: usize,
    /// Where the next switch is.
    until: usize,
    current: usize,
    chunks: Vec<Chunk>,
    /// Words read in the current chunk.
    length: u32,
    doc_length: u32,
    /// The word read last.
    before: u16,
    as_written: Vec<bool>,
}

impl<'a> Counter<'a> {
    fn new(
        vocabulary: &'a Vocabulary,
        cache: &'a mut IdentifierCache,
        content: &'a str,
        facts: &Facts,
    ) -> Self {
        let (chunks, switches) = chunks(facts);
        Counter {
            vocabulary,
            cache,
            content,
            until: switches.first().map_or(usize::MAX, |first| first.0),
            switches,
            next_switch: 0,
            current: 0,
            chunks,
            length: 0,
            doc_length: 0,
            before: OTHER,
            as_written: vec![false; vocabulary.count_as_written()],
        }
    }

    fn identifier(&mut self, start: usize, end: usize, inside: Inside) {
        if start >= self.until {
            self.switch(start);
        }
        // Identifiers are cut at ASCII bytes only, so both ends are whole characters.
        let identifier = self.content.get(start..end).unwrap_or_default();
        let token = self.cache.identifier(identifier, self.vocabulary);
        self.length += u32::from(token.length);
        if inside.is_doc() {
            self.doc_length += u32::from(token.length);
        }
        if token.found > 0 {
            self.count(token, inside.is_doc());
        } else if token.other {
            self.before = OTHER;
        }
        if let Some(as_written) = token.as_written {
            self.as_written[usize::from(as_written)] = true;
        }
        if let Some(name) = token.name {
            increment(&mut self.chunks[self.current].names, name);
        }
    }

    /// Goes on to the chunk that `start` lies in.
    fn switch(&mut self, start: usize) {
        self.chunks[self.current].length += std::mem::take(&mut self.length);
        while let Some(&(from, chunk)) = self.switches.get(self.next_switch)
            && from <= start
        {
            self.current = chunk as usize;
            self.next_switch += 1;
        }
        let next = self.switches.get(self.next_switch);
        self.until = next.map_or(usize::MAX, |next| next.0);
    }

    /// Counts the words of an identifier that has one of the vocabulary.
    fn count(&mut self, token: Identifier, doc: bool) {
        let chunk = &mut self.chunks[self.current];
        for &word in self.cache.words(token) {
            if word == EVERYDAY {
                continue;
            }
            let before = std::mem::replace(&mut self.before, word);
            if word == OTHER {
                continue;
            }
            if before != OTHER
                && let Some(&pair) = self.vocabulary.pairs.get(&(before, word))
            {
                increment(&mut chunk.pairs, pair);
            }
            let at = match chunk.hits.iter().position(|hits| hits.word == word) {
                Some(at) => at,
                None => {
                    chunk.hits.push(Hits {
                        word,
                        ..Hits::default()
                    });
                    chunk.hits.len() - 1
                }
            };
            let hits = &mut chunk.hits[at];
            let count = if doc { &mut hits.doc } else { &mut hits.code };
            *count = count.saturating_add(1);
        }
    }

    fn finish(mut self) -> Counts {
        self.chunks[self.current].length += self.length;
        Counts {
            all_chunks: self.chunks.len() as u32,
            length: self.chunks.iter().map(|chunk| chunk.length).sum(),
            chunks: self.chunks,
            doc_length: self.doc_length,
            as_written: (0..self.as_written.len() as u16)
                .filter(|&word| self.as_written[usize::from(word)])
                .collect(),
        }
    }
}

fn increment(counts: &mut Vec<(u16, u16)>, number: u16) {
    match counts.iter_mut().find(|(known, _)| *known == number) {
        Some((_, count)) => *count = count.saturating_add(1),
        None => counts.push((number, 1)),
    }
}

/// Lays the chunks of a file out: one for the module, one a class, one a function that lies in no other function.
///
/// Also returns where in the text the chunk changes, and to which.
fn chunks(facts: &Facts) -> (Vec<Chunk>, Vec<(usize, u32)>) {
    let mut order: Vec<u32> = (0..facts.definitions.len() as u32).collect();
    order.sort_by_key(|&at| {
        let span = facts.definitions[at as usize].span();
        (span.start, std::cmp::Reverse(span.end))
    });
    let mut chunks = vec![Chunk::default()];
    let mut switches: Vec<(usize, u32)> = Vec::new();
    // What is open around the place reached: where it ends, its chunk, whether it is a function.
    let mut open: Vec<(usize, u32, bool)> = Vec::new();
    for at in order {
        let definition = &facts.definitions[at as usize];
        let span = definition.span();
        leave(&mut open, span.start, &mut switches);
        let in_function = open.last().is_some_and(|&(_, _, function)| function);
        let function = definition.kind.is_function();
        let class = matches!(
            definition.kind,
            DefinitionKind::Class | DefinitionKind::Interface | DefinitionKind::Module
        );
        if in_function || !(function || class) {
            continue;
        }
        let chunk = chunks.len() as u32;
        chunks.push(Chunk {
            definition: Some(at),
            ..Chunk::default()
        });
        switches.push((span.start, chunk));
        open.push((span.end, chunk, function));
    }
    leave(&mut open, usize::MAX, &mut switches);
    (chunks, switches)
}

/// Closes what ends before `start`, innermost first.
fn leave(open: &mut Vec<(usize, u32, bool)>, start: usize, switches: &mut Vec<(usize, u32)>) {
    while let Some(&(end, _, _)) = open.last()
        && end <= start
    {
        open.pop();
        switches.push((end, open.last().map_or(0, |&(_, chunk, _)| chunk)));
    }
}

//! One pass over a file's text: how often the words of a task stand in each definition. Counts only; judges nothing.

use rustc_hash::FxHashMap;

use crate::language::Language;
use crate::locate::words::{each_part, each_word, everyday};
use crate::symbols::{DefinitionKind, Facts};

/// The words and names that are looked for.
pub(crate) struct Wanted {
    words: FxHashMap<String, u16>,
    names: FxHashMap<String, u16>,
    /// Two words of the task that stand next to each other.
    pairs: FxHashMap<(u16, u16), u16>,
}

/// Stands for a word that is not wanted.
const OTHER: u16 = u16::MAX;
/// Stands for a word that is read over.
const EVERYDAY: u16 = u16::MAX - 1;

impl Wanted {
    /// Numbers words (stems), whole names and pairs of words in the order given.
    pub(crate) fn new(words: &[String], names: &[String], pairs: &[(u16, u16)]) -> Wanted {
        let number = |(at, text): (usize, &String)| (text.clone(), at as u16);
        let mut numbered: FxHashMap<String, u16> =
            everyday().map(|word| (word.to_owned(), EVERYDAY)).collect();
        numbered.extend(
            words
                .iter()
                .take(usize::from(EVERYDAY))
                .enumerate()
                .map(number),
        );
        Wanted {
            words: numbered,
            names: names
                .iter()
                .take(usize::from(EVERYDAY))
                .enumerate()
                .map(number)
                .collect(),
            pairs: pairs
                .iter()
                .enumerate()
                .map(|(at, &pair)| (pair, at as u16))
                .collect(),
        }
    }

    /// Returns the number of a stem.
    pub(crate) fn word(&self, stem: &str) -> Option<u16> {
        self.words
            .get(stem)
            .copied()
            .filter(|&word| word != EVERYDAY)
    }
}

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
    /// Wanted words of its own qualified name.
    pub(crate) named: Vec<u16>,
}

/// What was counted in one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) chunks: Vec<Chunk>,
    /// Words of comments and documentation in the whole file.
    pub(crate) doc_length: u32,
}

impl Counts {
    pub(crate) fn length(&self) -> u32 {
        self.chunks.iter().map(|chunk| chunk.length).sum()
    }
}

/// Counts what is wanted in `content`; `meanings` remembers what was read in files before.
pub(crate) fn count(
    wanted: &Wanted,
    meanings: &mut Meanings,
    language: Language,
    content: &str,
    facts: &Facts,
) -> Counts {
    let mut counter = Counter::new(wanted, meanings, facts);
    let bytes = content.as_bytes();
    let mut at = 0;
    let mut inside = Inside::Code;
    while at < bytes.len() {
        let byte = bytes[at];
        if is_name_byte(byte) {
            let start = at;
            while at < bytes.len() && is_name_byte(bytes[at]) {
                at += 1;
            }
            // Runs are cut at ASCII bytes only, so both ends are whole characters.
            if let Some(run) = content.get(start..at) {
                counter.run(start, run, inside);
            }
            continue;
        }
        at += step(language, bytes, at, &mut inside);
    }
    let mut counts = counter.finish();
    for chunk in &mut counts.chunks {
        let definition = chunk
            .definition
            .and_then(|at| facts.definitions.get(at as usize));
        if let Some(definition) = definition {
            each_word(&definition.qualified, |word| {
                let Some(word) = wanted.word(word) else {
                    return;
                };
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
    counts
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
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

/// What one run of letters means for the task: its words, by number.
#[derive(Clone, Copy)]
struct Meaning {
    first: u32,
    found: u16,
    /// Words in the run, wanted or not.
    words: u16,
    name: Option<u16>,
}

/// Runs that are remembered; past that they are forgotten at once, so that memory stays small.
const MOST_MEANINGS: usize = 1 << 17;

/// The same runs come again and again in a project: each is cut into words once.
#[derive(Default)]
pub(crate) struct Meanings {
    known: FxHashMap<Box<str>, Meaning>,
    found: Vec<u16>,
    buffer: String,
}

impl Meanings {
    fn of(&mut self, run: &str, wanted: &Wanted) -> Meaning {
        if let Some(&meaning) = self.known.get(run) {
            return meaning;
        }
        if self.known.len() >= MOST_MEANINGS {
            self.known.clear();
            self.found.clear();
        }
        let first = self.found.len() as u32;
        let mut words = 0u16;
        let found = &mut self.found;
        each_part(run, &mut self.buffer, &mut |word| {
            words = words.saturating_add(1);
            found.push(wanted.words.get(word).copied().unwrap_or(OTHER));
        });
        let found = (self.found.len() - first as usize).min(usize::from(u16::MAX)) as u16;
        let meaning = Meaning {
            first,
            found,
            words,
            name: wanted.names.get(run).copied(),
        };
        self.known.insert(run.into(), meaning);
        meaning
    }
}

struct Counter<'a> {
    wanted: &'a Wanted,
    meanings: &'a mut Meanings,
    /// Where the chunk changes, and to which.
    switches: Vec<(usize, u32)>,
    next_switch: usize,
    current: usize,
    chunks: Vec<Chunk>,
    doc_length: u32,
    /// The word read last.
    before: u16,
}

impl<'a> Counter<'a> {
    fn new(wanted: &'a Wanted, meanings: &'a mut Meanings, facts: &Facts) -> Self {
        let (chunks, switches) = chunks(facts);
        Counter {
            wanted,
            meanings,
            switches,
            next_switch: 0,
            current: 0,
            chunks,
            doc_length: 0,
            before: OTHER,
        }
    }

    fn run(&mut self, start: usize, run: &str, inside: Inside) {
        while let Some(&(from, chunk)) = self.switches.get(self.next_switch)
            && from <= start
        {
            self.current = chunk as usize;
            self.next_switch += 1;
        }
        let meaning = self.meanings.of(run, self.wanted);
        let doc = inside.is_doc();
        let chunk = &mut self.chunks[self.current];
        chunk.length += u32::from(meaning.words);
        self.doc_length += if doc { u32::from(meaning.words) } else { 0 };
        let first = meaning.first as usize;
        for &word in &self.meanings.found[first..first + usize::from(meaning.found)] {
            if word == EVERYDAY {
                continue;
            }
            let before = std::mem::replace(&mut self.before, word);
            if word == OTHER {
                continue;
            }
            if before != OTHER
                && let Some(&pair) = self.wanted.pairs.get(&(before, word))
            {
                note(&mut chunk.pairs, pair);
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
        if let Some(name) = meaning.name {
            note(&mut chunk.names, name);
        }
    }

    fn finish(self) -> Counts {
        Counts {
            chunks: self.chunks,
            doc_length: self.doc_length,
        }
    }
}

fn note(counts: &mut Vec<(u16, u16)>, number: u16) {
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

//! What a GGUF file says of its model, read from its head. The weights themselves are never read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

/// What is worth knowing before a model is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WeightsFacts {
    /// The model's own name.
    pub(crate) name: Option<String>,
    /// The longest conversation it was trained for, in tokens.
    pub(crate) window: Option<u32>,
    /// Bytes of memory that one token of the conversation takes.
    pub(crate) bytes_per_token: Option<u64>,
    /// Whether its template can think and can hold tools.
    pub(crate) thinking: bool,
    pub(crate) tools: bool,
    /// The size of the file.
    pub(crate) bytes: u64,
}

/// A head of more fields than this is no head; real ones have about 40.
const MOST_FIELDS: u64 = 4096;
/// The longest text that is kept; templates are a few kilobytes.
const LONGEST_TEXT: u64 = 1 << 20;
/// The largest list that is walked over; vocabularies have about 250,000 words.
const LONGEST_LIST: u64 = 1 << 24;

/// Reads the head of a file. An error says that it is no GGUF file, in words for a person.
pub(crate) fn read(path: &Path) -> Result<WeightsFacts, String> {
    let broken = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "it ends too early; it may not be downloaded whole".to_owned()
        }
        io::ErrorKind::InvalidData => error.to_string(),
        io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => error.to_string(),
    };
    let facts = std::fs::metadata(path).map_err(broken)?;
    // A pipe would be waited on for ever.
    if !facts.is_file() {
        return Err("it is not a file".to_owned());
    }
    let file = File::open(path).map_err(broken)?;
    let mut head = Head {
        reader: BufReader::with_capacity(64 << 10, file),
    };
    let mut facts = WeightsFacts {
        bytes: facts.len(),
        ..WeightsFacts::default()
    };
    head.read(&mut facts).map_err(broken)?;
    Ok(facts)
}

struct Head<R> {
    reader: BufReader<R>,
}

/// The numbers of a model's shape, as the file names them.
#[derive(Default)]
struct Shape {
    blocks: Option<u64>,
    embedding: Option<u64>,
    heads: Option<u64>,
    heads_kept: Option<u64>,
    key_length: Option<u64>,
    value_length: Option<u64>,
}

impl Shape {
    fn bytes_per_token(&self) -> Option<u64> {
        let (blocks, heads) = (self.blocks?, self.heads.filter(|heads| *heads > 0)?);
        let kept = self.heads_kept.filter(|heads| *heads > 0).unwrap_or(heads);
        let usual = self.embedding? / heads;
        let length = self
            .key_length
            .unwrap_or(usual)
            .checked_add(self.value_length.unwrap_or(usual))?;
        // Two bytes a number, as runtimes keep it unless told otherwise.
        blocks
            .checked_mul(kept)?
            .checked_mul(length)?
            .checked_mul(2)
    }
}

impl<R: Read + Seek> Head<R> {
    fn read(&mut self, facts: &mut WeightsFacts) -> io::Result<()> {
        if self.bytes::<4>()? != *b"GGUF" {
            return Err(wrong("it is not a GGUF file"));
        }
        let version = self.u32()?;
        if !(2..=3).contains(&version) {
            return Err(wrong("it is a GGUF file of another version"));
        }
        let _tensors = self.u64()?;
        let fields = self.u64()?;
        if fields > MOST_FIELDS {
            return Err(wrong("its head cannot be read"));
        }
        let mut shape = Shape::default();
        for _ in 0..fields {
            let key = self.text()?;
            let kind = self.u32()?;
            self.field(&key, kind, facts, &mut shape)?;
        }
        facts.bytes_per_token = shape.bytes_per_token();
        Ok(())
    }

    fn field(
        &mut self,
        key: &str,
        kind: u32,
        facts: &mut WeightsFacts,
        shape: &mut Shape,
    ) -> io::Result<()> {
        match (key, kind) {
            ("general.name", 8) => facts.name = Some(self.text()?),
            ("tokenizer.chat_template", 8) => {
                let template = self.text()?;
                facts.thinking =
                    template.contains("enable_thinking") || template.contains("<think>");
                facts.tools = template.contains("tools");
            }
            _ => {
                let number = self.number(kind)?;
                let ending = key.split_once('.').map_or("", |(_, ending)| ending);
                match ending {
                    "context_length" => {
                        facts.window = number.and_then(|tokens| u32::try_from(tokens).ok())
                    }
                    "block_count" => shape.blocks = number,
                    "embedding_length" => shape.embedding = number,
                    "attention.head_count" => shape.heads = number,
                    "attention.head_count_kv" => shape.heads_kept = number,
                    "attention.key_length" => shape.key_length = number,
                    "attention.value_length" => shape.value_length = number,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Reads a value and returns it when it is a whole number; of a list of numbers, the largest.
    fn number(&mut self, kind: u32) -> io::Result<Option<u64>> {
        Ok(match kind {
            0 | 1 | 7 => Some(u64::from(self.bytes::<1>()?[0])),
            2 | 3 => Some(u64::from(u16::from_le_bytes(self.bytes()?))),
            4 | 5 => Some(u64::from(self.u32()?)),
            6 => {
                self.u32()?;
                None
            }
            8 => {
                self.skip_text()?;
                None
            }
            9 => self.list()?,
            10 | 11 => Some(self.u64()?),
            12 => {
                self.u64()?;
                None
            }
            _ => return Err(wrong("its head cannot be read")),
        })
    }

    fn list(&mut self) -> io::Result<Option<u64>> {
        let kind = self.u32()?;
        let count = self.u64()?;
        // Lists of lists are in the format and in no file.
        if kind == 9 || count > LONGEST_LIST {
            return Err(wrong("its head cannot be read"));
        }
        let mut largest = None;
        for _ in 0..count {
            largest = largest.max(self.number(kind)?);
        }
        Ok(largest)
    }

    fn text(&mut self) -> io::Result<String> {
        let length = self.u64()?;
        if length > LONGEST_TEXT {
            return Err(wrong("its head cannot be read"));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        self.reader.read_exact(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn skip_text(&mut self) -> io::Result<()> {
        let length = self.u64()?;
        let Some(length) = i64::try_from(length)
            .ok()
            .filter(|length| *length <= 1 << 30)
        else {
            return Err(wrong("its head cannot be read"));
        };
        // Words of a vocabulary are short: they are stepped over inside the buffer.
        self.reader.seek_relative(length)?;
        Ok(())
    }

    fn u32(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn wrong(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Cursor;

    use super::*;

    fn text(out: &mut Vec<u8>, text: &str) {
        out.extend((text.len() as u64).to_le_bytes());
        out.extend(text.as_bytes());
    }

    /// Returns the head of a small model.
    pub(crate) fn sample() -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3_u32.to_le_bytes());
        out.extend(0_u64.to_le_bytes());
        out.extend(8_u64.to_le_bytes());
        let number = |out: &mut Vec<u8>, key: &str, value: u32| {
            text(out, key);
            out.extend(4_u32.to_le_bytes());
            out.extend(value.to_le_bytes());
        };
        number(&mut out, "llama.block_count", 30);
        number(&mut out, "llama.context_length", 8192);
        number(&mut out, "llama.embedding_length", 576);
        number(&mut out, "llama.attention.head_count", 9);
        number(&mut out, "llama.attention.head_count_kv", 3);
        text(&mut out, "general.name");
        out.extend(8_u32.to_le_bytes());
        text(&mut out, "Tiny");
        text(&mut out, "tokenizer.ggml.tokens");
        out.extend(9_u32.to_le_bytes());
        out.extend(8_u32.to_le_bytes());
        out.extend(2_u64.to_le_bytes());
        text(&mut out, "a");
        text(&mut out, "b");
        text(&mut out, "tokenizer.chat_template");
        out.extend(8_u32.to_le_bytes());
        text(&mut out, "{% if tools %}");
        out
    }

    fn facts(bytes: &[u8]) -> io::Result<WeightsFacts> {
        let mut facts = WeightsFacts::default();
        Head {
            reader: BufReader::new(Cursor::new(bytes)),
        }
        .read(&mut facts)?;
        Ok(facts)
    }

    #[test]
    fn the_head_tells_window_and_memory() {
        let expected = WeightsFacts {
            name: Some("Tiny".to_owned()),
            window: Some(8192),
            bytes_per_token: Some(30 * 3 * 128 * 2),
            thinking: false,
            tools: true,
            bytes: 0,
        };
        assert_eq!(facts(&sample()).unwrap(), expected);
    }

    #[test]
    fn a_broken_head_is_an_error_and_never_more() {
        let whole = sample();
        for end in 0..whole.len() {
            assert!(facts(&whole[..end]).is_err());
        }
        for at in 0..whole.len() {
            for value in [0x00, 0xff, 0x7f, 0x09] {
                let mut bent = whole.clone();
                bent[at] = value;
                // Any answer will do; it must come.
                let _ = facts(&bent);
            }
        }
    }

    #[test]
    fn what_is_no_file_is_said_to_be_none() {
        assert_eq!(read(Path::new("/")), Err("it is not a file".to_owned()));
        assert_eq!(
            facts(b"PK\x03\x04").unwrap_err().to_string(),
            "it is not a GGUF file"
        );
    }
}

//! What a run of letters means for a task: which of its words are wanted. Each run is cut once and then remembered.

use rustc_hash::FxHashMap;

use crate::locate::words::{each_part, everyday};

/// The words and names that are looked for.
pub(crate) struct Wanted {
    words: FxHashMap<String, u16>,
    names: FxHashMap<String, u16>,
    /// Every word of the task as it is written.
    pub(crate) spoken: FxHashMap<String, u16>,
    /// Two words of the task that stand next to each other.
    pub(crate) pairs: FxHashMap<(u16, u16), u16>,
}

/// Stands for a word that is not wanted.
pub(crate) const OTHER: u16 = u16::MAX;
/// Stands for a word that is read over.
pub(crate) const EVERYDAY: u16 = u16::MAX - 1;

impl Wanted {
    /// Numbers words (stems), whole names and pairs of words in the order given.
    pub(crate) fn new(
        words: &[String],
        names: &[String],
        pairs: &[(u16, u16)],
        spoken: &[String],
    ) -> Wanted {
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
            spoken: spoken
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
}

/// What one run of letters means for the task: its words, by number.
#[derive(Clone, Copy, Default)]
pub(crate) struct Meaning {
    /// Where its words begin in [`Meanings::found`].
    first: u32,
    /// How many of them are kept there: none when no word of the run is wanted.
    pub(crate) found: u16,
    /// Words in the run, wanted or not.
    pub(crate) words: u16,
    /// Its number among the whole names, from 1; 0 for none.
    pub(crate) name: u16,
    /// Its number among the words as they are written, from 1; 0 for none.
    pub(crate) spoken: u16,
    /// Whether the run has a word that is neither wanted nor read over.
    pub(crate) other: bool,
}

/// Runs that are remembered; past that they are forgotten at once, so that memory stays small.
const MOST_MEANINGS: usize = 1 << 16;
/// Slots for them, a power of two, half of them empty at most times.
const SLOTS: usize = 2 * MOST_MEANINGS;

/// The same runs come again and again in a project: each is cut into words once.
///
/// A run is known by a number made from its bytes. Two runs with the same number would be counted as one, which does no
/// harm and hardly happens. Most runs say nothing of the task, so that what is kept of them is small.
#[derive(Default)]
pub(crate) struct Meanings {
    slots: Vec<Slot>,
    used: usize,
    meanings: Vec<Meaning>,
    found: Vec<u16>,
    buffer: String,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// The upper half of the run's number, never 0; 0 for an empty slot.
    tag: u32,
    /// The place in [`Meanings::meanings`] with the highest bit set, or all that is to be said of the run.
    value: u32,
}

const TOLD: u32 = 1 << 31;
const HAS_OTHER: u32 = 1 << 16;

impl Meanings {
    /// Returns what the run at `start..end` of `content` means.
    pub(crate) fn at(
        &mut self,
        content: &str,
        start: usize,
        end: usize,
        wanted: &Wanted,
    ) -> Meaning {
        let number = number(content.as_bytes(), start, end);
        let tag = (number >> 32) as u32 | 1;
        let mut place = number as usize % SLOTS;
        while let Some(slot) = self.slots.get(place)
            && slot.tag != 0
        {
            if slot.tag == tag {
                return self.kept(slot.value);
            }
            place = (place + 1) % SLOTS;
        }
        // Runs are cut at ASCII bytes only, so both ends are whole characters.
        self.learn(number, content.get(start..end).unwrap_or(""), wanted)
    }

    fn kept(&self, value: u32) -> Meaning {
        if value & TOLD != 0 {
            return self.meanings[(value & !TOLD) as usize];
        }
        Meaning {
            words: value as u16,
            other: value & HAS_OTHER != 0,
            ..Meaning::default()
        }
    }

    #[cold]
    fn learn(&mut self, number: u64, run: &str, wanted: &Wanted) -> Meaning {
        if self.slots.is_empty() || self.used >= MOST_MEANINGS {
            self.slots = vec![Slot::default(); SLOTS];
            self.meanings.clear();
            self.found.clear();
            self.used = 0;
        }
        let meaning = self.read(run, wanted);
        let told = meaning.found > 0 || meaning.name > 0 || meaning.spoken > 0;
        let value = if told {
            self.meanings.push(meaning);
            TOLD | (self.meanings.len() - 1) as u32
        } else {
            u32::from(meaning.words) | if meaning.other { HAS_OTHER } else { 0 }
        };
        let mut place = number as usize % SLOTS;
        while self.slots[place].tag != 0 {
            place = (place + 1) % SLOTS;
        }
        let tag = (number >> 32) as u32 | 1;
        self.slots[place] = Slot { tag, value };
        self.used += 1;
        meaning
    }

    fn read(&mut self, run: &str, wanted: &Wanted) -> Meaning {
        let first = self.found.len();
        let found = &mut self.found;
        each_part(run, &mut self.buffer, &mut |word| {
            found.push(wanted.words.get(word).copied().unwrap_or(OTHER));
        });
        let own = &found[first..];
        let words = own.len().min(usize::from(u16::MAX)) as u16;
        let other = own.contains(&OTHER);
        if own.iter().all(|&word| word >= EVERYDAY) {
            found.truncate(first);
        }
        let place = |numbers: &FxHashMap<String, u16>| numbers.get(run).map_or(0, |at| at + 1);
        Meaning {
            first: first as u32,
            found: (found.len() - first).min(usize::from(u16::MAX)) as u16,
            words,
            name: place(&wanted.names),
            spoken: place(&wanted.spoken),
            other,
        }
    }

    pub(crate) fn words(&self, meaning: Meaning) -> &[u16] {
        let first = meaning.first as usize;
        &self.found[first..first + usize::from(meaning.found)]
    }

    /// Calls `each` with the wanted words of `name`.
    pub(crate) fn each(&mut self, name: &str, wanted: &Wanted, each: impl FnMut(u16)) {
        let meaning = self.at(name, 0, name.len(), wanted);
        let words = self.words(meaning).iter().copied();
        words.filter(|&word| word < EVERYDAY).for_each(each);
    }

    /// Returns the words of `name` when all of them are wanted.
    pub(crate) fn whole(&mut self, name: &str, wanted: &Wanted) -> Option<&[u16]> {
        let meaning = self.at(name, 0, name.len(), wanted);
        let words = self.words(meaning);
        let whole = !words.is_empty() && words.iter().all(|&word| word < EVERYDAY);
        whole.then_some(words)
    }
}

/// Makes a number from the bytes `start..end`, eight at a time.
fn number(bytes: &[u8], start: usize, end: usize) -> u64 {
    // The multiplier is that of FxHash; the turn brings what it mixed best to where the next bytes go.
    const MIX: u64 = 0xf135_7aea_2e62_a9c5;
    let mut number = (end - start) as u64;
    let mut at = start;
    while at < end {
        let left = end - at;
        let piece = match bytes.get(at..at + 8) {
            Some(eight) => eight.try_into().map_or(0, u64::from_le_bytes),
            None => {
                let mut padded = [0; 8];
                let rest = &bytes[at..bytes.len().min(at + 8)];
                padded[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(padded)
            }
        };
        let piece = if left < 8 {
            piece & ((1 << (8 * left)) - 1)
        } else {
            piece
        };
        number = (number.rotate_left(26) ^ piece).wrapping_mul(MIX);
        at += 8;
    }
    number ^ (number >> 32)
}

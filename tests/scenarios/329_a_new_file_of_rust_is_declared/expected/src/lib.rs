//! Words in other cases.

mod snake;
mod title;

pub use snake::snake;

pub(crate) fn lowercase(text: &str) -> String {
    text.to_lowercase()
}

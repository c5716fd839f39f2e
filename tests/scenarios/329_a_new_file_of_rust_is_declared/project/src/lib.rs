//! Words in other cases.

mod snake;

pub use snake::snake;

pub(crate) fn lowercase(text: &str) -> String {
    text.to_lowercase()
}

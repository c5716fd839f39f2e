//! The doors: words and bytes in, calls; results out, words and bytes. They hold no rules.

//! Understands a project: text in, facts and edits out. Never writes, never opens a socket, never starts a process.

//! Touches the world: files inside one folder, processes inside a sandbox. Holds no opinions.

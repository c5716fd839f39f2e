//! The languages we read: which file is written in which, and how each is parsed. What is found in them is in `symbols`.

#[cfg(feature = "bash")]
mod bash;
#[cfg(feature = "c")]
mod c;
#[cfg(feature = "cpp")]
mod cpp;
#[cfg(feature = "csharp")]
mod csharp;
#[cfg(feature = "go")]
mod go;
#[cfg(feature = "grammar")]
pub(crate) mod grammar;
#[cfg(feature = "java")]
mod java;
#[cfg(feature = "javascript")]
mod javascript;
#[cfg(feature = "php")]
mod php;
pub mod python;
#[cfg(feature = "ruby")]
mod ruby;
#[cfg(feature = "rust")]
mod rust;
#[cfg(feature = "typescript")]
mod typescript;

use serde::Serialize;

use crate::path::RelPath;
use crate::text::is_among;

/// The language of a file, told from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Language {
    /// Python, stubs included.
    Python,
    /// Rust.
    Rust,
    /// JavaScript, JSX included.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
    /// Ruby.
    Ruby,
    /// C#.
    CSharp,
    /// PHP.
    Php,
    /// Shell scripts.
    Shell,
    /// Markdown, reStructuredText and plain text.
    Prose,
    /// Configuration and data in text form.
    Config,
    /// Anything else.
    Other,
}

/// Each language with the name that a person uses and the extensions of its files. File names without a telling
/// extension are in `by_name`.
const LANGUAGES: &[(Language, &str, &str)] = &[
    (Language::Python, "Python", "py pyi pyw"),
    (Language::Rust, "Rust", "rs"),
    (Language::JavaScript, "JavaScript", "js mjs cjs jsx"),
    (Language::TypeScript, "TypeScript", "ts mts cts"),
    (Language::Tsx, "TypeScript", "tsx"),
    (Language::Go, "Go", "go"),
    (Language::Java, "Java", "java"),
    (Language::C, "C", "c h"),
    (Language::Cpp, "C++", "cpp cc cxx hpp hh hxx"),
    (Language::Ruby, "Ruby", "rb rake gemspec"),
    (Language::CSharp, "C#", "cs"),
    (Language::Php, "PHP", "php"),
    (Language::Shell, "Shell", "sh bash zsh"),
    (Language::Prose, "text", "md markdown rst txt adoc"),
    (
        Language::Config,
        "configuration",
        "toml json jsonc yaml yml cfg ini conf properties xml gradle kts",
    ),
];

impl Language {
    /// Tells the language from the file's name.
    pub fn of(path: &RelPath) -> Language {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        LANGUAGES
            .iter()
            .find(|(_, _, extensions)| is_among(extensions, &extension))
            .map_or_else(|| by_name(path.file_name()), |(language, ..)| *language)
    }

    /// Tells the language better with the text at hand: a header may be C++, a script may name its interpreter.
    pub(crate) fn refined(self, content: &str) -> Language {
        match self {
            Language::C if looks_like_cpp(content) => Language::Cpp,
            Language::Other => by_shebang(content).unwrap_or(self),
            Language::C
            | Language::Python
            | Language::Rust
            | Language::JavaScript
            | Language::TypeScript
            | Language::Tsx
            | Language::Go
            | Language::Java
            | Language::Cpp
            | Language::Ruby
            | Language::CSharp
            | Language::Php
            | Language::Shell
            | Language::Prose
            | Language::Config => self,
        }
    }

    /// Returns the name a person uses.
    pub fn name(self) -> &'static str {
        LANGUAGES
            .iter()
            .find(|(language, ..)| *language == self)
            .map_or("other", |(_, name, _)| name)
    }

    /// Says whether files of this language are programs: read, counted and searched for definitions.
    pub fn is_source(self) -> bool {
        match self {
            Language::Python
            | Language::Rust
            | Language::JavaScript
            | Language::TypeScript
            | Language::Tsx
            | Language::Go
            | Language::Java
            | Language::C
            | Language::Cpp
            | Language::Ruby
            | Language::CSharp
            | Language::Php
            | Language::Shell => true,
            Language::Prose | Language::Config | Language::Other => false,
        }
    }

    /// Says whether files of this language are text that a person may search.
    pub(crate) fn is_text(self) -> bool {
        self.is_source() || matches!(self, Language::Prose | Language::Config)
    }
}

/// Words that start a line only in C++.
fn looks_like_cpp(content: &str) -> bool {
    let marks = "class |namespace |template<|template <|public:|private:|protected:|using ";
    content.lines().take(400).any(|line| {
        marks
            .split('|')
            .any(|mark| line.trim_start().starts_with(mark))
    })
}

/// Reads `#!/usr/bin/env python3` and the like.
fn by_shebang(content: &str) -> Option<Language> {
    let line = content.strip_prefix("#!")?.lines().next()?;
    let mut words = line
        .split([' ', '/', '\t'])
        .filter(|word| !word.is_empty() && !word.starts_with('-'));
    let program = words.next_back()?;
    let known: &[(&str, Language)] = &[
        ("python", Language::Python),
        ("bash", Language::Shell),
        ("sh", Language::Shell),
        ("zsh", Language::Shell),
        ("dash", Language::Shell),
        ("ruby", Language::Ruby),
        ("node", Language::JavaScript),
        ("php", Language::Php),
    ];
    known
        .iter()
        .find(|(name, _)| program.starts_with(name))
        .map(|(_, language)| *language)
}

fn by_name(name: &str) -> Language {
    match name {
        "Rakefile" | "Gemfile" | "Vagrantfile" => Language::Ruby,
        "SConstruct" | "SConscript" | "wscript" => Language::Python,
        "README" | "LICENSE" | "COPYING" | "CHANGES" | "CHANGELOG" | "AUTHORS" | "NOTICE"
        | "TODO" => Language::Prose,
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Dockerfile" | "Procfile"
        | "go.mod" | "Pipfile" | ".gitignore" | ".editorconfig" | ".coveragerc" | ".flake8"
        | ".pylintrc" => Language::Config,
        _ => Language::Other,
    }
}

/// Returns the grammar of a language, when it was built in.
#[cfg(feature = "grammar")]
pub(crate) fn grammar_of(language: Language) -> Option<&'static grammar::Grammar> {
    match language {
        #[cfg(feature = "rust")]
        Language::Rust => Some(&rust::GRAMMAR),
        #[cfg(feature = "javascript")]
        Language::JavaScript => Some(&javascript::GRAMMAR),
        #[cfg(feature = "typescript")]
        Language::TypeScript => Some(&typescript::GRAMMAR),
        #[cfg(feature = "typescript")]
        Language::Tsx => Some(&typescript::TSX),
        #[cfg(feature = "go")]
        Language::Go => Some(&go::GRAMMAR),
        #[cfg(feature = "java")]
        Language::Java => Some(&java::GRAMMAR),
        #[cfg(feature = "c")]
        Language::C => Some(&c::GRAMMAR),
        #[cfg(feature = "cpp")]
        Language::Cpp => Some(&cpp::GRAMMAR),
        #[cfg(feature = "ruby")]
        Language::Ruby => Some(&ruby::GRAMMAR),
        #[cfg(feature = "csharp")]
        Language::CSharp => Some(&csharp::GRAMMAR),
        #[cfg(feature = "php")]
        Language::Php => Some(&php::GRAMMAR),
        #[cfg(feature = "bash")]
        Language::Shell => Some(&bash::GRAMMAR),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_language() {
        for (name, language) in [
            ("a/b.py", Language::Python),
            ("b.PYI", Language::Python),
            ("x.tsx", Language::Tsx),
            ("Makefile", Language::Config),
            ("README", Language::Prose),
            ("go.mod", Language::Config),
            ("noext", Language::Other),
            (".gitignore", Language::Config),
            ("a.tar.gz", Language::Other),
        ] {
            assert_eq!(
                Language::of(&RelPath::parse(name).unwrap()),
                language,
                "{name}"
            );
        }
        assert_eq!(
            Language::C.refined("#pragma once\nnamespace a {}\n"),
            Language::Cpp
        );
        assert_eq!(Language::C.refined("int f(void);\n"), Language::C);
        assert_eq!(
            Language::Other.refined("#!/usr/bin/env -S python3 -u\n"),
            Language::Python
        );
        assert_eq!(Language::Other.refined("#!/bin/sh\n"), Language::Shell);
        assert_eq!(Language::Other.refined("hello"), Language::Other);
        assert_eq!(Language::Cpp.name(), "C++");
        assert_eq!(Language::Tsx.name(), "TypeScript");
    }
}

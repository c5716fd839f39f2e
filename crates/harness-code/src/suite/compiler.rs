//! What compilers say of code that they refuse, each with its place: cargo, go, gcc, javac (also by Maven) and tsc.

use std::sync::LazyLock;

use regex::Regex;

/// An error of a compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The file, as the compiler calls it.
    pub file: String,
    /// The line in it.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
    /// The whole line of output.
    pub text: String,
}

impl Complaint {
    /// Returns whether the compiler told the column too.
    pub fn has_column(&self) -> bool {
        let behind = self.text.split_once(&format!(":{}:", self.line));
        behind.is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
    }
}

/// Returns the errors in an output, each once. Those of Rust come first.
pub fn complaints(output: &str) -> Vec<Complaint> {
    static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        // file:1:2: message, file.ts(1,2): error message, [ERROR] file.java:[1,2] message
        let file = r"(?P<file>[^\s:(]+\.\w+)";
        let line = r"(?::(?P<a>\d+)(?::\d+)?:|\((?P<b>\d+),\d+\):|:\[(?P<c>\d+),\d+\])";
        Regex::new(&format!(r"{file}{line} (?P<message>\S.*)")).ok()
    });
    let Some(place) = PLACE.as_ref() else {
        return Vec::new();
    };
    let mut found: Vec<Complaint> = Vec::new();
    for text in rust_errors(output).chain(output.lines().map(str::to_owned)) {
        let told = text.to_lowercase();
        let is_warning = told.contains(": warning") || told.contains("[warning]");
        let Some(parts) = place.captures(&text).filter(|_| !is_warning) else {
            continue;
        };
        let line = ["a", "b", "c"].iter().find_map(|name| parts.name(name));
        let complaint = Complaint {
            file: parts["file"].trim_start_matches("./").to_owned(),
            line: line.map_or(0, |line| line.as_str().parse().unwrap_or_default()),
            message: parts["message"].trim().to_owned(),
            text: text.trim().to_owned(),
        };
        // Maven says all of them twice, and a library is compiled with and without its tests.
        let is_same = |known: &Complaint| {
            (known.line, &known.file, &known.message)
                == (complaint.line, &complaint.file, &complaint.message)
        };
        if !found.iter().any(is_same) {
            found.push(complaint);
        }
    }
    found
}

/// Returns each error of a Rust compiler in one line with its place, which stands on the line after it.
fn rust_errors(output: &str) -> impl Iterator<Item = String> {
    let lines = output.lines().zip(output.lines().skip(1));
    lines.filter_map(|(first, second)| {
        let place = second.trim().strip_prefix("--> ")?;
        first
            .starts_with("error")
            .then(|| format!("{place}: {first}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &[&str]) {
        let seen = complaints(output).into_iter();
        let seen = seen.map(|one| format!("{} {} {}", one.file, one.line, one.message));
        assert_eq!(seen.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_error_of_go_has_its_column_and_a_test_s_word_has_none() {
        let seen = complaints("a_test.go:12: got 3, want 4\na.go:12:5: undefined: a\n");
        let columns: Vec<bool> = seen.iter().map(Complaint::has_column).collect();
        assert_eq!(columns, [false, true]);
    }

    #[test]
    fn a_warning_is_no_error() {
        check("a.c:1:2: warning: unused\n", &[]);
        check("A.cs(1,2): warning CS0168: unused\n", &[]);
        check("[WARNING] A.java:[1,2] deprecated\n", &[]);
        check(
            "warnings.go:1:2: undefined: F",
            &["warnings.go 1 undefined: F"],
        );
    }

    #[test]
    fn each_error_is_told_once_with_its_place() {
        let rust = "error[E0425]: cannot find value `a` in this scope\n --> src/lib.rs:1:21\n  |\n\
            error: expected `;`\n  --> src/b.rs:7:2\nerror: could not compile `a` (lib) due to 2 previous errors\n";
        check(
            &format!("{rust}{rust}"),
            &[
                "src/lib.rs 1 error[E0425]: cannot find value `a` in this scope",
                "src/b.rs 7 error: expected `;`",
            ],
        );
        let maven = "[ERROR] /p/src/A.java:[3,16] cannot find symbol\n";
        check(
            &format!("{maven}{maven}"),
            &["/p/src/A.java 3 cannot find symbol"],
        );
        check(
            "a.c: In function 'main':\na.c:1:25: error: 'total' undeclared\na.c:9:1: error: expected ';'\n",
            &[
                "a.c 1 error: 'total' undeclared",
                "a.c 9 error: expected ';'",
            ],
        );
        check(
            "A.java:1: error: cannot find symbol\n",
            &["A.java 1 error: cannot find symbol"],
        );
        check(
            "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
            &["src/a.ts 3 error TS2322: Type 'string' is not assignable to type 'number'."],
        );
        check(
            "./a.go:3:23: undefined: total\n",
            &["a.go 3 undefined: total"],
        );
    }
}

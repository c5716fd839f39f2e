//! What `go test -json` prints: one event a line.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::suite::{Failure, LONGEST_TRACEBACK, SuiteReport, UNBUILT, Verdict};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    output: Option<String>,
}

/// Reads the events. Returns whether every package that began came to its end.
pub(super) fn read(text: &str, answer: &mut SuiteReport) -> bool {
    let mut words: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut packages: BTreeMap<String, bool> = BTreeMap::new();
    let mut judged_tests: BTreeMap<String, u32> = BTreeMap::new();
    for event in text
        .lines()
        .filter_map(|line| serde_json::from_str::<Event>(line).ok())
    {
        // What a compiler says belongs to no package.
        if event.package.is_empty() {
            continue;
        }
        let key = (
            event.package.clone(),
            event.test.clone().unwrap_or_default(),
        );
        packages.entry(event.package.clone()).or_insert(false);
        if let Some(output) = &event.output {
            let kept = words.entry(key.clone()).or_default();
            if kept.len() < LONGEST_TRACEBACK {
                kept.push_str(output);
            }
        }
        let verdict = match event.action.as_str() {
            "pass" => Verdict::Passed,
            "fail" => Verdict::Failed,
            "skip" => Verdict::Skipped,
            _ => continue,
        };
        let told = words.remove(&key).unwrap_or_default();
        match event.test {
            Some(test) => {
                *judged_tests.entry(event.package.clone()).or_default() += 1;
                let id = format!("{}.{test}", event.package);
                let failure =
                    panic(&id, &event.package, &told).unwrap_or_else(|| failure(id, &told));
                answer.count(verdict, failure);
            }
            None => {
                packages.insert(event.package.clone(), true);
                // A package that fails without a failing test did not build or crashed.
                let silent = !judged_tests.contains_key(&event.package);
                if verdict == Verdict::Failed && silent {
                    answer.count(Verdict::Error, failure(event.package, &told));
                }
            }
        }
    }
    for package in unbuilt(text) {
        packages.insert(package.to_owned(), true);
        let told = complaints(&answer.output_tail, package);
        answer.count(
            Verdict::Error,
            failure(format!("{package}{UNBUILT}"), &told),
        );
    }
    !packages.is_empty() && packages.values().all(|ended| *ended)
}

/// Returns the packages that could not be built: before Go 1.24 these are told in words, and not as events.
fn unbuilt(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let told = line.strip_prefix("FAIL\t")?;
        let package = told
            .strip_suffix(UNBUILT)
            .or_else(|| told.strip_suffix(" [setup failed]"));
        package.map(str::trim)
    })
}

/// Returns what the compiler says of a package.
fn complaints(output: &str, package: &str) -> String {
    let is_own = |line: &&str| {
        let name = line.strip_prefix("# ");
        name.is_some_and(|name| name.split(' ').next() == Some(package))
    };
    let mut lines = output.lines().skip_while(|line| !is_own(line)).skip(1);
    let own = lines.by_ref().take_while(|line| line.contains(".go:"));
    own.fold(String::new(), |text, line| text + line + "\n")
}

/// Returns how a test panicked, and where in its own package.
fn panic(id: &str, package: &str, traceback: &str) -> Option<Failure> {
    let mut lines = traceback.lines();
    let said = lines.find_map(|line| line.strip_prefix("panic: "))?;
    let frames = lines.clone().zip(lines.skip(1));
    let mut own = frames.filter(|(function, _)| {
        let rest = function.strip_prefix(package);
        rest.is_some_and(|rest| rest.starts_with('.'))
    });
    // `	/home/me/project/a.go:8 +0x48`
    let place = own.next().and_then(|(_, place)| {
        let place = place.trim().split(' ').next()?;
        let (file, line) = place.rsplit_once(':')?;
        Some((file.rsplit('/').next()?.to_owned(), line.parse().ok()?))
    });
    let (file, line) = place.unzip();
    Some(Failure {
        id: id.to_owned(),
        message: format!("panic: {}", said.trim_end_matches(" [recovered]")),
        traceback: traceback.to_owned(),
        file,
        line,
        ..Failure::default()
    })
}

fn failure(id: String, traceback: &str) -> Failure {
    let mut lines = traceback.lines().map(str::trim);
    let told = lines.find(|line| line.contains(".go:")).unwrap_or_default();
    let (place, message) = told.split_once(": ").unwrap_or(("", told));
    let mut parts = place.splitn(2, ':');
    let file = parts
        .next()
        .filter(|file| file.ends_with(".go"))
        .map(str::to_string);
    let line = parts
        .next()
        .and_then(|line| line.split(':').next()?.parse().ok());
    Failure {
        id,
        message: message.to_string(),
        traceback: traceback.to_string(),
        file,
        line,
        ..Failure::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sandbox::Sandbox;
    use crate::suite::Outcome;

    #[test]
    fn a_panic_is_told_with_its_place_in_the_package() {
        let stack = "--- FAIL: TestF (0.00s)\npanic: runtime error: invalid memory address or nil pointer dereference [recovered]\n\tpanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]\n\ngoroutine 6 [running]:\ntesting.tRunner.func1()\n\t/usr/lib/go/src/testing/testing.go:1399 +0x39f\nregexp.(*Regexp).doMatch(...)\n\t/usr/lib/go/src/regexp/exec.go:514\nexample.org/a.F({0x551798?, 0x4b7f14?})\n\t/home/me/a/a.go:8 +0x48\nexample.org/a.TestF(0xc000007860)\n\t/home/me/a/a_test.go:6 +0x2a\n";
        let told = panic("example.org/a.TestF", "example.org/a", stack).unwrap();
        assert_eq!(
            told.shown(),
            "example.org/a.TestF (a.go:8): panic: runtime error: invalid memory address or nil pointer dereference"
        );
        assert!(panic("a.TestF", "a", "    a_test.go:9: got 1\n").is_none());
    }

    #[test]
    fn a_package_that_does_not_build_is_an_error() {
        let text = "FAIL\tm/a [build failed]\n{\"Action\":\"pass\",\"Package\":\"m/b\",\"Test\":\"TestB\"}\n{\"Action\":\"pass\",\"Package\":\"m/b\"}\n";
        let said = "# m/a [m/a.test]\na/a_test.go:9:2: undefined: F\n".to_owned();
        let mut answer = SuiteReport::empty(Outcome::NoReport, said, Sandbox::None);
        assert!(read(text, &mut answer));
        assert_eq!((answer.passed, answer.errors), (1, 1));
        assert_eq!(
            answer.failures[0].shown(),
            "m/a [build failed] (a/a_test.go:9): undefined: F"
        );
    }

    #[test]
    fn events_are_counted_by_test() {
        let text = r#"{"Action":"run","Package":"m/a","Test":"TestGood"}
{"Action":"pass","Package":"m/a","Test":"TestGood","Elapsed":0}
{"Action":"output","Package":"m/a","Test":"TestBad","Output":"    a_test.go:9: got 1, want 2\n"}
{"Action":"fail","Package":"m/a","Test":"TestBad","Elapsed":0}
{"Action":"fail","Package":"m/a","Elapsed":0.1}
"#;
        let mut answer = SuiteReport::default();
        assert!(read(text, &mut answer));
        assert_eq!((answer.passed, answer.failed, answer.errors), (1, 1, 0));
        assert_eq!(
            answer.failures[0].shown(),
            "m/a.TestBad (a_test.go:9): got 1, want 2"
        );
        let cut = text.lines().take(4).collect::<Vec<_>>().join("\n");
        let mut answer = SuiteReport::default();
        assert!(!read(&cut, &mut answer));
    }
}

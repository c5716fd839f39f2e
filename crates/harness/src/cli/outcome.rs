//! What a person or a program reads after a run: the change first, then what came of it; everything once.

use std::path::Path;

use harness_agent::{FailedTest, RunResult, TestResult};

use crate::cli::args::CommonArguments;
use crate::cli::output;
use crate::cli::pager::{self, Paging};
use crate::exit::Exit;
use crate::show::annotations::{self, Annotation};
use crate::show::json;
use crate::show::text::{self, Complaint};

/// What was shown while the run went on, and need not be shown again.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The words of the answer.
    pub(super) spoken: String,
    /// The change, because the user was asked about it.
    pub(super) diff: bool,
    /// What the run said of the change then.
    pub(super) summary: String,
    /// The question, because it was put to the user.
    pub(super) question: bool,
}

/// Shows the result of a command.
pub(super) fn show(
    result: &RunResult,
    common: &CommonArguments,
    program: &str,
    shown: &Shown,
) -> Result<Exit, Complaint> {
    let exit = Exit::of(result.stopped);
    if common.json {
        json::print(result);
        complain(result, exit, program);
    } else {
        show_diff(result, common, shown, Paging::Never);
        tell(result, program, shown);
    }
    if exit != Exit::Done {
        let note = Annotation::error("harness", &result.summary);
        annotations::print(Path::new("."), &[note]);
    }
    output::write(common, result)?;
    Ok(exit)
}

/// Shows the result of one turn of a conversation; as JSON it is one line.
pub(super) fn show_turn(
    result: &RunResult,
    common: &CommonArguments,
    program: &str,
    shown: &Shown,
    paging: Paging,
) -> Exit {
    if common.json {
        text::bytes(json::line(result).as_bytes());
    } else {
        show_diff(result, common, shown, paging);
        tell(result, program, shown);
    }
    Exit::of(result.stopped)
}

/// Returns how a program ends that ran tests.
pub(super) fn exit_of_tests(result: &TestResult) -> Exit {
    match Exit::of(result.stopped) {
        Exit::Done if !result.ok => Exit::Failed,
        exit => exit,
    }
}

/// Returns the notes for tests that failed, where they failed.
pub(super) fn red_tests(failed: &[FailedTest]) -> Vec<Annotation> {
    let note = |test: &FailedTest| Annotation {
        place: test.path.clone().map(|path| (path, test.line)),
        ..Annotation::error(&test.id, &test.message)
    };
    failed.iter().map(note).collect()
}

fn show_diff(result: &RunResult, common: &CommonArguments, shown: &Shown, paging: Paging) {
    // A part that is done was kept, however the run ended, and a question may be about a change.
    let is_kept = !result.writes.is_empty();
    let has_one = is_kept || matches!(Exit::of(result.stopped), Exit::Done | Exit::Question);
    if has_one && !common.quiet && !shown.diff && !result.diff.is_empty() {
        pager::diff(&result.diff, paging);
    }
}

fn tell(result: &RunResult, program: &str, shown: &Shown) {
    let exit = Exit::of(result.stopped);
    let is_kept = !result.writes.is_empty();
    let has_result = is_kept || matches!(exit, Exit::Done | Exit::Failed | Exit::Question);
    if exit == Exit::Question && shown.question && !is_kept {
        text::hint(&result.hint);
        return;
    }
    if has_result {
        let story = text::run_result(result);
        let told = Some(shown.summary.trim()).filter(|summary| !summary.is_empty());
        if let Some(rest) = told.and_then(|summary| story.strip_prefix(summary)) {
            text::result(rest.trim_start());
            text::hint(&result.hint);
            return;
        }
        let rest = story.strip_prefix(shown.spoken.trim());
        match rest.filter(|_| !shown.spoken.trim().is_empty()) {
            // What was checked stands apart from what the model said.
            Some(rest) if !rest.trim().is_empty() => {
                text::result(&format!("\n{}", rest.trim_start_matches('\n')));
            }
            Some(_) => {}
            None => text::result(&story),
        }
        text::hint(&result.hint);
        return;
    }
    complain(result, exit, program);
    // What is known without a model is a result, though the run has none.
    if !result.known.is_empty() {
        text::result(&result.known);
    }
}

/// Says what went wrong and what to do.
fn complain(result: &RunResult, exit: Exit, program: &str) {
    if exit == Exit::Done {
        return;
    }
    let message = result.summary.lines().next().unwrap_or_default();
    let complaint = Complaint::ending(exit, message, &result.hint);
    text::complaint(program, &complaint);
}

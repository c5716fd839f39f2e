//! The page for people who open the address in a browser: what this is, what it may do, the last runs.
//! It holds no script and no form, and its policy lets it load nothing: it cannot write.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use harness_hands::permit::{Access, Project};
use harness_hands::runs::RunRecord;

use crate::server::table::ROUTES;
use crate::server::work::Remembered;
use crate::server::{Server, work};

/// Runs that the page shows.
const SHOWN: usize = 10;
/// A longer diff is cut: the page is for a look.
const LONGEST_DIFF: usize = 20_000;

const STYLE: &str = include_str!("page.css");

/// The policy: nothing from anywhere but the style inside the page, whose digest this names.
const POLICY: &str = concat!(
    "default-src 'none'; style-src 'sha256-",
    include_str!("page.css.sha256"),
    "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
);

/// `GET /`.
pub(super) async fn page(State(server): State<Arc<Server>>) -> Response {
    let here = Arc::clone(&server);
    let past = work::blocking(move || {
        let project = Project::open(&here.agent.project, None, Access::ReadOnly);
        let runs = project.and_then(|project| {
            let runs = project.runs()?.into_iter().take(SHOWN);
            let with_diff = |run: RunRecord| {
                let diff = project.run_diff(&run.id).unwrap_or_default();
                (run, diff)
            };
            Ok(runs.map(with_diff).collect::<Vec<_>>())
        });
        Ok(runs.unwrap_or_default())
    })
    .await
    .unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (headers, render(&server, &past)).into_response()
}

fn render(server: &Server, past: &[(RunRecord, String)]) -> String {
    let agent = &server.agent;
    let mode = if agent.allow_writes {
        "file changes are allowed (--allow-writes)"
    } else {
        "read-only: nothing here changes a file"
    };
    let routes: String = ROUTES
        .iter()
        .map(|route| {
            format!(
                "<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>",
                route.method,
                route.path,
                escape(route.about)
            )
        })
        .collect();
    let remembered = server.queue.remembered();
    let shown = past.iter().map(|(run, diff)| story(run, diff));
    let mut runs: String = shown.collect();
    // A server that may not write has no journal; what it did itself it still knows.
    let unwritten = remembered
        .iter()
        .filter(|known| !past.iter().any(|(run, _)| run.id.as_str() == known.run));
    runs.extend(unwritten.map(told));
    if runs.is_empty() {
        runs.push_str("<p>None yet.</p>");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>harness</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\
         <h1>harness {version}</h1>\
         <p>A coding agent for one project folder, on this machine. Programs talk to it here; pages of other origins are refused.</p>\
         <dl><dt>Project</dt><dd>{project}</dd><dt>Mode</dt><dd id=\"mode\">{mode}</dd>\
         <dt>Engine</dt><dd>{engine}, {model}</dd></dl>\
         <h2>Routes</h2><table>{routes}</table>\
         <h2>Last runs</h2>{runs}</body></html>\n",
        version = env!("CARGO_PKG_VERSION"),
        project = escape(&agent.project.to_string_lossy()),
        engine = agent.engine.name(),
        model = escape(&agent.model),
    )
}

fn story(run: &RunRecord, diff: &str) -> String {
    let state = if run.undone { ", undone" } else { "" };
    let files: Vec<&str> = run.files.iter().map(|path| path.as_str()).collect();
    article(
        run.id.as_str(),
        &format!("{}{state}", run.outcome),
        &run.task,
        &run.summary,
        &files.join(", "),
        diff,
    )
}

fn told(known: &Remembered) -> String {
    article(
        &known.run,
        known.stopped,
        &known.task,
        &known.summary,
        "",
        &known.diff,
    )
}

fn article(run: &str, outcome: &str, task: &str, summary: &str, files: &str, diff: &str) -> String {
    let first = |text: &str| escape(text.lines().next().unwrap_or_default());
    let mut html = format!(
        "<article><h3>{}</h3><p>{} <small>{}</small></p><p>{}</p>",
        first(task),
        escape(outcome),
        escape(run),
        first(summary)
    );
    if !files.is_empty() {
        html.push_str(&format!("<p>{}</p>", escape(files)));
    }
    if !diff.is_empty() {
        let cut: String = diff.chars().take(LONGEST_DIFF).collect();
        html.push_str(&format!("<pre>{}</pre>", escape(&cut)));
    }
    html.push_str("</article>");
    html
}

/// Returns text as HTML shows it.
fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '\n' | '\t' => html.push(c),
            c if c.is_control() => html.push('\u{fffd}'),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_in_a_task_is_markup() {
        assert_eq!(
            escape("<script>'&\"\u{1b}</script>"),
            "&lt;script&gt;&#39;&amp;&quot;\u{fffd}&lt;/script&gt;"
        );
    }
}

//! The page for people who open the address in a browser: a place to ask and to run, what this is, what it may do, the
//! last runs. Its policy lets it load nothing; its one script is our own, and its requests carry the page's token.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use harness_agent::AgentOptions;
use harness_hands::permit::{Access, Project};
use harness_hands::runs::RunRecord;

use crate::server::work::Remembered;
use crate::server::{Server, work};

/// Runs that the page shows.
const SHOWN: usize = 10;
/// A longer diff is cut: the page is for a look.
const LONGEST_DIFF: usize = 20_000;

const STYLE: &str = include_str!("page.css");

const SCRIPT: &str = include_str!("page.js");

/// The policy: nothing from anywhere but the style and the script inside the page, whose digests this names, and requests
/// to this server.
const POLICY: &str = concat!(
    "default-src 'none'; style-src 'sha256-",
    include_str!("page.css.sha256"),
    "'; script-src 'sha256-",
    include_str!("page.js.sha256"),
    "'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ",
    "require-trusted-types-for 'script'; trusted-types 'none'"
);

/// `GET /`.
pub(super) async fn page(State(server): State<Arc<Server>>) -> Response {
    let here = Arc::clone(&server);
    let past = work::blocking(move || {
        let project = Project::open(&here.options().project, None, Access::ReadOnly);
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
    let agent = server.options();
    let mode = if agent.allow_writes {
        "file changes are allowed (--allow-writes)"
    } else {
        "read-only: nothing here changes a file"
    };
    let routes: String = server
        .routes
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
    let shown = past.iter().map(|(run, diff)| story(agent, run, diff));
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
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body><main>\
         <h1>harness {version}</h1>\
         <p>A coding agent for one project folder, on this machine.</p>\
         <dl><dt>Project</dt><dd>{project}</dd><dt>Mode</dt><dd id=\"mode\">{mode}</dd>\
         <dt>Engine</dt><dd>{engine}, {model}</dd></dl>\
         {talk}<h2>Last runs</h2>{runs}\
         <h2>Routes</h2><p>For programs; pages of other origins are refused.</p>\
         <details><summary>Every route</summary><table>{routes}</table></details>\
         </main><script>{SCRIPT}</script></body></html>\n",
        version = env!("CARGO_PKG_VERSION"),
        project = escape(&agent.project.to_string_lossy()),
        engine = agent.engine.name(),
        model = escape(&agent.model),
        talk = talk(agent, &server.page_token),
    )
}

/// Returns where a person types, and where the answer and the diff appear. What changes files is there only where files
/// may be changed.
fn talk(agent: &AgentOptions, token: &str) -> String {
    let (more, decide) = if agent.allow_writes {
        (
            "<button type=\"button\" id=\"preview\">Preview the change</button>\
             <button type=\"button\" id=\"run\">Run</button>",
            "<button type=\"button\" id=\"keep\" hidden>Keep this change</button>\
             <button type=\"button\" id=\"undo\" hidden>Undo this change</button>",
        )
    } else {
        ("", "")
    };
    format!(
        "<h2>Talk to it</h2><noscript><p>This form needs JavaScript; the routes below do not.</p></noscript>\
         <form id=\"talk\" data-token=\"{token}\">\
         <label for=\"task\">A question or a task</label>\
         <textarea id=\"task\" rows=\"3\" aria-describedby=\"keys\" autocomplete=\"off\"></textarea>\
         <p id=\"keys\"><small>Ask changes nothing; Ctrl+Enter asks.</small></p>\
         <button type=\"submit\">Ask</button>{more}\
         <button type=\"button\" id=\"stop\" hidden>Stop</button></form>\
         <p id=\"status\" role=\"status\"></p>\
         <div id=\"answer\" role=\"region\" aria-label=\"Answer\" aria-live=\"polite\"></div>\
         <pre id=\"diff\" role=\"region\" tabindex=\"0\" aria-label=\"Diff\" hidden></pre>{decide}"
    )
}

/// A past run as the page shows it.
struct Article<'a> {
    run: &'a str,
    outcome: String,
    task: &'a str,
    summary: &'a str,
    files: String,
    diff: &'a str,
    can_be_undone: bool,
}

fn story(agent: &AgentOptions, run: &RunRecord, diff: &str) -> String {
    let state = if run.undone { ", undone" } else { "" };
    let files: Vec<&str> = run.files.iter().map(|path| path.as_str()).collect();
    let article = Article {
        run: run.id.as_str(),
        outcome: format!("{}{state}", run.outcome),
        task: &run.task,
        summary: &run.summary,
        files: files.join(", "),
        diff,
        can_be_undone: agent.allow_writes && !run.undone && !files.is_empty(),
    };
    article.render()
}

fn told(known: &Remembered) -> String {
    let article = Article {
        run: &known.run,
        outcome: known.stopped.to_owned(),
        task: &known.task,
        summary: &known.summary,
        files: String::new(),
        diff: &known.diff,
        can_be_undone: false,
    };
    article.render()
}

impl Article<'_> {
    fn render(&self) -> String {
        let first = |text: &str| escape(text.lines().next().unwrap_or_default());
        let (run, task) = (escape(self.run), first(self.task));
        let mut html = format!(
            "<article><h3>{task}</h3><p>{} <small>{run}</small></p><p>{}</p>",
            escape(&self.outcome),
            first(self.summary)
        );
        if !self.files.is_empty() {
            html.push_str(&format!("<p>{}</p>", escape(&self.files)));
        }
        if !self.diff.is_empty() {
            let cut: String = self.diff.chars().take(LONGEST_DIFF).collect();
            let (label, cut) = (format!("Diff of {run}"), escape(&cut));
            // What scrolls must be reached by a key.
            html.push_str(&format!(
                "<pre role=\"region\" tabindex=\"0\" aria-label=\"{label}\">{cut}</pre>"
            ));
        }
        if self.can_be_undone {
            html.push_str(&format!(
                "<button type=\"button\" data-run=\"{run}\" aria-label=\"Undo {run}: {task}\">Undo</button>"
            ));
        }
        html.push_str("</article>");
        html
    }
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

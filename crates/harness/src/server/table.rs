//! Every route, its fields and its answers, in one table: requests are checked by it, `/health` and
//! `Allow` are read from it, and the OpenAPI document is made from it.

/// A route.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) about: &'static str,
    /// The body it takes, when it takes one.
    pub(super) body: Option<&'static Shape>,
    /// The schema of its answer, by name.
    pub(super) answer: &'static str,
    /// The statuses it has beside 200 and those that every route has.
    pub(super) problems: &'static [u16],
}

/// The form of a body: its fields, and what happens to others.
pub(super) struct Shape {
    pub(super) fields: &'static [Field],
    pub(super) others: Others,
}

/// What happens to fields that are not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// They are named and refused: a misspelled field must not be lost in silence.
    Refused,
    /// They are ignored: chat clients send many that mean nothing here.
    Ignored,
}

/// One field of a body.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) need: Need,
    pub(super) about: &'static str,
}

/// Whether a field must be there. Null is as good as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text that says something.
    Task,
    /// Any text.
    Text,
    /// A whole number from 1.
    Count,
    /// True or false.
    Flag,
    /// False, or nothing: true is refused.
    Never,
    /// A list of texts.
    Texts,
    /// Chat messages.
    Messages,
}

const fn field(name: &'static str, kind: Kind, need: Need, about: &'static str) -> Field {
    Field {
        name,
        kind,
        need,
        about,
    }
}

const SCOPE: Field = field(
    "scope",
    Kind::Text,
    Need::Optional,
    "stay inside this subfolder of the project",
);
const TASK: Field = field("task", Kind::Task, Need::Required, "what is asked for");
const MODEL: Field = field(
    "model",
    Kind::Text,
    Need::Optional,
    "the model, when not the one the server was started with",
);
const SKILLS: Field = field(
    "skills",
    Kind::Texts,
    Need::Optional,
    "skills to load; without them the task picks",
);
const STEPS: Field = field("steps", Kind::Count, Need::Optional, "the most model turns");
const MAX_TOKENS: Field = field(
    "max_tokens",
    Kind::Count,
    Need::Optional,
    "the longest reply of the model, in tokens",
);
const DRY_RUN: Field = field(
    "dry_run",
    Kind::Flag,
    Need::Optional,
    "refuse every change and run nothing; show what would change",
);

const REPORT: Shape = Shape {
    fields: &[SCOPE],
    others: Others::Refused,
};
const ROUTE: Shape = Shape {
    fields: &[TASK, SCOPE],
    others: Others::Refused,
};
const ASK: Shape = Shape {
    fields: &[TASK, SCOPE, MODEL, SKILLS, STEPS, MAX_TOKENS],
    others: Others::Refused,
};
const RUN: Shape = Shape {
    fields: &[TASK, SCOPE, MODEL, SKILLS, STEPS, MAX_TOKENS, DRY_RUN],
    others: Others::Refused,
};
const UNDO: Shape = Shape {
    fields: &[field(
        "run",
        Kind::Text,
        Need::Optional,
        "the run to take back; without it the latest that changed something",
    )],
    others: Others::Refused,
};
const APPLY: Shape = Shape {
    fields: &[field(
        "run",
        Kind::Text,
        Need::Required,
        "the run whose change is to be written",
    )],
    others: Others::Refused,
};
const MESSAGES: Field = field(
    "messages",
    Kind::Messages,
    Need::Required,
    "the conversation; the last user message is the task",
);
const CHAT_MODEL: Field = field(
    "model",
    Kind::Text,
    Need::Optional,
    "a model that the engine has; any other name means the one the server was started with",
);
const MAX_COMPLETION_TOKENS: Field = field(
    "max_completion_tokens",
    Kind::Count,
    Need::Optional,
    "the newer name of `max_tokens`",
);
const CHAT: Shape = Shape {
    fields: &[
        MESSAGES,
        CHAT_MODEL,
        MAX_TOKENS,
        MAX_COMPLETION_TOKENS,
        field(
            "stream",
            Kind::Never,
            Need::Optional,
            "must be false: replies come in one piece here, and in many at `/v1/stream/chat/completions`",
        ),
    ],
    others: Others::Ignored,
};
const STREAMED_CHAT: Shape = Shape {
    fields: &[
        MESSAGES,
        CHAT_MODEL,
        MAX_TOKENS,
        MAX_COMPLETION_TOKENS,
        field(
            "stream",
            Kind::Flag,
            Need::Optional,
            "whether the reply comes as server-sent events",
        ),
    ],
    others: Others::Ignored,
};

/// Every route, in the order that `/health` and the reference show them.
pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/health",
        about: "whether the server is up, and how it was started; never calls the engine",
        body: None,
        answer: "Health",
        problems: &[],
    },
    Route {
        method: "GET",
        path: "/v1/models",
        about: "the configured model first, then those that the engine lists within 2 s",
        body: None,
        answer: "Models",
        problems: &[],
    },
    Route {
        method: "POST",
        path: "/v1/brief",
        about: "what the project is",
        body: Some(&REPORT),
        answer: "BriefReply",
        problems: &[422],
    },
    Route {
        method: "POST",
        path: "/v1/layout",
        about: "what makes the project hard to read, worst first",
        body: Some(&REPORT),
        answer: "LayoutReply",
        problems: &[422],
    },
    Route {
        method: "POST",
        path: "/v1/route",
        about: "what would happen to a task, without doing it",
        body: Some(&ROUTE),
        answer: "RouteReply",
        problems: &[422],
    },
    Route {
        method: "POST",
        path: "/v1/ask",
        about: "answers a question; never changes files",
        body: Some(&ASK),
        answer: "Result",
        problems: &[409, 422, 429, 502],
    },
    Route {
        method: "POST",
        path: "/v1/run",
        about: "does a task; 403 unless the server was started with --allow-writes",
        body: Some(&RUN),
        answer: "Result",
        problems: &[409, 422, 429, 502],
    },
    Route {
        method: "POST",
        path: "/v1/chat/completions",
        about: "the same behind the chat-completions protocol; a task that writes is 403 on a read-only server",
        body: Some(&CHAT),
        answer: "ChatCompletion",
        problems: &[409, 429, 502],
    },
    Route {
        method: "GET",
        path: "/v1/runs",
        about: "the latest runs of the project, newest first",
        body: None,
        answer: "Runs",
        problems: &[],
    },
    Route {
        method: "POST",
        path: "/v1/undo",
        about: "takes a run back, byte for byte; 403 unless the server was started with --allow-writes",
        body: Some(&UNDO),
        answer: "Result",
        problems: &[409, 429],
    },
    Route {
        method: "POST",
        path: "/v1/apply",
        about: "writes what a dry run or a run that took its change back proposed; 403 unless the server was started with --allow-writes",
        body: Some(&APPLY),
        answer: "Result",
        problems: &[409, 429],
    },
    Route {
        method: "GET",
        path: "/v1/stream/models",
        about: "the same as `/v1/models`, for editors whose base address is `/v1/stream`",
        body: None,
        answer: "Models",
        problems: &[],
    },
    Route {
        method: "POST",
        path: "/v1/stream/chat/completions",
        about: "the same as `/v1/chat/completions`; with `stream` true as `chat.completion.chunk` events: progress as `reasoning_content` while it works, the reply, `[DONE]`",
        body: Some(&STREAMED_CHAT),
        answer: "ChatCompletion",
        problems: &[409, 429, 502],
    },
    Route {
        method: "GET",
        path: "/v1/openapi.json",
        about: "this description",
        body: None,
        answer: "OpenApi",
        problems: &[],
    },
    Route {
        method: "GET",
        path: "/",
        about: "a page for people: ask; with --allow-writes also preview, run, keep and undo; project, mode, the last runs",
        body: None,
        answer: "Page",
        problems: &[],
    },
];

/// Returns the body that a route takes.
pub(super) fn shape(path: &str) -> &'static Shape {
    const NONE: Shape = Shape {
        fields: &[],
        others: Others::Refused,
    };
    let route = ROUTES.iter().find(|route| route.path == path);
    route.and_then(|route| route.body).unwrap_or(&NONE)
}

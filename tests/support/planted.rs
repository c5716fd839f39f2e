//! Variables that a user may have and that no program may be handed, with a value that is easy to find again.

/// In every value below.
pub(crate) const PLANTED: &str = "planted-7Yw2";

/// Keys and tokens, and ways to them: agents, sockets, addresses that hold a password, files that are run at a start.
pub(crate) const SECRETS: &[&str] = &[
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "MY_PASSWORD",
    "OPENAI_API_KEY",
    "HARNESS_API_KEY",
    "HF_TOKEN",
    "NPM_TOKEN",
    "PRIVATE_KEY",
    "CLIENT_SECRET",
];

/// What leads to secrets, or makes a program do something else, under a name that does not say so.
pub(crate) const WAYS_TO_THEM: &[&str] = &[
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DATABASE_URL",
    "PIP_INDEX_URL",
    "HTTPS_PROXY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "KUBECONFIG",
    "LD_PRELOAD_OF_MINE",
    "BASH_ENV",
    "GIT_ASKPASS",
    "Path_Of_Nothing",
];

//! Files that no draft may touch, also when they do not exist yet and in any spelling: what belongs
//! to git and the harness, what a tool installed, and what makes other programs run things.

use harness_code::path::RelPath;

use crate::door::request::is_invisible;
use crate::door::{Door, Kind, PROTECTED, Trespass};

/// How firmly a file is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Never changed by a run.
    Always,
    /// Changed only when the task names the file.
    UnlessNamed,
}

/// Folders that are protected with all they hold, whatever lies above them.
const FOLDERS: &[(&str, &str)] = &[
    (".git", "the repository's own records"),
    ("git~1", "the repository's own records"),
    (".hg", "the repository's own records"),
    (".svn", "the repository's own records"),
    (".bzr", "the repository's own records"),
    (".jj", "the repository's own records"),
    (".harness", "the harness's own records"),
    (".venv", "a virtual environment"),
    ("venv", "a virtual environment"),
    ("__pypackages__", "installed packages"),
    ("site-packages", "installed packages"),
    ("node_modules", "installed packages"),
    (".tox", "a virtual environment"),
    (".nox", "a virtual environment"),
    (".conda", "a virtual environment"),
    (".direnv", "shell configuration"),
    (".vscode", "editor configuration"),
    (".idea", "editor configuration"),
    (".zed", "editor configuration"),
    (".fleet", "editor configuration"),
    (".helix", "editor configuration"),
    (".run", "editor configuration"),
    (".nvim", "editor configuration"),
    (".devcontainer", "editor configuration"),
    (".cursor", "agent configuration"),
    (".windsurf", "agent configuration"),
    (".claude", "agent configuration"),
    (".codex", "agent configuration"),
    (".gemini", "agent configuration"),
    (".agents", "agent configuration"),
    (".continue", "agent configuration"),
    (".cline", "agent configuration"),
    (".clinerules", "agent configuration"),
    (".junie", "agent configuration"),
    (".roo", "agent configuration"),
    (".kiro", "agent configuration"),
    (".opencode", "agent configuration"),
    (".circleci", "configuration of the build service"),
    (".buildkite", "configuration of the build service"),
    (".teamcity", "configuration of the build service"),
    (".woodpecker", "configuration of the build service"),
    (".ci", "configuration of the build service"),
    (".husky", "a git hook"),
    (".githooks", "a git hook"),
    (".cargo", "configuration of the build"),
    (".mvn", "configuration of the build"),
];

/// Files that are protected by their name, in any folder.
const FILES: &[(&str, &str)] = &[
    (".gitattributes", "git configuration"),
    (".gitmodules", "git configuration"),
    (".gitconfig", "git configuration"),
    (".lfsconfig", "git configuration"),
    (".pre-commit-config.yaml", "a git hook"),
    (".pre-commit-config.yml", "a git hook"),
    ("lefthook.yml", "a git hook"),
    (".lefthook.yml", "a git hook"),
    (".cursorrules", "agent configuration"),
    (".windsurfrules", "agent configuration"),
    (".clinerules", "agent configuration"),
    (".roomodes", "agent configuration"),
    (".mcp.json", "agent configuration"),
    ("mcp.json", "agent configuration"),
    ("opencode.json", "agent configuration"),
    (".devcontainer.json", "editor configuration"),
    (".vimrc", "editor configuration"),
    (".exrc", "editor configuration"),
    (".nvimrc", "editor configuration"),
    (".nvim.lua", "editor configuration"),
    (".lvimrc", "editor configuration"),
    (".dir-locals.el", "editor configuration"),
    (".gitlab-ci.yml", "configuration of the build service"),
    (".travis.yml", "configuration of the build service"),
    ("azure-pipelines.yml", "configuration of the build service"),
    (
        "bitbucket-pipelines.yml",
        "configuration of the build service",
    ),
    ("appveyor.yml", "configuration of the build service"),
    (".appveyor.yml", "configuration of the build service"),
    (".drone.yml", "configuration of the build service"),
    (".woodpecker.yml", "configuration of the build service"),
    ("jenkinsfile", "configuration of the build service"),
    (".bashrc", "shell configuration"),
    (".bash_profile", "shell configuration"),
    (".bash_login", "shell configuration"),
    (".bash_aliases", "shell configuration"),
    (".profile", "shell configuration"),
    (".zshrc", "shell configuration"),
    (".zshenv", "shell configuration"),
    (".zprofile", "shell configuration"),
    (".zlogin", "shell configuration"),
    (".envrc", "shell configuration"),
    (".env", "shell configuration"),
    (".tool-versions", "shell configuration"),
    (".mise.toml", "shell configuration"),
    ("mise.toml", "shell configuration"),
    (".npmrc", "configuration of a package tool"),
    (".yarnrc", "configuration of a package tool"),
    (".yarnrc.yml", "configuration of a package tool"),
    (".pnpmfile.cjs", "configuration of a package tool"),
    (".pypirc", "configuration of a package tool"),
    ("pip.conf", "configuration of a package tool"),
    (".netrc", "configuration of a package tool"),
    ("sitecustomize.py", "code that Python runs at every start"),
    ("usercustomize.py", "code that Python runs at every start"),
];

/// Build and test configuration: changed only when the task names the file.
const CONFIGURATION: &[&str] = &[
    "agents.md",
    "claude.md",
    "gemini.md",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "noxfile.py",
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    ".coveragerc",
    "manifest.in",
    "pipfile",
    "pipfile.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "uv.toml",
    "environment.yml",
    "makefile",
    "gnumakefile",
    "cmakelists.txt",
    "justfile",
    ".justfile",
    "taskfile.yml",
    "meson.build",
    "package.json",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "bun.lockb",
    "deno.json",
    "tsconfig.json",
    ".mocharc.json",
    ".mocharc.js",
    ".mocharc.cjs",
    ".mocharc.yml",
    ".babelrc",
    "cargo.toml",
    "cargo.lock",
    "build.rs",
    "rust-toolchain",
    "rust-toolchain.toml",
    "go.mod",
    "go.sum",
    "go.work",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "gradlew",
    "gradlew.bat",
    "mvnw",
    "mvnw.cmd",
    "gemfile",
    "gemfile.lock",
    "rakefile",
    "composer.json",
    "composer.lock",
    "dockerfile",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yml",
    "compose.yaml",
    "build",
    "build.bazel",
    "workspace",
    "module.bazel",
    ".python-version",
    ".nvmrc",
];

/// Stems whose `name.config.*` files are configuration: `jest.config.js`, `vite.config.ts`.
const CONFIGURED: &[&str] = &[
    "jest",
    "vitest",
    "vite",
    "webpack",
    "rollup",
    "babel",
    "karma",
    "playwright",
    "cypress",
    "eslint",
    "postcss",
    "next",
    "nuxt",
    "svelte",
    "ava",
];

/// Says whether and why a path is protected, by its name alone.
pub fn protection(path: &RelPath) -> Option<(Protection, &'static str)> {
    let folded: Vec<String> = path.parts().map(fold).collect();
    let always = |why| Some((Protection::Always, why));
    for part in &folded {
        if let Some((_, why)) = FOLDERS.iter().find(|(name, _)| name == part) {
            return always(*why);
        }
    }
    let name = folded.last()?.as_str();
    if let Some((_, why)) = FILES.iter().find(|(file, _)| *file == name) {
        return always(*why);
    }
    if is_backup(name) {
        return always("a backup copy");
    }
    if name.starts_with(".env.") && !name.ends_with(".example") && !name.ends_with(".sample") {
        return always("shell configuration");
    }
    if name.starts_with(".aider") {
        return always("agent configuration");
    }
    if name.ends_with(".pth") {
        return always("code that Python runs at every start");
    }
    let in_github = folded.len() > 2 && folded[0] == ".github";
    if in_github && matches!(folded[1].as_str(), "workflows" | "actions") {
        return always("configuration of the build service");
    }
    let is_configuration = CONFIGURATION.contains(&name)
        || (name.starts_with("requirements") && name.ends_with(".txt"))
        || (name.starts_with("tsconfig.") && name.ends_with(".json"))
        || name.ends_with(".csproj")
        || name.ends_with(".sln")
        || CONFIGURED.iter().any(|stem| {
            name.strip_prefix(stem)
                .is_some_and(|rest| rest.starts_with(".config."))
        });
    is_configuration.then_some((Protection::UnlessNamed, "build or test configuration"))
}

/// Refuses a protected path, `named` being the files that the task names. Looks at the disk too:
/// a virtual environment has any name, but always a `pyvenv.cfg`.
pub fn check(door: &Door, path: &RelPath, named: &[RelPath]) -> Result<(), Trespass> {
    match protection(path) {
        Some((Protection::Always, why)) => return Err(refuse(path, why, "leave it as it is")),
        Some((Protection::UnlessNamed, why)) if !named.contains(path) => {
            return Err(refuse(
                path,
                why,
                "it may change only when the task names it",
            ));
        }
        Some((Protection::UnlessNamed, _)) | None => {}
    }
    let mut folder = path.parent();
    while let Some(here) = folder {
        let marker = here.join("pyvenv.cfg").ok();
        let found = marker.and_then(|marker| door.folder_of(&marker).ok());
        if let Some(found) = found.and_then(|folder| folder.metadata("pyvenv.cfg").ok().flatten())
            && found.kind == Kind::File
        {
            return Err(refuse(path, "a virtual environment", "leave it as it is"));
        }
        folder = here.parent();
    }
    Ok(())
}

fn refuse(path: &RelPath, why: &str, instead: &str) -> Trespass {
    Trespass::new(
        PROTECTED,
        path,
        format!("`{path}` is protected ({why}); {instead}"),
    )
}

/// `name.bak` and the numbered ones that stand in when it is taken.
pub(crate) fn is_backup(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name.ends_with(".bak") || (stem.len() < name.len() && stem.ends_with(".bak."))
}

/// Reads a name as the most forgiving file system would: no case, no invisible characters, full
/// width and look-alike letters as the plain ones.
fn fold(part: &str) -> String {
    if part.is_ascii() {
        return part.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    }
    let plain: String = part
        .chars()
        .filter(|character| !is_invisible(*character))
        .map(look_alike)
        .flat_map(char::to_lowercase)
        .filter(|character| !('\u{300}'..='\u{36f}').contains(character))
        .collect();
    plain.trim_end_matches(['.', ' ']).to_string()
}

fn look_alike(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(character as u32 - 0xfee0).unwrap_or(character),
        '\u{2024}' | '\u{fe52}' | '\u{3002}' | '\u{ff61}' => '.',
        '\u{131}' | '\u{130}' | '\u{456}' | '\u{406}' | '\u{3b9}' | '\u{2170}' | '\u{ed}'
        | '\u{ec}' | '\u{ee}' | '\u{ef}' => 'i',
        '\u{261}' | '\u{581}' | '\u{50c}' | '\u{11f}' | '\u{1e7}' => 'g',
        '\u{442}' | '\u{422}' | '\u{3c4}' | '\u{165}' => 't',
        '\u{435}' | '\u{415}' | '\u{3b5}' => 'e',
        '\u{430}' | '\u{410}' | '\u{3b1}' => 'a',
        '\u{43e}' | '\u{41e}' | '\u{3bf}' => 'o',
        '\u{440}' | '\u{420}' => 'p',
        '\u{441}' | '\u{421}' => 'c',
        '\u{455}' | '\u{405}' | '\u{17f}' => 's',
        '\u{4bb}' | '\u{41d}' => 'h',
        '\u{212a}' | '\u{43a}' | '\u{41a}' => 'k',
        '\u{432}' | '\u{412}' => 'b',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<Protection>) {
        let path = RelPath::parse(path).unwrap();
        assert_eq!(
            protection(&path).map(|(protection, _)| protection),
            expected,
            "{path}"
        );
    }

    #[test]
    fn records_of_git_and_the_harness_are_protected_in_any_spelling() {
        for path in [
            ".git/config",
            "sub/.git/hooks/pre-commit",
            ".GIT/config",
            ".Git",
            "GIT~1/config",
            ".g\u{200c}it/config",
            "\u{ff0e}git/config",
            ".g\u{131}t/config",
            ".git./config",
            ".\u{ff47}\u{ff49}\u{ff54}",
            ".harness/traces.jsonl",
            ".HARNESS/x",
            ".hg/hgrc",
            ".harne\u{17f}s/x",
        ] {
            check(path, Some(Protection::Always));
        }
    }

    #[test]
    fn what_makes_other_programs_run_things_is_protected() {
        for path in [
            ".vscode/tasks.json",
            ".helix/config.toml",
            ".run/tests.run.xml",
            ".junie/mcp/mcp.json",
            ".clinerules/rules.md",
            ".github/workflows/ci.yml",
            ".env",
            ".env.local",
            ".envrc",
            ".husky/pre-commit",
            ".mcp.json",
            "a/.venv/lib/x.py",
            "x.py.bak",
            "x.py.bak.2",
            "lib/evil.pth",
            "sitecustomize.py",
            ".aider.conf.yml",
            "Jenkinsfile",
        ] {
            check(path, Some(Protection::Always));
        }
    }

    #[test]
    fn build_and_test_configuration_may_change_when_named() {
        for path in [
            "pyproject.toml",
            "PyProject.TOML",
            "web/package.json",
            "requirements-dev.txt",
            "jest.config.js",
            "Makefile",
            "App.csproj",
            "AGENTS.md",
        ] {
            check(path, Some(Protection::UnlessNamed));
        }
    }

    #[test]
    fn ordinary_files_are_free() {
        for path in [
            "src/app.py",
            "git/config.py",
            "src/environment.py",
            "env/reader.py",
            ".gitignore",
            "docs/bak.md",
            "x.bakery",
            ".github/ISSUE_TEMPLATE.md",
            ".env.example",
            "tests/test_a.py",
            "src/config.ts",
            "\u{e9}t\u{e9}.py",
        ] {
            check(path, None);
        }
    }
}

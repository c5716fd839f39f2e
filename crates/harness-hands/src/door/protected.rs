//! Files that no draft may touch, also when they do not exist yet and in any spelling: what belongs
//! to git and the harness, what a tool installed, and what makes other programs run things.

use harness_code::path::RelPath;
use harness_code::text::is_among;

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
    (
        "the repository's own records",
        ".git git~1 .hg .svn .bzr .jj",
    ),
    ("the harness's own records", ".harness"),
    ("a virtual environment", ".venv venv .tox .nox .conda"),
    (
        "installed packages",
        "__pypackages__ site-packages node_modules",
    ),
    ("shell configuration", ".direnv"),
    (
        "editor configuration",
        ".vscode .idea .zed .fleet .helix .run .nvim .devcontainer",
    ),
    (
        "agent configuration",
        ".cursor .windsurf .claude .codex .gemini .agents .continue .cline .clinerules .junie .roo \
         .kiro .opencode",
    ),
    (
        "configuration of the build service",
        ".circleci .buildkite .teamcity .woodpecker .ci",
    ),
    ("a git hook", ".husky .githooks"),
    ("configuration of the build", ".cargo .mvn"),
];

/// Files that are protected by their name, in any folder.
const FILES: &[(&str, &str)] = &[
    (
        "git configuration",
        ".gitattributes .gitmodules .gitconfig .lfsconfig",
    ),
    (
        "a git hook",
        ".pre-commit-config.yaml .pre-commit-config.yml lefthook.yml .lefthook.yml",
    ),
    (
        "agent configuration",
        ".cursorrules .windsurfrules .clinerules .roomodes .mcp.json mcp.json opencode.json",
    ),
    (
        "editor configuration",
        ".devcontainer.json .vimrc .exrc .nvimrc .nvim.lua .lvimrc .dir-locals.el",
    ),
    (
        "configuration of the build service",
        ".gitlab-ci.yml .travis.yml azure-pipelines.yml bitbucket-pipelines.yml appveyor.yml \
         .appveyor.yml .drone.yml .woodpecker.yml jenkinsfile",
    ),
    (
        "shell configuration",
        ".bashrc .bash_profile .bash_login .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin \
         .envrc .env .tool-versions .mise.toml mise.toml",
    ),
    (
        "configuration of a package tool",
        ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc pip.conf .netrc",
    ),
    (
        "code that Python runs at every start",
        "sitecustomize.py usercustomize.py",
    ),
];

/// Build and test configuration: changed only when the task names the file.
const CONFIGURATION: &str = "\
    agents.md claude.md gemini.md pyproject.toml setup.py setup.cfg tox.ini noxfile.py pytest.toml \
    .pytest.toml pytest.ini .pytest.ini .coveragerc manifest.in pipfile pipfile.lock poetry.lock \
    uv.lock pdm.lock uv.toml environment.yml makefile gnumakefile cmakelists.txt justfile \
    .justfile taskfile.yml meson.build package.json package-lock.json yarn.lock pnpm-lock.yaml \
    pnpm-workspace.yaml bun.lockb deno.json tsconfig.json .mocharc.json .mocharc.js .mocharc.cjs \
    .mocharc.yml .babelrc cargo.toml cargo.lock build.rs rust-toolchain rust-toolchain.toml go.mod \
    go.sum go.work pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts \
    gradle.properties gradlew gradlew.bat mvnw mvnw.cmd gemfile gemfile.lock rakefile \
    composer.json composer.lock dockerfile docker-compose.yml docker-compose.yaml compose.yml \
    compose.yaml build build.bazel workspace module.bazel .python-version .nvmrc";

/// Stems whose `name.config.*` files are configuration: `jest.config.js`, `vite.config.ts`.
const CONFIGURED: &str = "\
    jest vitest vite webpack rollup babel karma playwright cypress eslint postcss next nuxt svelte \
    ava";

/// Says whether and why a path is protected, by its name alone.
pub fn protection(path: &RelPath) -> Option<(Protection, &'static str)> {
    let folded: Vec<String> = path.parts().map(fold).collect();
    let always = |why| Some((Protection::Always, why));
    let in_list = |list: &[(&'static str, &str)], name: &str| {
        let found = list.iter().find(|(_, names)| is_among(names, name));
        found.map(|(why, _)| *why)
    };
    let name = folded.last()?.as_str();
    let mut folders = folded.iter();
    let folder = folders.find_map(|part| in_list(FOLDERS, part));
    if let Some(why) = folder.or_else(|| in_list(FILES, name)) {
        return always(why);
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
    let is_configuration = is_among(CONFIGURATION, name)
        || (name.starts_with("requirements") && name.ends_with(".txt"))
        || (name.starts_with("tsconfig.") && name.ends_with(".json"))
        || name.ends_with(".csproj")
        || name.ends_with(".sln")
        || CONFIGURED.split_ascii_whitespace().any(|stem| {
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

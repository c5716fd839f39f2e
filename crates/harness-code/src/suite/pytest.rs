//! What a project tells pytest: the options of its settings, and the plugins that those come from.

use toml::{Table, Value};

use crate::suite::manifest::{ini, inside, strings};
use crate::text::is_among;

/// Plugins of pytest with the options and settings that they bring.
const PLUGINS: &[(&str, &str)] = &[
    ("pytest-cov", "--cov --no-cov"),
    ("pytest-xdist", "-n --numprocesses --dist"),
    ("pytest-asyncio", "--asyncio-mode asyncio_mode"),
    ("pytest-timeout", "--timeout timeout"),
    ("pytest-benchmark", "--benchmark"),
    ("pytest-rerunfailures", "--reruns"),
    ("pytest-django", "--ds DJANGO_SETTINGS_MODULE"),
    ("pytest-doctestplus", "--doctest-plus"),
    ("pytest-random-order", "--random-order"),
    ("pytest-mypy", "--mypy"),
    ("pytest-flake8", "--flake8"),
    ("pytest-black", "--black"),
    ("pytest-ruff", "--ruff"),
    ("pytest-html", "--html"),
    ("pytest-socket", "--disable-socket"),
    ("syrupy", "--snapshot"),
    ("hypothesis", "--hypothesis"),
    ("pytest-env", "env"),
    ("pytest-mock", "mock_use_standalone_module"),
    ("pytest-qt", "qt_api"),
];

/// Plugins that report, spread or limit tests: every test runs without them.
const DISPENSABLE: &str = "\
    pytest-cov pytest-xdist pytest-timeout pytest-rerunfailures pytest-random-order pytest-mypy \
    pytest-flake8 pytest-black pytest-ruff pytest-html pytest-socket";

/// Options of those that take no value.
const WITHOUT_VALUE: &str = "\
    --no-cov --no-cov-on-fail --cov-append --cov-branch --random-order --mypy --flake8 --black \
    --ruff --self-contained-html --disable-socket";

/// What the first file that configures pytest tells it; pytest reads no other.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// What it was told from, for a person.
    pub(super) why: Option<String>,
    /// The names of the settings.
    keys: Vec<String>,
    /// `addopts`, word by word.
    options: Vec<String>,
}

impl Settings {
    /// Reads them, from files in pytest's own order.
    pub(super) fn read(text: &dyn Fn(&str) -> Option<String>) -> Settings {
        for (name, sections) in [
            ("pytest.toml", &["pytest"][..]),
            (".pytest.toml", &["pytest"]),
            ("pytest.ini", &["pytest"]),
            (".pytest.ini", &["pytest"]),
            (
                "pyproject.toml",
                &["tool.pytest.ini_options", "tool.pytest"],
            ),
            ("tox.ini", &["pytest"]),
            ("setup.cfg", &["tool:pytest"]),
        ] {
            let Some(content) = text(name) else { continue };
            let mut of = sections
                .iter()
                .filter_map(|section| match name.ends_with(".toml") {
                    true => Settings::of_toml(&content, section),
                    false => Settings::of_ini(&content, section),
                });
            // A file of pytest's own counts also when it says nothing.
            let is_own = name.trim_start_matches('.').starts_with("pytest.");
            let why = match is_own {
                true => format!("`{name}`"),
                false => format!("`{name}` configures pytest"),
            };
            match of.next() {
                Some(found) => {
                    return Settings {
                        why: Some(why),
                        ..found
                    };
                }
                None if is_own => {
                    return Settings {
                        why: Some(why),
                        ..Settings::default()
                    };
                }
                None => {}
            }
        }
        Settings::default()
    }

    fn of_toml(content: &str, section: &str) -> Option<Settings> {
        let table = content.parse::<Table>().ok()?;
        let settings = inside(&table, section)?.as_table()?;
        let options = match settings.get("addopts") {
            Some(Value::String(text)) => words(text),
            listed => strings(listed),
        };
        Some(Settings {
            why: None,
            keys: settings.keys().cloned().collect(),
            options,
        })
    }

    fn of_ini(content: &str, section: &str) -> Option<Settings> {
        let head = format!("[{section}]");
        content.lines().find(|line| line.trim_end() == head)?;
        let keys = PLUGINS
            .iter()
            .flat_map(|(_, words)| words.split_ascii_whitespace());
        let is_set = |key: &&str| !key.starts_with('-') && !ini(content, section, key).is_empty();
        Some(Settings {
            why: None,
            keys: keys.filter(is_set).map(str::to_owned).collect(),
            options: words(&ini(content, section, "addopts").join(" ")),
        })
    }

    /// Returns the plugins that they use.
    pub(super) fn plugins(&self) -> Vec<String> {
        let said = || self.keys.iter().chain(&self.options);
        let is_said = |known: &str| said().any(|word| is_of(word, known));
        let used = PLUGINS
            .iter()
            .filter(|(_, words)| words.split_ascii_whitespace().any(is_said));
        used.map(|(plugin, _)| (*plugin).to_owned()).collect()
    }

    /// Returns the options without those of plugins that are missing and that no test needs, as one text that pytest
    /// splits again, and the plugins; nothing where all options can stay.
    pub(super) fn without(&self, missing: &[String]) -> Option<(String, Vec<&'static str>)> {
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        let mut options = self.options.iter().map(String::as_str).peekable();
        while let Some(option) = options.next() {
            let plugin = plugin_of(option).filter(|plugin| {
                is_among(DISPENSABLE, plugin) && missing.iter().any(|name| name == plugin)
            });
            let Some(plugin) = plugin else {
                kept.push(option);
                continue;
            };
            left_out.push(plugin);
            let takes_value = !option.contains('=')
                && !is_among(WITHOUT_VALUE, option)
                && (option.starts_with("--") || option.len() == 2);
            if takes_value {
                options.next_if(|value| !value.starts_with('-'));
            }
        }
        left_out.sort_unstable();
        left_out.dedup();
        // A setting of a plugin that is not there would be an error.
        kept.retain(|option| *option != "--strict-config" || left_out.is_empty());
        let joined = shlex::try_join(kept).ok()?;
        (!left_out.is_empty()).then_some((joined, left_out))
    }
}

fn words(text: &str) -> Vec<String> {
    let plain = || text.split_whitespace().map(str::to_owned).collect();
    shlex::split(text).unwrap_or_else(plain)
}

/// Returns the plugin that an option comes from.
fn plugin_of(option: &str) -> Option<&'static str> {
    let is_it = |known: &str| known.starts_with('-') && is_of(option, known);
    let mut plugins = PLUGINS.iter();
    let found = plugins.find(|(_, words)| words.split_ascii_whitespace().any(is_it));
    found.map(|(plugin, _)| *plugin)
}

/// Says whether a word is an option of the table, with or without its value, or a setting.
fn is_of(word: &str, known: &str) -> bool {
    let is_number = |rest: &str| rest == "auto" || rest.parse::<u32>().is_ok();
    match word.strip_prefix(known) {
        Some("") => true,
        Some(rest) if known.starts_with("--") => rest.starts_with(['=', '-']),
        Some(rest) => known == "-n" && is_number(rest),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &str) -> Settings {
        Settings::read(&|asked| (asked == name).then(|| content.to_owned()))
    }

    #[test]
    fn plugins_are_told_from_what_pytest_is_given() {
        let plugins = |name: &str, text: &str| read(name, text).plugins().join(" ");
        let text = "[tool.pytest.ini_options]\naddopts = \"-ra --cov=a --cov-report term -n auto\"\nasyncio_mode = \"auto\"\n";
        assert_eq!(
            plugins("pyproject.toml", text),
            "pytest-cov pytest-xdist pytest-asyncio"
        );
        let text = "[tool.pytest.ini_options]\naddopts = [\"--timeout=5\", \"-q\"]\ntestpaths = [\"tests\"]\n";
        assert_eq!(plugins("pyproject.toml", text), "pytest-timeout");
        let text = "[tool:pytest]\naddopts =\n    --doctest-modules\n    --cov\n";
        assert_eq!(plugins("setup.cfg", text), "pytest-cov");
        let text = "[pytest]\nDJANGO_SETTINGS_MODULE = a.settings\n";
        assert_eq!(plugins("tox.ini", text), "pytest-django");
        let text = "[pytest]\naddopts = -v --strict-markers --covered\n";
        assert_eq!(plugins("pytest.ini", text), "");
    }

    #[test]
    fn pytest_reads_one_file_and_so_do_we() {
        let files = [
            ("pytest.ini", "[pytest]\naddopts = -q\n"),
            ("setup.cfg", "[tool:pytest]\naddopts = --cov\n"),
        ];
        let text = |asked: &str| {
            let found = files.iter().find(|(name, _)| *name == asked);
            found.map(|(_, text)| (*text).to_owned())
        };
        let settings = Settings::read(&text);
        assert_eq!(settings.why.as_deref(), Some("`pytest.ini`"));
        assert!(settings.plugins().is_empty());
        let empty = read("tox.ini", "[testenv]\ndeps = pytest\n");
        assert_eq!(empty.why, None);
    }

    #[test]
    fn options_of_missing_plugins_are_left_out_where_no_test_needs_them() {
        let without = |options: &str, missing: &str| {
            let settings = read("pytest.ini", &format!("[pytest]\naddopts = {options}\n"));
            let missing: Vec<String> = missing.split_whitespace().map(str::to_owned).collect();
            settings
                .without(&missing)
                .map(|(rest, plugins)| (rest, plugins.join(" ")))
        };
        let some = |rest: &str, plugins: &str| Some((rest.to_owned(), plugins.to_owned()));
        for (options, missing, expected) in [
            ("-q --cov=a -x", "pytest-cov", some("-q -x", "pytest-cov")),
            (
                "--cov a --cov-report term -q",
                "pytest-cov",
                some("-q", "pytest-cov"),
            ),
            (
                "--cov-branch tests -n 4",
                "pytest-cov pytest-xdist",
                some("tests", "pytest-cov pytest-xdist"),
            ),
            (
                "-nauto -m 'not slow'",
                "pytest-xdist",
                some("-m 'not slow'", "pytest-xdist"),
            ),
            (
                "--strict-config --cov",
                "pytest-cov",
                some("", "pytest-cov"),
            ),
            ("--cov", "pytest-mock", None),
            ("--asyncio-mode=auto", "pytest-asyncio", None),
            ("-q", "pytest-cov", None),
        ] {
            assert_eq!(without(options, missing), expected, "{options}");
        }
    }
}

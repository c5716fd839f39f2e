//! A test that passes and fails by chance neither takes a right change back nor proves a wrong one.
#![expect(clippy::disallowed_methods, reason = "the test lays a project out")]

use harness_agent::{Agent, AgentOptions, Cancel, Event, Listener, Question};

#[path = "../../../tests/support/scripted.rs"]
mod scripted;
use scripted::Scripted;

/// Fails every second time it runs on a state of the project: the first time on the new one, the second on the old.
const FICKLE: &str = "import pathlib, unittest
from pricing import discount

class T(unittest.TestCase):
    def test_discount(self):
        self.assertEqual(discount(200, 10), 180)

    def test_by_chance(self):
        count = pathlib.Path('count')
        number = int(count.read_text()) if count.exists() else 0
        count.write_text(str(number + 1))
        self.assertNotEqual(number % 2 == 0, discount(200, 10) == 180)
";

#[derive(Default)]
struct Heard(Vec<String>);

impl Listener for Heard {
    fn event(&mut self, event: &Event) {
        self.0.push(event.text.clone());
    }

    fn question(&mut self, _question: &Question) -> Option<String> {
        None
    }
}

#[test]
fn a_flaky_test_does_not_take_a_right_change_back() {
    let project = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(project.path().join(name), text).unwrap();
    write(
        "pricing.py",
        "def discount(total, percent):\n    return total - percent\n",
    );
    write("test_pricing.py", FICKLE);
    let model = Scripted::new([
        "```python\ndef discount(total, percent):\n    return total * (100 - percent) / 100\n```",
    ]);
    let mut heard = Heard::default();
    let agent = Agent::new(AgentOptions::new(project.path()));
    let result = agent
        .run_with(
            Box::new(model),
            "fix discount in pricing.py",
            &mut heard,
            &Cancel::default(),
        )
        .unwrap();
    assert!(result.ok, "{result:?}");
    assert!(
        heard
            .0
            .iter()
            .any(|text| text.contains("by chance") && text.contains("test_by_chance")),
        "{:?}",
        heard.0
    );
    assert!(
        result.summary.contains("test_discount"),
        "{}",
        result.summary
    );
}

//! A file may go only when the task says so of it.

use harness_code::path::RelPath;

use crate::history::Refusal;
use harness_code::request::Request;

pub(super) fn check(path: &RelPath, task: &Request) -> Option<Refusal> {
    if task.wants_gone(path) {
        return None;
    }
    let reason =
        format!("`{path}` would be gone and the task does not say so: leave the file where it is");
    Some(Refusal::new("draft.removed", reason, path.as_str()))
}

#[cfg(test)]
mod tests {
    use harness_code::path::RelPath;

    use harness_code::request::Request;

    #[test]
    fn only_a_file_that_the_task_wants_gone_may_go() {
        let path = RelPath::parse("shop/old.py").unwrap();
        assert!(super::check(&path, &Request::read("tidy up the shop")).is_some());
        let part = "remove the function total from shop/old.py";
        assert!(super::check(&path, &Request::read(part)).is_some());
        let all = "move total from shop/old.py to a.py and delete shop/old.py";
        assert!(super::check(&path, &Request::read(all)).is_none());
        assert!(super::check(&path, &Request::read("fix total until old.py passes")).is_some());
        assert!(super::check(&path, &Request::read("remove shop/old.py")).is_none());
        assert!(super::check(&path, &Request::read("old.py is not needed, delete it")).is_none());
    }
}

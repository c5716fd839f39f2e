use super::*;

#[track_caller]
fn check(code: &str, expected: &[&str]) {
    let found = unresolved(code, &Context::default());
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, expected, "{code}");
    for one in &found {
        assert_eq!(code.get(one.span.clone()), Some(one.name.as_str()));
    }
}

#[test]
fn a_name_that_nothing_binds_is_found() {
    check("total = 1\nprint(totl)\n", &["totl"]);
}

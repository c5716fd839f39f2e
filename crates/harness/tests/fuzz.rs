//! The fuzz body of the server as a property test: noise, and almost-requests.

#[path = "../../../fuzz/request.rs"]
mod body;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn noise(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        body::request(&data);
    }

    #[test]
    fn almost_requests(
        route in any::<u8>(),
        name in "task|scope|model|skills|steps|max_tokens|dry_run|messages|stream|role|[a-z]{0,4}",
        value in r#"null|true|-?[0-9]{1,25}(\.[0-9]+)?(e[0-9]{1,4})?|"[a-z \\]{0,8}"|\[\]|\{\}|\["a", 1\]|\[\{"role": "user", "content": "x"\}\]|\[{1,200}"#,
        tail in r#"[\}\],:" ]{0,4}"#,
    ) {
        let text = format!("{{\"{name}\": {value}{tail}}}");
        let mut data = vec![route];
        data.extend_from_slice(text.as_bytes());
        body::request(&data);
    }
}

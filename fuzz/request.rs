//! The fuzz body of the server: any bytes are a request or a 400, for every route.

/// Requests: the first byte picks the route.
pub(crate) fn request(data: &[u8]) {
    let Some((first, body)) = data.split_first() else {
        return;
    };
    let routes = harness::server::routes();
    let route = &routes[usize::from(*first) % routes.len()];
    let status = harness::server::judge(route.path, body);
    assert!(status == 200 || status == 400, "{status}");
}

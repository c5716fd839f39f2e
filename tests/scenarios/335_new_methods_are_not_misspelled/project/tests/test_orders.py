from orders import Order


def test_lines():
    assert Order(["a"]).report_lines() == "a"

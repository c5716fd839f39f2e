//! The Python face over harness-agent; pyo3 is named nowhere else.

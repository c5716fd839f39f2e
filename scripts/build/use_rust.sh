#!/bin/sh
# Installs the Rust that Cargo.toml names (`rust-version`) and makes it the default: use_rust.sh [COMPONENT,...]
# For the hosted runners: a compiler that is newer than the code has lints that the code does not know.
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
rustup toolchain install "$version" --profile minimal ${1:+--component "$1"}
rustup default "$version"

#!/bin/sh
# Runs the tests of harness-hands, where all `unsafe` code lives, with AddressSanitizer: sanitize.sh [FILTER]
# On x86-64 Linux. The compiler's flag is not stable yet; the variable below lets a stable one take it.
set -eu
cd "$(dirname "$0")/../.."
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target/sanitize}"
# What a process that is killed still holds is no leak.
export ASAN_OPTIONS="detect_leaks=0"
exec cargo test --locked --package harness-hands --lib --target x86_64-unknown-linux-gnu -- "$@"

#!/bin/sh
# Runs the tests of harness-hands, where all `unsafe` code lives, with AddressSanitizer: sanitize.sh [FILTER]
# Besides those of its rooms, those that change whole projects and run tests in the sandbox for real. In `suite_hostile`
# a process is started without the setting below.
# On x86-64 Linux. The compiler's flag is not stable yet; the variable below lets a stable one take it.
set -eu
cd "$(dirname "$0")/../.."
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target/sanitize}"
# What a process that is killed still holds is no leak.
export ASAN_OPTIONS="detect_leaks=0"
exec cargo test --locked --package harness-hands --lib --test changes --test trial --test suite_quick --target x86_64-unknown-linux-gnu -- "$@"

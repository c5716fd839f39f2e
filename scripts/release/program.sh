#!/bin/sh
# Builds, tries and packs the program of one target for the release page: program.sh TARGET
# For Linux it must be static. The archive goes to dist/.
set -eu
cd "$(dirname "$0")/../.."
target=$1
scripts/build/use_rust.sh
rustup target add "$target"
cargo build --release --locked --package harness --bin harness --target "$target"
suffix=""
case "$target" in *windows*) suffix=.exe ;; esac
program="target/$target/release/harness$suffix"
"$program" --version
"$program" brief demo/orders
case "$target" in
  *musl*)
    if ldd "$program" 2>/dev/null | grep -q "=>"; then
      echo "the program needs libraries of the system" >&2
      exit 1
    fi
    ;;
esac
command -v python3 > /dev/null && python=python3 || python=python
"$python" scripts/release/archive.py "$program" "$target"

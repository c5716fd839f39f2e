#!/bin/sh
# Builds, tries and packs the program of one target for the release page: program.sh TARGET
# It needs nothing that a system may lack: static for Linux, with Microsoft's C library inside for Windows. The archive
# goes to dist/.
set -eu
cd "$(dirname "$0")/../.."
target=$1
scripts/build/use_rust.sh
rustup target add "$target"
suffix=""
case "$target" in
  *-musl)
    # Crates with C in them look for the longer name, which Ubuntu's musl-tools does not have for every machine.
    longer="$(echo "$target" | sed 's/-unknown//')-gcc"
    variable="CC_$(echo "$target" | tr - _)"
    if ! command -v "$longer" > /dev/null && ! printenv "$variable" > /dev/null; then
      export "$variable=musl-gcc"
    fi
    ;;
  *-windows-msvc)
    suffix=.exe
    export RUSTFLAGS="${RUSTFLAGS:+$RUSTFLAGS }-C target-feature=+crt-static"
    ;;
esac
cargo build --release --locked --package harness --bin harness --target "$target"
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

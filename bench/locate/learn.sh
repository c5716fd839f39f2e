#!/bin/sh
# Measures locating on the cases of ../shared/bench and makes the two tables that the program ships.
#
#     bench/locate/learn.sh MIRROR SCRATCH [cross|detail|single|without|weights|table]
#
# MIRROR holds bare copies of the repositories as owner+name/repo; SCRATCH gets the trees (about 2 GB) and the signals.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cases="$root/../shared/bench/locate/dev.jsonl"
mirror=$1 scratch=$2 what=${3:-cross}
if [ ! -f "$cases" ]; then
    echo "learn.sh: no cases at ../shared/bench/locate: nothing to measure" >&2
    exit 0
fi
python3 "$here/lay_out.py" "$cases" "$mirror" "$scratch/trees"
cd "$root"
cargo build --release -p harness-bench --bin locate_signals --bin locate_learn
if [ ! -f "$scratch/signals.tsv" ] || [ target/release/locate_signals -nt "$scratch/signals.tsv" ]; then
    target/release/locate_signals "$cases" "$scratch/trees" > "$scratch/signals.tsv"
fi
target/release/locate_learn "$scratch/signals.tsv" "$cases" "$what" crates/harness-code/src/locate

#!/usr/bin/env bash
# Fuzzes reading pages and inserting links.
#
#   fuzz.sh SECONDS [TARGET ...] [-- SEEDS ...]
#
# Runs each target (all of fuzz/fuzz_targets when none is named) for so many seconds. Inputs grow from the pages of
# examples/site and from the files of the folders SEEDS, and are kept in target/fuzz/corpus. Ends with an error at the
# first input that breaks a promise; it is kept in target/fuzz, and `target/fuzz/bin/TARGET FILE` shows it again.
#
# The stable compiler is enough: it counts which edges inputs reach, and without unsafe code there is nothing for a
# sanitizer to watch.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?seconds per target}
shift
targets=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    targets+=("$1")
    shift
done
[ $# -eq 0 ] || shift
seeds=(examples/site "$@")
[ ${#targets[@]} -gt 0 ] || targets=(html_insert html_parse markdown_insert markdown_parse url_key)

host=$(rustc -vV | sed -n 's/^host: //p')
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
# With a target named, build scripts and macros are compiled without the counters.
RUSTFLAGS=$coverage CARGO_TARGET_DIR=target/fuzz cargo build --manifest-path fuzz/Cargo.toml --release --target "$host" --quiet

for target in "${targets[@]}"; do
    echo "== $target, $seconds s"
    mkdir -p "target/fuzz/corpus/$target"
    # Slow inputs are no fault of the promises; one that hangs is.
    "target/fuzz/$host/release/$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=8192 -max_len=16384 \
        -print_final_stats=1 -verbosity=0 -artifact_prefix="target/fuzz/$target-" "target/fuzz/corpus/$target" "${seeds[@]}"
done

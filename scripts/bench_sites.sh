#!/usr/bin/env bash
# Plans benchmark sites with the release binary, twice each, and scores the rankings.
#
#   bench_sites.sh BENCHMARKS SITES OUT NAME...
#
# BENCHMARKS holds score.py; SITES/NAME/holdout is the site without its hidden links. Prints wall time and peak memory
# of both runs, what the plan holds, and the score.
set -euo pipefail
benchmarks=$1 sites=$2 out=$3
shift 3
linkwright=${LINKWRIGHT:-target/release/linkwright}
mkdir -p "$out"
for name in "$@"; do
    echo "== $name"
    for run in first second; do
        python3 - "$run" "$out/$name.$run.txt" "$linkwright" plan "$sites/$name/holdout" --base-url "https://$name.example/" \
            --project "$out/$name" --ranking "$out/$name.csv" <<'PY'
import resource, subprocess, sys, time
run, log, *command = sys.argv[1:]
start = time.perf_counter()
with open(log, "w") as out:
    code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{run}: {time.perf_counter() - start:.1f} s wall, {usage.ru_utime:.1f} s user, {usage.ru_maxrss // 1024} MB peak, exit {code}")
PY
    done
    python3 "$benchmarks/score.py" "$sites/$name" "$out/$name.csv"
done

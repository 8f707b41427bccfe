#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh SECONDS [TARGET…]   fuzzes the targets one after the other, for so many seconds in all; a finding is
#                             written to Fuzz/Findings and fails the run
#                             Fuzz/.build/corpus keeps what a run reached for the next one.
set -eu
cd "$(dirname "$0")/.."

targets="encodings layouts calls values wire journal remote frames cancels"
build=Fuzz/.build/fuzz
corpus=Fuzz/.build/corpus

# libFuzzer without a `main`, from the toolchain's own runtime.
runtime=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
library=$(ls "$runtime"/../clang/*/lib/linux/libclang_rt.fuzzer_no_main-x86_64.a | tail -1)

# Swift and C count the edges that run; address sanitizer finds invalid accesses.
# shellcheck disable=SC2046
swift build --package-path Fuzz --scratch-path $build -c release --sanitize=address $(cat Scripts/strict.flags) \
  -Xswiftc -sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table \
  -Xcc -fsanitize=fuzzer-no-link -Xlinker "$library"
fuzz=$build/release/fuzz

# Memory that the Swift runtime caches for good would be reported as leaks.
export ASAN_OPTIONS=detect_leaks=0
# libFuzzer prints a backtrace itself.
export SWIFT_BACKTRACE=enable=no

seconds=${1:-60}
shift || true
chosen=${*:-$targets}
each=$((seconds / $(echo $chosen | wc -w)))
[ $each -gt 0 ] || each=1
mkdir -p Fuzz/Findings
for target in $chosen; do
  mkdir -p $corpus/$target Fuzz/Corpus/$target
  echo "== $target, $each seconds"
  $fuzz $target -max_total_time=$each -max_len=512 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix=Fuzz/Findings/$target- $corpus/$target Fuzz/Corpus/$target
done
echo "Nothing was found."

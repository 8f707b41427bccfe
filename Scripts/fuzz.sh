#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh SECONDS [TARGET…]   fuzzes the targets one after the other, for so many seconds in all; a finding is
#                             written to Fuzz/Findings and fails the run
# fuzz.sh keep                replaces Fuzz/Corpus by the inputs of Fuzz/.build/corpus and of Fuzz/Corpus that
#                             are needed for its coverage
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

if [ "${1:-}" = keep ]; then
  # Keeps only inputs that reach a new place, and ignores how often they reach it: a few hundred small files.
  for target in $targets; do
    rm -rf $corpus/kept
    mkdir -p $corpus/kept $corpus/$target Fuzz/Corpus/$target
    $fuzz $target -set_cover_merge=1 -use_counters=0 -max_len=160 $corpus/kept Fuzz/Corpus/$target \
      $corpus/$target
    # Inputs that once broke something are named with words and hyphens, and are always kept.
    find Fuzz/Corpus/$target -name '*-*' -exec cp {} $corpus/kept \;
    rm -rf Fuzz/Corpus/$target
    mv $corpus/kept Fuzz/Corpus/$target
  done
  exit
fi

seconds=${1:-60}
shift || true
chosen=${*:-$targets}
each=$((seconds / $(echo $chosen | wc -w)))
[ $each -gt 0 ] || each=1
mkdir -p Fuzz/Findings
for target in $chosen; do
  mkdir -p $corpus/$target
  echo "== $target, $each seconds"
  $fuzz $target -max_total_time=$each -max_len=512 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix=Fuzz/Findings/$target- $corpus/$target Fuzz/Corpus/$target
done
echo "Nothing was found."

# make demo             build, and take the tour
# make test             lint, build, and run every test
# make test-release     build and run every test optimized, as users build
# make check            make test and make test-release, 3,000 random signatures, the sanitizers, other builds,
#                       several images, failing allocations, models, and everything on AArch64
# make check-aarch64    the C core on AArch64, in an emulator: each rule, and 3,000 random signatures
# make check-aarch64-swift   the whole package on AArch64, in an emulator: the tool, all tests, 3,000 random signatures
# make docs             build the documentation of all libraries, as a site
# make release VERSION=0.1.0   check all that a version must pass, and show its notes; writes nothing
# make test-remote      calls to other processes, with a real NATS server
# make demo-remote      build and show calls between processes: a server and four clients, on loopback
# make fuzz SECONDS=60  coverage-guided random inputs, for so many seconds over all targets
# make bench            compare calls with closures and with other libraries; writes a page with charts
# make bench-check      run the comparison, and fail if a limit is exceeded
.PHONY: demo test test-release check setup setup-test setup-check setup-bench lint unsafe build format goldens bench \
	bench-check bench-build bench-record fuzz clean test-remote demo-remote check-aarch64 check-aarch64-swift docs \
	release

demo: setup
	@swift build -c release --product forward
	@.build/release/forward tour

# The tests also build `@Forwardable`, with the SwiftSyntax of the toolchain.
TRAITS = --traits Macros
# In builds of this repository warnings are errors. The manifest does not say so, because it would break the
# programs that depend on the package as soon as a later compiler has a new warning. The compiler does not verify
# its own intermediate code, which takes an eighth of its time.
STRICT := $(shell cat Scripts/strict.flags)
# SwiftPM passes several traits to the compiler in a random order, so that half of all builds would compile
# everything once more. With this setting the order is always the same.
ORDERED = SWIFT_DETERMINISTIC_HASHING=1

test: setup-test lint unsafe
	swift build --build-tests $(TRAITS) $(STRICT)
	Scripts/tests.sh --skip-build $(TRAITS) $(STRICT)

test-release: setup-test
	swift build --build-tests $(TRAITS) $(STRICT) -c release -Xswiftc -enable-testing
	Scripts/tests.sh --skip-build $(TRAITS) $(STRICT) -c release -Xswiftc -enable-testing

check: setup-check test test-release
	FORWARDING_SIGNATURES=3000 FORWARDING_SEED=1000 swift test --skip-build $(TRAITS) $(STRICT) --filter CallMatrixTests
	FORWARDING_HISTORIES=3000 FORWARDING_SEED=1000 swift test --skip-build $(TRAITS) $(STRICT) --filter MulticastModelTests
	FORWARDING_HISTORIES=3000 FORWARDING_SEED=1000 swift test --skip-build $(TRAITS) $(STRICT) --filter BothWaysTests
	FORWARDING_HISTORIES=10000 swift test --skip-build $(TRAITS) $(STRICT) --filter UndoModelTests
	FORWARDING_SECONDS=10 swift test --skip-build $(TRAITS) $(STRICT) --filter ConcurrencyTests
	JOURNAL_KILLS=200 JOURNAL_TRIALS=2000 swift test --skip-build $(TRAITS) $(STRICT) \
		--filter 'ForwardingJournalTests.(Kill|Fault|Misplaced|StrayRecord)Tests'
	REMOTE_KILLS=400000 swift test --skip-build $(TRAITS) $(STRICT) --filter ConnectionStateTests
	FORWARDING_PAGE_PACKAGE=1 swift test --skip-build $(TRAITS) $(STRICT) --filter DelegatesPageTests
	Scripts/sanitize.sh address
	Scripts/sanitize.sh thread
	Scripts/sanitize.sh checked
	Scripts/sanitize.sh libffi
	Scripts/builds.sh
	$(MAKE) bench-build
	# The limits of a dependent, bytes and time, only fall.
	Scripts/dependent.sh 1370000 15
	$(MAKE) docs
	Scripts/images.sh
	Scripts/core.sh
	Scripts/models.sh
	Scripts/memory-order.sh
	$(MAKE) check-aarch64
	$(MAKE) check-aarch64-swift
	@echo "All checks passed."

# The C core on AArch64, in an emulator: each rule alone, and random signatures by the compilers' rules.
check-aarch64:
	@Scripts/setup.sh aarch64
	Scripts/aarch64.sh
	Scripts/matrix.sh aarch64

# The whole package on AArch64, in an emulator, with libraries of Debian.
check-aarch64-swift:
	Scripts/aarch64-swift.sh

# Calls to other processes, with a real NATS server on loopback. Included are the tool, the demo, the bytes on
# the wire, the growth of costs, and the whole fuzzing corpus.
test-remote:
	@Scripts/setup.sh nats
	$(ORDERED) swift build --build-tests --traits Macros,NATS $(STRICT)
	FORWARDING_NEEDS_NATS=1 REMOTE_FLOOD=1000000 Scripts/tests.sh --skip-build --traits Macros,NATS $(STRICT) --filter \
		'Forwarding(Remote|Actors|Wire)Tests|RemoteCommandTests|RemoteGrowthTests|FuzzCorpusTests'

# The pages and the types of all libraries as a site. BASE is its path on a server, such as /swift-forwarding.
docs:
	@Scripts/setup.sh docs
	Scripts/docs.sh $(BASE)

# Checks all that a version must pass, and shows its notes: make release VERSION=0.1.0
release:
	Scripts/release.sh $(VERSION)

demo-remote:
	@Scripts/setup.sh nats
	@Scripts/demo-remote.sh

setup:
	@Scripts/setup.sh

setup-test:
	@Scripts/setup.sh test

setup-check:
	@Scripts/setup.sh check

SWIFT_FILES = Package.swift Sources Tests Snippets Benchmarks/Package.swift Benchmarks/Sources Benchmarks/CallBenchmarks \
	Fuzz/Package.swift Fuzz/Sources Examples

lint:
	swift format lint --strict --recursive --parallel $(SWIFT_FILES)
	@Scripts/spdx.sh check

format:
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

# Only the other modules may contain unsafe code: in these four, the word itself is a failure.
unsafe:
	@! grep -rnw --exclude-dir='*.docc' -e unsafe -e '@unsafe' Sources/TypeEncodings Sources/Forwarding Sources/ForwardingTesting

# Rewrites the goldens of the public API and of refused sources. Check each new line against the rule at the
# top of SECURITY.md before you commit it.
goldens:
	RECORD_GOLDENS=1 swift test $(TRAITS) $(STRICT) --filter 'PublicAPITests|RefusedSourceTests|FaceSourceTests'
	git diff --stat -- Tests/Data

RESULTS = Benchmarks/Results
BENCHMARKS = Benchmarks/.build/release/benchmarks

setup-bench: setup
	@Scripts/setup.sh bench

bench-build: setup-bench
	@swift build -c release --package-path Benchmarks

bench: bench-build
	@$(BENCHMARKS) --json $(RESULTS)/latest.json --html $(RESULTS)/latest.html

bench-check: bench-build
	@$(BENCHMARKS) --no-curves --check Benchmarks/limits/linux-x86_64.json

# Records the run whose figures the pages show, and writes their tables.
bench-record: bench-build
	@$(BENCHMARKS) --rounds 240 --instructions --json $(RESULTS)/linux-x86_64.json \
		--html $(RESULTS)/latest.html --readme README.md --readme Documentation/Measuring.md

SECONDS = 60

fuzz: setup-test
	Scripts/fuzz.sh $(SECONDS)

clean:
	rm -rf .build Benchmarks/.build Fuzz/.build

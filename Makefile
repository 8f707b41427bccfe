# make demo             build, and take the tour
# make test             lint, and test-debug: build, and run every test
# make test-release     build and run every test optimized, as users build, with calls to a real NATS server
# make test-remote      of these, the calls to other processes, and more of them
# make check            what runs before a change lands: every test optimized, with 3,000 random signatures and 200 kills,
#                       and under two sanitizers, failing allocations, a dependent, the benchmarks' build, and the
#                       documentation
# make check-machines   models, AArch64 in an emulator, other builds and images, and longer random runs
# make mutants MODULE=Wire   change a module in many places, and record which tests see each change
# make docs             build the documentation of all libraries, as a site; BASE=/path is its path on a server
# make fuzz SECONDS=60  coverage-guided random inputs, for so many seconds over all targets
# make bench            compare calls with closures and with other libraries; writes a page with charts
# make bench-check      run the comparison, and fail if a limit is exceeded
# make release VERSION=0.1.0   check all that a version must pass, and show its notes; writes nothing
# The parts of a check share build folders.
.NOTPARALLEL:
.PHONY: demo test test-debug test-release test-remote check check-machines mutants lint format goldens docs fuzz bench bench-build \
	bench-check bench-record release clean

demo:
	@Scripts/setup.sh
	@swift build -c release --product forward
	@.build/release/forward tour

# In builds of this repository warnings are errors. The manifest does not say so, because it would break the
# programs that depend on the package as soon as a later compiler has a new warning. The compiler does not verify
# its own intermediate code, which takes an eighth of its time, and compiles a module's files in one batch: of two,
# each would read the other's files again, which takes a quarter.
STRICT := $(shell cat Scripts/strict.flags)

test: lint test-debug

test-debug:
	@Scripts/setup.sh test
	swift build --build-tests $(STRICT)
	Scripts/tests.sh --skip-build $(STRICT) $(TESTS)

# SwiftPM passes several traits to the compiler in a random order, so that half of all builds would compile
# everything once more. With this setting the order is always the same.
RELEASE = -c release -Xswiftc -enable-testing --traits Macros,NATS --scratch-path .build/nats $(STRICT)
BUILD_RELEASE = SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests $(RELEASE)
TEST_RELEASE = FORWARDING_NEEDS_NATS=1 Scripts/tests.sh --skip-build $(RELEASE)

test-release:
	@Scripts/setup.sh test nats
	$(BUILD_RELEASE)
	$(TEST_RELEASE)

test-remote:
	@Scripts/setup.sh test nats
	$(BUILD_RELEASE)
	REMOTE_FLOOD=1000000 REMOTE_KILLS=400000 $(TEST_RELEASE) --filter 'Forwarding(Remote|Wire)Tests'

# The part that was begun, with the time.
AT = @echo "check: $$(date +%H:%M:%S)"

check: lint
	$(AT) tests, with 3,000 random signatures and 200 kills
	FORWARDING_SIGNATURES=3000 FORWARDING_SEED=1000 FORWARDING_HISTORIES=300 FORWARDING_SECONDS=2 JOURNAL_KILLS=200 \
		JOURNAL_FAULT_STEP=1 $(MAKE) test-release
	$(AT) AddressSanitizer
	Scripts/sanitize.sh address
	$(AT) ThreadSanitizer
	# The modules with threads.
	Scripts/sanitize.sh thread --filter '^(Invocations|Forwarding|ForwardingTesting|ForwardingJournal|ForwardingRemote)Tests\.|(Queued|Value)Target|Threads'
	$(AT) the core alone
	Scripts/core.sh
	$(AT) a dependent, the benchmarks, the documentation
	# Bytes, and the time of a build as a multiple. Without options of one compiler version a program is larger.
	Scripts/dependent.sh 2100000 15.5
	$(MAKE) bench-build
	$(MAKE) docs
	$(AT) All checks passed.

check-machines: test-remote
	@Scripts/setup.sh check
	Scripts/models.sh
	Scripts/memory-order.sh
	Scripts/aarch64.sh
	Scripts/aarch64-swift.sh tests
	Scripts/matrix.sh aarch64
	Scripts/images.sh
	# As users build: with library evolution, for a binary framework, where the toolchain's own Dispatch warns; and unchecked.
	swift build --target Forwarding --scratch-path .build/evolution -Xcc -Werror -Xswiftc -enable-library-evolution
	swift build --target Forwarding --scratch-path .build/unchecked -c release -Xswiftc -Ounchecked $(STRICT)
	FORWARDING_HISTORIES=3000 FORWARDING_SEED=1000 FORWARDING_SECONDS=10 JOURNAL_TRIALS=2000 \
		$(TEST_RELEASE) --filter '(Model|BothWays|Reentry|Concurrency|Fault|Misplaced|Damage)Tests'

mutants:
	Scripts/mutants.py $(MODULE)

lint:
	swift format lint --strict --recursive --parallel $(SWIFT_FILES)
	@! git ls-files -- '*.swift' '*.c' '*.h' '*.S' '*.sh' '*.py' ':!Tests/Data' ':!*.docc/*' | xargs -r grep -L SPDX-License-Identifier | \
		sed 's/^/lint: no licence in /' | grep .

SWIFT_FILES = Package.swift Sources Tests Snippets Benchmarks/Package.swift Benchmarks/Sources \
	Fuzz/Package.swift Fuzz/Sources

format:
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

# Rewrites the goldens of the public API and of refused sources. Check each new line against the rule at the
# top of SECURITY.md before you commit it.
goldens:
	RECORD_GOLDENS=1 swift test $(STRICT) --filter 'PublicAPITests|RefusedSourceTests|ProxySourceTests'
	git diff --stat -- Tests/Data

docs:
	@Scripts/setup.sh nats
	Scripts/docs.sh $(BASE)

SECONDS = 60

fuzz:
	@Scripts/setup.sh test
	Scripts/fuzz.sh $(SECONDS)

RESULTS = Benchmarks/Results
BENCHMARKS = Benchmarks/.build/release/benchmarks

bench-build:
	@Scripts/setup.sh bench
	@swift build -c release --package-path Benchmarks

bench: bench-build
	@$(BENCHMARKS) --json $(RESULTS)/latest.json --html $(RESULTS)/latest.html

bench-check: bench-build
	@$(BENCHMARKS) --check Benchmarks/limits/linux-x86_64.json

# Records the run whose figures the pages show, and writes their tables.
bench-record: bench-build
	@$(BENCHMARKS) --rounds 2000 --instructions --json $(RESULTS)/linux-x86_64.json \
		--html $(RESULTS)/latest.html --readme README.md --readme Documentation/Measuring.md

release:
	Scripts/release.sh $(VERSION)

clean:
	rm -rf .build Benchmarks/.build Fuzz/.build

# make demo    build and take the tour
# make test    lint, build, and run every test in debug and release
# make check   make test, 3,000 random signatures, and the sanitizers
# make bench   compare the latency of calls
.PHONY: demo test check setup setup-test lint unsafe build format bench clean

demo: setup
	@swift build -c release --product forward
	@.build/release/forward tour

test: setup-test lint unsafe
	swift build --build-tests
	swift test --skip-build
	swift build --build-tests -c release -Xswiftc -enable-testing
	swift test --skip-build -c release -Xswiftc -enable-testing

check: test
	FORWARDING_SIGNATURES=3000 FORWARDING_SEED=1000 swift test --skip-build --filter CallMatrixTests
	FORWARDING_SECONDS=10 swift test --skip-build --filter ConcurrencyTests
	Scripts/sanitize.sh address
	Scripts/sanitize.sh thread
	Scripts/sanitize.sh undefined
	Scripts/sanitize.sh libffi
	@echo "All checks passed."

setup:
	@Scripts/setup.sh

setup-test:
	@Scripts/setup.sh test

SWIFT_FILES = Package.swift Sources Tests Snippets Benchmarks/Package.swift Benchmarks/Sources

lint:
	swift format lint --strict --recursive --parallel $(SWIFT_FILES)

format:
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

# Unsafe code has one home. Elsewhere the word itself is a failure.
unsafe:
	@! grep -rnw -e unsafe -e '@unsafe' Sources/TypeEncodings Sources/Forwarding

bench: setup
	@swift build -c release --package-path Benchmarks
	@Benchmarks/.build/release/benchmarks

clean:
	rm -rf .build Benchmarks/.build

// SPDX-License-Identifier: Apache-2.0
/// C functions for the tests, compiled by a real C compiler. Methods take a receiver and a selector
/// first. Functions with types that Swift cannot import (complex numbers, unions by value) are
/// reached by address.
#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct FixturePoint { double x, y; } FixturePoint;
typedef struct FixtureRectangle { FixturePoint origin, size; } FixtureRectangle;
typedef struct FixtureMixed { int32_t number; double value; } FixtureMixed;

/// Sixteen bytes; the second eight are padding.
typedef struct __attribute__((aligned(16))) FixturePadded { int32_t number; } FixturePadded;

/// A C function by name, with the encoding of its declaration.
typedef struct Fixture {
  const char *name;
  const char *encoding;
  const void *function;
} Fixture;

/// The number of fixtures, and each of them.
long fixture_count(void);
Fixture fixture_at(long index);

/// The number of calls of a method without arguments.
extern int fixture_calls(void);

/// Calls a function of the type of `f_padded_last` with 1.5, 1, 2, 3, 4, 5, {40} and 0.25.
double fixture_call_padded(const void *function);
/// Calls a function of the type of `f_padded_twice` with {21}.
int fixture_call_padded_twice(const void *function);
/// Calls a function of a `long double` so many times, and returns how many answers are not zero.
int fixture_call_long_double(const void *function, int count);

/// Forks. The child waits, then calls `function` and exits with its result. Returns the process ID,
/// or -1; a byte to `out_pipe` ends the wait.
int fixture_fork(const void *function, int *out_pipe);

/// Whether ThreadSanitizer is on. It does not support a fork with many threads: the child may spin.
int fixture_is_thread_sanitized(void);

/// Whether AddressSanitizer is on.
int fixture_is_address_sanitized(void);

/// Whether one of the two sanitizers is on.
int fixture_is_sanitized(void);

/// Ends the wait of a child of `fixture_fork`, and returns its exit status, or -1.
int fixture_let_child_go(int child, int pipe);

/// Forbids this process to make writable memory executable later: PR_SET_MDWE. Returns 0, or an
/// `errno`.
int fixture_deny_write_execute(void);

/// Writes the return addresses of the current stack, innermost first, and returns their number.
int fixture_backtrace(void *_Nullable *_Nonnull out, int limit);

/// The file that this code was loaded from; NULL if it is unknown.
const char *_Nullable fixture_image(void);

/// The number of bytes that the program has allocated and not freed, with the overhead of blocks.
/// -1 if the C library does not report it.
long fixture_allocated_bytes(void);

/// The number of allocations of this thread so far; -1 if they are not counted.
long fixture_allocations(void);

/// Forbids this process the system call `membarrier`. Returns 0 on success.
int fixture_deny_membarrier(void);

/// Sends this process a signal every `microseconds`, by a clock of real time and one of processor
/// time. Returns 0 on success.
int fixture_begin_signals(int microseconds);

/// Stops the signals, and returns the number of signals that arrived.
int fixture_end_signals(void);

#pragma clang assume_nonnull end

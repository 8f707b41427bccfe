/// C functions for the tests, compiled by the C compiler. Methods take a receiver and a selector
/// first. Types that Swift does not import (complex numbers, unions by value) are passed by
/// address.
#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct FixturePoint { double x, y; } FixturePoint;
typedef struct FixtureRectangle { FixturePoint origin, size; } FixtureRectangle;
typedef struct FixtureMixed { int32_t number; double value; } FixtureMixed;
typedef struct FixtureTail { int32_t number; char letter; } FixtureTail;

/// Sixteen bytes; the second eight are padding.
typedef struct __attribute__((aligned(16))) FixturePadded { int32_t number; } FixturePadded;

/// The name, encoding and address of a C function.
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

/// A function that traps, for tests that must never call it.
void fixture_never(void);

/// Calls a function of the type of `f_padded_last` with 1.5, 1, 2, 3, 4, 5, {40} and 0.25.
double fixture_call_padded(const void *function);
/// Calls a function of the type of `f_padded_twice` with {21}.
int fixture_call_padded_twice(const void *function);

/// Forks; the child waits, then calls `function`, and exits with its result. Returns the process,
/// or -1; `fixture_let_child_go` with `out_pipe` lets the child continue.
int fixture_fork(const void *function, int *out_pipe);

/// Whether ThreadSanitizer is active, which cannot follow a fork of many threads: the child may
/// spin.
int fixture_is_thread_sanitized(void);

/// Whether AddressSanitizer is active.
int fixture_is_address_sanitized(void);

/// Whether one of the two sanitizers is active.
int fixture_is_sanitized(void);

/// Lets a child of `fixture_fork` continue, and returns its exit status, or -1.
int fixture_let_child_go(int child, int pipe);

/// Forbids this process to make memory executable that was writable: PR_SET_MDWE. Returns 0 on
/// success, otherwise an `errno`.
int fixture_deny_write_execute(void);

/// Writes the return addresses of the current stack, innermost first, and returns their number.
int fixture_backtrace(void *_Nullable *_Nonnull out, int limit);

/// The file that this code was loaded from; NULL if it is unknown.
const char *_Nullable fixture_image(void);

/// Returns the number of bytes that the program has allocated and not freed, including the overhead
/// of blocks; -1 if the C library does not report it.
long fixture_allocated_bytes(void);

/// Runs `body` in a child process, and returns its exit status: 0 if it returns, 128 plus the
/// signal's number if a signal ends it, such as the alarm after `seconds`.
int fixture_run_child(void (*body)(void *_Nullable), void *_Nullable context, unsigned seconds);

/// Runs `body`; returns 1 if `fixture_jump` ended it.
int fixture_catch_jump(void (*body)(void *_Nullable), void *_Nullable context);

/// A method `v@:` that jumps out of all calls up to the innermost `fixture_catch_jump`.
void fixture_jump(void *self, void *selector);

/// Forbids this process the system call `membarrier`. Returns 0 on success.
int fixture_deny_membarrier(void);

/// A method `q@:*^?` that calls `callback`, and then returns the length of `text`.
long fixture_text_after(void *self, void *selector, const char *text, void (*callback)(void));

/// Sends this process a signal every `microseconds`, by a real-time timer and by one of processor
/// time. Returns 0 on success.
int fixture_begin_signals(int microseconds);

/// Stops the signals, and returns how many were received.
int fixture_end_signals(void);

#pragma clang assume_nonnull end

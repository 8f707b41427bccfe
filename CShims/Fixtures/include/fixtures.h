/// C functions for the tests, compiled by the real compiler. Methods take a receiver and a
/// selector first. What the importer of Swift does not know (complex numbers, unions by value) is
/// reached by address.
#pragma once

#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct FixturePoint { double x, y; } FixturePoint;
typedef struct FixtureRectangle { FixturePoint origin, size; } FixtureRectangle;
typedef struct FixtureMixed { int32_t number; double value; } FixtureMixed;
typedef struct FixtureTail { int32_t number; char letter; } FixtureTail;

/// Sixteen bytes; the second eight are padding.
typedef struct __attribute__((aligned(16))) FixturePadded { int32_t number; } FixturePadded;

/// A C function by name, with the encoding that its declaration has.
typedef struct Fixture {
  const char *name;
  const char *encoding;
  const void *function;
} Fixture;

/// How many fixtures there are, and each of them.
long fixture_count(void);
Fixture fixture_at(long index);

/// How often a method without arguments was called.
extern int fixture_calls(void);

/// A function that traps, for places that must never call it.
void fixture_never(void);

/// Calls what has the type of `f_padded_last` with 1.5, 1, 2, 3, 4, 5, {40} and 0.25.
double fixture_call_padded(const void *function);
/// Calls what has the type of `f_padded_twice` with {21}.
int fixture_call_padded_twice(const void *function);

/// Forks; the child waits, then calls `function` and exits with what it returns. Returns the
/// process, or -1; `out_pipe` lets it go.
int fixture_fork(const void *function, int *out_pipe);

/// Whether ThreadSanitizer watches, which cannot follow a fork of many threads: the child may spin.
int fixture_is_thread_sanitized(void);

/// Whether AddressSanitizer watches.
int fixture_is_address_sanitized(void);

/// Whether one of the two sanitizers watches.
int fixture_is_sanitized(void);

/// Lets a child of `fixture_fork` go, and returns its exit status, or -1.
int fixture_let_child_go(int child, int pipe);

/// Forbids this process to make memory executable that it could write to: PR_SET_MDWE. 0 if it
/// did, else an `errno`.
int fixture_deny_write_execute(void);

/// Writes the return addresses of the current stack, the innermost first, and returns their number.
int fixture_backtrace(void *_Nullable *_Nonnull out, int limit);

/// The file that this code was loaded from; NULL if nobody knows.
const char *_Nullable fixture_image(void);

/// Returns how many bytes the program has allocated and not freed, the overhead of blocks included; -1 where
/// the C library does not say.
long fixture_allocated_bytes(void);

/// Runs `body` in a child process and returns its exit status: 0 when it returns, 128 and more when a
/// signal ends it, as the one after `seconds` does.
int fixture_run_child(void (*body)(void *_Nullable), void *_Nullable context, unsigned seconds);

/// Runs `body`; 1 if `fixture_jump` ended it.
int fixture_catch_jump(void (*body)(void *_Nullable), void *_Nullable context);

/// A method `v@:` that jumps out of all calls up to the innermost `fixture_catch_jump`.
void fixture_jump(void *self, void *selector);

/// Forbids this process the system call `membarrier`. 0 if it did.
int fixture_deny_membarrier(void);

/// A method `q@:*^?` that calls `callback`, and then counts the bytes of `text`.
long fixture_text_after(void *self, void *selector, const char *text, void (*callback)(void));

/// Sends this process a signal every so many microseconds, on a clock and on one of processor time.
/// 0 if it does.
int fixture_begin_signals(int microseconds);

/// Ends that, and returns how many signals came.
int fixture_end_signals(void);

#pragma clang assume_nonnull end

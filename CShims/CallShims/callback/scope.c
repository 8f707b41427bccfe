// SPDX-License-Identifier: Apache-2.0
/// Function pointers to closures that do not escape: each is valid while a function is on the stack.
///
/// The data of such a trampoline is the closure itself, so a call neither looks for it nor holds it.
/// Nothing is allocated.
#include "fwd_callback_internal.h"
#include "fwd_registers.h"

#include <errno.h>

/// The data of a trampoline. Of one that is free, the function is `fwd_trampoline_scope_over`, and the
/// context is the next one, with a bit that says whether a late call was reported.
typedef FWDTrampoline Scoped;

typedef __attribute__((swiftcall)) void (*Run)(const void *function,
                                               __attribute__((swift_context)) const void *context);

__attribute__((swiftcall)) int fwd_scope_run(ScopedBody body, const void *body_context, Run run,
                                             const void *run_context);

enum { REPORTED = 1, FREED_MIN = 64 };

// Missing without the direct engine.
#pragma weak fwd_trampoline_scope_over
extern void fwd_trampoline_scope_over(void);

/// Those that are free, in the order in which they were freed.
static Scoped *first, *last;
static size_t count;

static Scoped *next_of(const Scoped *scoped) { return (Scoped *)(scoped->context & ~(uintptr_t)REPORTED); }

static Scoped *take(int *out_error) {
  Scoped *scoped = NULL;
  *out_error = ENOTSUP;
  pthread_mutex_lock(&fwd_callbacks_lock);
  if (count <= FREED_MIN && fwd_trampolines_are_allowed())
    scoped = fwd_trampoline_fresh(out_error);
  if (!scoped && first) {
    scoped = first;
    first = next_of(scoped);
    if (!first) last = NULL;
    count--;
  }
  pthread_mutex_unlock(&fwd_callbacks_lock);
  return scoped;
}

static void give_back(Scoped *scoped) {
  pthread_mutex_lock(&fwd_callbacks_lock);
  __atomic_store_n(&scoped->function, (const void *)fwd_trampoline_scope_over, __ATOMIC_RELEASE);
  scoped->context = 0;
  if (last)
    last->context |= (uintptr_t)scoped;
  else
    first = scoped;
  last = scoped;
  count++;
  pthread_mutex_unlock(&fwd_callbacks_lock);
}

/// Answers a call after the end of a scope: with zero, and the first one is reported.
__attribute__((swiftcall)) Returned fwd_scope_over(__attribute__((swift_context)) Scoped *scoped);

__attribute__((swiftcall)) Returned fwd_scope_over(__attribute__((swift_context)) Scoped *scoped) {
  pthread_mutex_lock(&fwd_callbacks_lock);
  int is_first = scoped->function == (const void *)fwd_trampoline_scope_over && !(scoped->context & REPORTED);
  if (is_first) scoped->context |= REPORTED;
  pthread_mutex_unlock(&fwd_callbacks_lock);
  if (is_first) fwd_report_event(FWDEventFreedCallback, fwd_trampoline_function(scoped));
  return (Returned){0};
}

/// Calls `run` with a function pointer whose calls run `body`, two closures of Swift. Returns the `errno`
/// of a failure to get one; `run` was not called then.
__attribute__((swiftcall)) int fwd_scope_run(ScopedBody body, const void *body_context, Run run,
                                             const void *run_context) {
  int error;
  Scoped *scoped = take(&error);
  if (!scoped) return error ? error : ENOTSUP;
  scoped->context = (uintptr_t)body_context;
  __atomic_store_n(&scoped->function, (const void *)body, __ATOMIC_RELEASE);
  run(fwd_trampoline_function(scoped), run_context);
  give_back(scoped);
  return 0;
}

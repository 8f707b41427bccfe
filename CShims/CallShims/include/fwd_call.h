// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>
#include <string.h>

#include "fwd_frame.h"
#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// Calls `function` through libffi with the values in `frame`, and stores the result there. The
/// requirements are those of `fwd_call`, and libffi does not refuse the plan. It allocates on the
/// stack only.
void fwd_call_libffi(const FWDPlanFacts *facts, FWDFrame *frame, const void *function);

/// Returns the first value that libffi would pass wrong, 0 for the result and `i + 1` for argument
/// `i`; -1 if there is none. Without the direct engine no plan has such a value.
int fwd_libffi_refuses(const FWDPlanFacts *facts);

/// Calls `function` by the direct engine; the requirements are those of `fwd_call`.
void fwd_call_direct(const FWDPlanFacts *facts, FWDFrame *frame, const void *function);

/// All integer registers of a frame, and their types.
#if FWD_ABI_AAPCS64
#define FWD_INTEGERS(f) f->integers[0], f->integers[1], f->integers[2], f->integers[3], \
                        f->integers[4], f->integers[5], f->integers[6], f->integers[7]
#define FWD_INTEGER_TYPES \
  uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t
#else
#define FWD_INTEGERS(f) f->integers[0], f->integers[1], f->integers[2], f->integers[3], \
                        f->integers[4], f->integers[5]
#define FWD_INTEGER_TYPES uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t
#endif

typedef struct FWDIntegerPair { uint64_t first, second; } FWDIntegerPair;

/// Calls `function` with the values in `frame`, and stores the result there. The two most common
/// calls are inlined: all integer registers in, and nothing or two integer registers out. Loading
/// more than the callee reads is harmless.
///
/// The caller guarantees that `function` has the plan's type. It has set every argument, keeps the
/// memory alive that they refer to, and has checked `fwd_has_stack_for` unless the plan is light.
/// The call takes ownership of neither the arguments nor the result. A call that has begun cannot
/// fail. `errno` is as the function left it.
// A call through a cast function pointer is undefined in ISO C, but defined by the ABIs here. The
// attribute suppresses the sanitizer that checks such casts.
__attribute__((always_inline, no_sanitize("function"))) static inline void fwd_call(
    const FWDPlanFacts *facts, FWDFrame *f, const void *function) {
  if (!FWD_HAS_DIRECT_ENGINE) return fwd_call_libffi(facts, f, function);
  uint8_t inlined = facts->inlined;
  if (__builtin_expect(inlined == FWD_RETURN_NOTHING, 1)) {
    ((void (*)(FWD_INTEGER_TYPES))function)(FWD_INTEGERS(f));
  } else if (__builtin_expect(inlined == FWD_RETURN_INTEGERS, 1)) {
    FWDIntegerPair r = ((FWDIntegerPair(*)(FWD_INTEGER_TYPES))function)(FWD_INTEGERS(f));
    f->result[0] = r.first;
    f->result[1] = r.second;
  } else {
    fwd_call_direct(facts, f, function);
  }
}

/// Calls `function` like `fwd_call`, and counts the call in `state`, which is in front of the
/// frame, so that the memory of its values is known to be in use: the callee may find the
/// invocation, and set other values.
///
/// Calls of one frame may be nested. The count is not a lock: one thread at a time has a frame.
__attribute__((always_inline)) static inline void fwd_call_in_use(const FWDPlanFacts *facts,
                                                                  FWDInvocationState *state,
                                                                  const void *function) {
  state->uses++;
  fwd_call(facts, fwd_state_frame(state), function);
  state->uses--;
}

/// Calls `function` like `fwd_call_in_use`, with `errno` cleared, and returns the value that the
/// function left in it. `errno` still has that value afterwards.
int fwd_call_capturing_errno(const FWDPlanFacts *facts, FWDInvocationState *state,
                             const void *function);

#pragma clang assume_nonnull end

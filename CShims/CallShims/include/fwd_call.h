// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>
#include <string.h>

#include "fwd_frame.h"
#include "fwd_plan.h"
#include "fwd_shape.h"

#pragma clang assume_nonnull begin

/// Calls `function` through libffi with the values in `frame`, and stores the result there. The
/// requirements are those of `fwd_call`, and libffi does not refuse the plan. It allocates on the
/// stack only.
void fwd_call_libffi(const FWDPlanFacts *facts, FWDFrame *frame, const void *function);

/// Returns the first value that libffi would pass wrong, 0 for the result and `i + 1` for argument
/// `i`; -1 if there is none. Without the direct engine no plan has such a value.
int fwd_libffi_refuses(const FWDPlanFacts *facts);

/// The two most common calls: all integer registers in, and nothing or two integer registers out.
/// Only for `fwd_call`, which has checked the shape. An integer result is stored in the frame.
FWD_SHAPE_CALL void fwd_call_nothing_integers(FWDFrame *f, const void *function) {
  ((void (*)(FWD_INTEGER_TYPES))function)(FWD_INTEGERS(f));
}
FWD_SHAPE_CALL void fwd_call_integers_integers(FWDFrame *f, const void *function) {
  FWDIntegerPair r = ((FWDIntegerPair(*)(FWD_INTEGER_TYPES))function)(FWD_INTEGERS(f));
  f->result[0] = r.first;
  f->result[1] = r.second;
}

/// Calls `function` with the values in `frame`, and stores the result there. The two most common
/// shapes are inlined; for all others the plan has a function.
///
/// The caller guarantees that `function` has the plan's type. It has set every argument, keeps the
/// memory alive that they refer to, and has checked `fwd_has_stack_for`. The call takes ownership
/// of neither the arguments nor the result. A call that has begun cannot fail. `errno` is as the
/// function left it.
__attribute__((always_inline)) static inline void fwd_call(const FWDPlanFacts *facts,
                                                           FWDFrame *frame,
                                                           const void *function) {
  uint8_t shape = facts->shape;
  if (!FWD_HAS_DIRECT_ENGINE) return facts->caller(facts, frame, function);
  if (__builtin_expect(shape == FWD_SHAPE(Nothing, Integers), 1)) {
    fwd_call_nothing_integers(frame, function);
    return;
  }
  if (__builtin_expect(shape == FWD_SHAPE(Integers, Integers), 1)) {
    fwd_call_integers_integers(frame, function);
    return;
  }
  facts->caller(facts, frame, function);
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

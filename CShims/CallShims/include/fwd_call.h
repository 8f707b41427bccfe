#pragma once

#include <errno.h>
#include <string.h>

#include "fwd_frame.h"
#include "fwd_plan.h"
#include "fwd_shape.h"

#pragma clang assume_nonnull begin

/// Calls `function` through libffi with the values in `frame`, and leaves the result there.
///
/// Every plan can be called so; a plan of libffi's engine has this as its `caller`. The caller has
/// checked what `fwd_call` asks for. It allocates nothing but stack.
void fwd_call_libffi(const FWDPlanFacts *facts, FWDFrame *frame, const void *function);

#if FWD_HAS_DIRECT_ENGINE

/// The two most common calls: all integer registers in, nothing or two integer registers out. Only
/// for `fwd_call`, which has looked at the shape. An integer result lies in the frame afterwards.
FWD_SHAPE_CALL void fwd_call_nothing_integers(FWDFrame *f, const void *function) {
  ((void (*)(FWD_INTEGER_TYPES))function)(FWD_INTEGERS(f));
}
FWD_SHAPE_CALL void fwd_call_integers_integers(FWDFrame *f, const void *function) {
  FWDIntegerPair r = ((FWDIntegerPair(*)(FWD_INTEGER_TYPES))function)(FWD_INTEGERS(f));
  f->result[0] = r.first;
  f->result[1] = r.second;
}

#endif

/// Calls `function` with the values in `frame`, and leaves the result there. The two most common
/// shapes are part of the caller; for all others the plan knows a function.
///
/// The caller vouches that `function` has the plan's type, has set every argument, keeps alive what
/// they refer to, and has asked `fwd_has_stack_for`. Nothing is owned here: neither arguments nor
/// the result. A call that has begun cannot fail. `errno` is as the function left it.
__attribute__((always_inline)) static inline void fwd_call(const FWDPlanFacts *facts,
                                                           FWDFrame *frame,
                                                           const void *function) {
#if FWD_HAS_DIRECT_ENGINE
  uint8_t shape = facts->shape;
  if (__builtin_expect(shape == FWD_SHAPE(Nothing, Integers), 1)) {
    fwd_call_nothing_integers(frame, function);
    return;
  }
  if (__builtin_expect(shape == FWD_SHAPE(Integers, Integers), 1)) {
    fwd_call_integers_integers(frame, function);
    return;
  }
#endif
  facts->caller(facts, frame, function);
}

/// Calls in the same way, and notes in `state`, which stands in front of the frame, that what its
/// values refer to is in use: the callee may find the invocation, and set other values.
///
/// The uses are counted, so calls of one frame may be inside of each other. They are no lock: a
/// frame belongs to one thread at a time. A `longjmp` over the call leaves it in use for good.
__attribute__((always_inline)) static inline void fwd_call_in_use(const FWDPlanFacts *facts,
                                                                  FWDInvocationState *state,
                                                                  const void *function) {
  state->uses++;
  fwd_call(facts, fwd_state_frame(state), function);
  state->uses--;
}

/// Calls as `fwd_call_in_use` does, with `errno` cleared, and returns what the function left in it.
/// Nothing runs between the call and the look at `errno`, which still has that value afterwards.
int fwd_call_capturing_errno(const FWDPlanFacts *facts, FWDInvocationState *state,
                             const void *function);

#pragma clang assume_nonnull end

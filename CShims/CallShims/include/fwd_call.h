#pragma once

#include <errno.h>
#include <string.h>

#include "fwd_frame.h"
#include "fwd_plan.h"

#pragma clang assume_nonnull begin

/// How a result comes back in registers.
typedef enum __attribute__((enum_extensibility(closed))) FWDReturnShape : uint8_t {
  FWDReturnNothing = 0,
  FWDReturnIntegers,
  FWDReturnVectors,
  FWDReturnIntegerVector,
  FWDReturnVectorInteger,
  FWDReturnX87,
  FWDReturnComplexX87,
} FWDReturnShape;

/// How much a call loads before it jumps. More than the callee looks at is harmless under the
/// System V ABI, so a few shapes serve every signature.
typedef enum __attribute__((enum_extensibility(closed))) FWDArgumentShape : uint8_t {
  FWDArgumentsIntegers = 0,
  FWDArgumentsVectors2,
  FWDArgumentsVectors8,
  FWDArgumentsStack4,
  FWDArgumentsStack8,
  FWDArgumentsStack16,
  FWDArgumentsStack32,
  FWDArgumentsStack64,
  // More stack words than that, however many.
  FWDArgumentsLarge,
  // The same amounts, without vector registers.
  FWDArgumentsIntegersStack4,
  FWDArgumentsIntegersStack8,
} FWDArgumentShape;

_Static_assert(FWDArgumentsIntegersStack8 < 16, "an amount of arguments takes four bits");
_Static_assert((FWDReturnComplexX87 << 4 | FWDArgumentsIntegersStack8) < FWD_SHAPE_OF_LIBFFI,
               "every shape has a place in the table, and libffi's has none");

/// Returns the shape of a call as one byte: the result in the high four bits, the arguments in the
/// low four. A shape says what a call loads and stores; many signatures share one.
static inline uint8_t fwd_shape(FWDReturnShape result, FWDArgumentShape arguments) {
  return (uint8_t)(result << 4 | arguments);
}

/// Returns how many stack words a shape copies, whether the callee looks at them or not; a frame has
/// room for that many. It is 0 for a large call, which copies those that are passed.
static inline uint32_t fwd_stack_words(FWDArgumentShape shape) {
  switch (shape) {
    case FWDArgumentsIntegers:
    case FWDArgumentsVectors2:
    case FWDArgumentsVectors8:
    case FWDArgumentsLarge: return 0;
    case FWDArgumentsStack4:
    case FWDArgumentsIntegersStack4: return 4;
    case FWDArgumentsStack8:
    case FWDArgumentsIntegersStack8: return 8;
    case FWDArgumentsStack16: return 16;
    case FWDArgumentsStack32: return 32;
    case FWDArgumentsStack64: return 64;
  }
  return 0;
}

/// Calls `function` through libffi with the values in `frame`, and leaves the result there.
///
/// Every plan can be called so; a plan of libffi's engine has this as its `caller`. The caller has
/// checked what `fwd_call` asks for. It allocates nothing but stack.
void fwd_call_libffi(const FWDPlanFacts *facts, FWDFrame *frame, const void *function);

#if FWD_HAS_DIRECT_ENGINE

typedef struct FWDIntegerPair { uint64_t first, second; } FWDIntegerPair;

// ISO C leaves a call through a cast pointer undefined; the System V ABI defines it. The
// sanitizer that checks such casts is told so.
#define FWD_SHAPE_CALL static inline __attribute__((no_sanitize("function")))

#define FWD_INTEGERS(f) f->integers[0], f->integers[1], f->integers[2], f->integers[3], \
                        f->integers[4], f->integers[5]
#define FWD_SIX uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t

/// The two most common calls: six integer registers in, nothing or two integer registers out. Only
/// for `fwd_call`, which has looked at the shape. An integer result lies in the frame afterwards.
FWD_SHAPE_CALL void fwd_call_nothing_integers(FWDFrame *f, const void *function) {
  ((void (*)(FWD_SIX))function)(FWD_INTEGERS(f));
}
FWD_SHAPE_CALL void fwd_call_integers_integers(FWDFrame *f, const void *function) {
  FWDIntegerPair r = ((FWDIntegerPair(*)(FWD_SIX))function)(FWD_INTEGERS(f));
  f->result[0] = r.first;
  f->result[1] = r.second;
}

#define FWD_SHAPE(result, arguments) (FWDReturn##result << 4 | FWDArguments##arguments)

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

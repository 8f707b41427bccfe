/// The direct engine's rarer shapes: every result with eight vector registers and with stacks of
/// up to 64 KiB. The C compiler writes each call; this file only spells the types.
#include "fwd_plan_internal.h"

int fwd_call_capturing_errno(const FWDPlan *plan, FWDFrame *frame, const void *function) {
  const FWDPlanFacts *facts = &plan->facts;
  errno = 0;
  fwd_call(plan, facts->engine, facts->shape, frame, function);
  return errno;
}

#if FWD_HAS_DIRECT_ENGINE

typedef struct IntegerVector { uint64_t first; double second; } IntegerVector;
typedef struct VectorInteger { double first; uint64_t second; } VectorInteger;

#define STACK(n) typedef struct Stack##n { uint64_t words[n]; } Stack##n
STACK(4);
STACK(8);
STACK(16);
STACK(32);
STACK(64);
STACK(256);
STACK(1024);
STACK(8192);

#define VECTORS(f) f->vectors[0], f->vectors[1], f->vectors[2], f->vectors[3], \
                   f->vectors[4], f->vectors[5], f->vectors[6], f->vectors[7]

// The stack words lie behind the frame's head, as the callee expects them: copying the structure
// by value makes the compiler lay them out at the bottom of the callee's stack.
#define WORDS(f, n) (*(const Stack##n *)((const char *)(f) + FWD_FRAME_STACK))

#define KEEP(f, r) memcpy((f)->result, &(r), sizeof(r))

#define EACH_STACK(X) X(4) X(8) X(16) X(32) X(64) X(256) X(1024) X(8192)

#define STACK_CASE(n)                                                        \
  case FWDArgumentsStack##n: {                                               \
    RESULT(((TYPE(*)(FWD_SIX, FWD_EIGHT, Stack##n))function)(                \
        FWD_INTEGERS(f), VECTORS(f), WORDS(f, n)))                           \
  }

// One function for each kind of result; `TYPE` is its C type and `RESULT` keeps it.
#define ARGUMENT_SHAPES                                                      \
  switch (arguments) {                                                       \
    case FWDArgumentsIntegers: {                                             \
      RESULT(((TYPE(*)(FWD_SIX))function)(FWD_INTEGERS(f)))                  \
    }                                                                        \
    case FWDArgumentsVectors2: {                                             \
      RESULT(((TYPE(*)(FWD_SIX, double, double))function)(                   \
          FWD_INTEGERS(f), f->vectors[0], f->vectors[1]))                    \
    }                                                                        \
    case FWDArgumentsVectors8: {                                             \
      RESULT(((TYPE(*)(FWD_SIX, FWD_EIGHT))function)(FWD_INTEGERS(f), VECTORS(f))) \
    }                                                                        \
    case FWDArgumentsIntegersStack4: {                                       \
      RESULT(((TYPE(*)(FWD_SIX, FWDStack4))function)(FWD_INTEGERS(f), FWD_STACK(f, 4))) \
    }                                                                        \
    case FWDArgumentsIntegersStack8: {                                       \
      RESULT(((TYPE(*)(FWD_SIX, FWDStack8))function)(FWD_INTEGERS(f), FWD_STACK(f, 8))) \
    }                                                                        \
    EACH_STACK(STACK_CASE)                                                   \
  }

#define SHAPE_FUNCTION __attribute__((no_sanitize("function"), noinline)) static void

#define TYPE void
#define RESULT(call) call; return;
SHAPE_FUNCTION call_nothing(FWDArgumentShape arguments, FWDFrame *f, const void *function) {
  ARGUMENT_SHAPES
}
#undef RESULT
#undef TYPE

#define RESULT(call) TYPE r = call; KEEP(f, r); return;

#define TYPE FWDIntegerPair
SHAPE_FUNCTION call_integers(FWDArgumentShape arguments, FWDFrame *f, const void *function) {
  ARGUMENT_SHAPES
}
#undef TYPE
#define TYPE FWDVectorPair
SHAPE_FUNCTION call_vectors(FWDArgumentShape arguments, FWDFrame *f, const void *function) {
  ARGUMENT_SHAPES
}
#undef TYPE
#define TYPE IntegerVector
SHAPE_FUNCTION call_integer_vector(FWDArgumentShape arguments, FWDFrame *f, const void *function) {
  ARGUMENT_SHAPES
}
#undef TYPE
#define TYPE VectorInteger
SHAPE_FUNCTION call_vector_integer(FWDArgumentShape arguments, FWDFrame *f, const void *function) {
  ARGUMENT_SHAPES
}
#undef TYPE
#define TYPE long double
SHAPE_FUNCTION call_x87(FWDArgumentShape arguments, FWDFrame *f, const void *function) {
  ARGUMENT_SHAPES
}
#undef TYPE
#define TYPE _Complex long double
SHAPE_FUNCTION call_complex_x87(FWDArgumentShape arguments, FWDFrame *f, const void *function) {
  ARGUMENT_SHAPES
}
#undef TYPE

void fwd_call_any_shape(uint8_t shape, FWDFrame *frame, const void *function) {
  FWDArgumentShape arguments = (FWDArgumentShape)(shape & 15);
  switch ((FWDReturnShape)(shape >> 4)) {
    case FWDReturnNothing: call_nothing(arguments, frame, function); return;
    case FWDReturnIntegers: call_integers(arguments, frame, function); return;
    case FWDReturnVectors: call_vectors(arguments, frame, function); return;
    case FWDReturnIntegerVector: call_integer_vector(arguments, frame, function); return;
    case FWDReturnVectorInteger: call_vector_integer(arguments, frame, function); return;
    case FWDReturnX87: call_x87(arguments, frame, function); return;
    case FWDReturnComplexX87: call_complex_x87(arguments, frame, function); return;
  }
}

#else

void fwd_call_any_shape(uint8_t shape, FWDFrame *frame, const void *function) {
  // No plan of this platform says that its engine is direct.
  (void)shape, (void)frame, (void)function;
}

#endif

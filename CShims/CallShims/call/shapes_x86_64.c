// SPDX-License-Identifier: Apache-2.0
/// The direct engine of x86-64: one small function for each kind of result and each amount of
/// arguments. The C compiler generates each call; this file only lists the types. Calls with stack
/// words use `call_stack_x86_64.S`.
#include "fwd_layout.h"
#include "../plan/fwd_plan_internal.h"

#if FWD_ABI_SYSV && FWD_HAS_DIRECT_ENGINE

typedef struct IntegerVector { uint64_t first; double second; } IntegerVector;
typedef struct VectorInteger { double first; uint64_t second; } VectorInteger;
typedef struct VectorPair { double first, second; } VectorPair;
typedef _Complex long double ComplexX87;

_Static_assert(offsetof(FWDFrame, vectors) == FWD_LAYOUT_VECTORS, "machine code loads from there");
_Static_assert(FWD_FRAME_RESULT == FWD_LAYOUT_RESULT, "machine code finds the result there");
_Static_assert(FWD_FRAME_STACK == FWD_LAYOUT_FRAME, "machine code finds the stack words there");
_Static_assert(offsetof(FWDFrame, integers) == 0, "machine code finds the integers there");

_Static_assert(sizeof((FWDFrame){0}.result) == 2 * 16, "two x87 registers fill the result");
_Static_assert(sizeof(FWDIntegerPair) <= sizeof((FWDFrame){0}.result), "a result fits its room");
_Static_assert(sizeof(ComplexX87) == sizeof((FWDFrame){0}.result), "two x87 registers fill it");

/// Calls `function` with the registers of `frame` and `words` words of stack behind it. The result
/// is in the registers of the function's result type, so this is called through a cast to that
/// type.
extern void fwd_call_stack(const FWDFrame *frame, const void *function, uint64_t words);

#define EIGHT double, double, double, double, double, double, double, double
#define VECTORS(f) f->vectors[0], f->vectors[1], f->vectors[2], f->vectors[3],                    \
                   f->vectors[4], f->vectors[5], f->vectors[6], f->vectors[7]

// X(kind, type) for each kind of result that `FWDReturnShape` has, except nothing.
#define EACH_RESULT(X)                                                                            \
  X(Integers, FWDIntegerPair)                                                                     \
  X(Vectors, VectorPair)                                                                          \
  X(IntegerVector, IntegerVector)                                                                 \
  X(VectorInteger, VectorInteger)                                                                 \
  X(X87, long double)                                                                             \
  X(ComplexX87, ComplexX87)

#define CALLER(kind, amount)                                                                      \
  __attribute__((no_sanitize("function"))) static void call_##kind##_##amount(                    \
      const FWDPlanFacts *facts, FWDFrame *f, const void *function)

// The function's type for each amount of arguments, and what is passed.
#define INTEGERS(type) ((type (*)(FWD_INTEGER_TYPES))function)(FWD_INTEGERS(f))
#define VECTORS_TOO(type) ((type (*)(FWD_INTEGER_TYPES, EIGHT))function)(FWD_INTEGERS(f), VECTORS(f))
#define STACK_TOO(type)                                                                           \
  ((type (*)(const FWDFrame *, const void *, uint64_t))(void *)fwd_call_stack)(                   \
      f, function, facts->stack_words)

CALLER(Nothing, Integers) { (void)facts, INTEGERS(void); }
CALLER(Nothing, Vectors) { (void)facts, VECTORS_TOO(void); }
CALLER(Nothing, Stack) { STACK_TOO(void); }

#define DEFINE(kind, type)                                                                        \
  CALLER(kind, Integers) {                                                                        \
    (void)facts;                                                                                  \
    type result = INTEGERS(type);                                                                 \
    memcpy(f->result, &result, sizeof result);                                                    \
  }                                                                                               \
  CALLER(kind, Vectors) {                                                                         \
    (void)facts;                                                                                  \
    type result = VECTORS_TOO(type);                                                              \
    memcpy(f->result, &result, sizeof result);                                                    \
  }                                                                                               \
  CALLER(kind, Stack) {                                                                           \
    type result = STACK_TOO(type);                                                                \
    memcpy(f->result, &result, sizeof result);                                                    \
  }

EACH_RESULT(DEFINE)

#define ENTRIES(kind, ...)                                                                        \
  [FWD_SHAPE(kind, Integers)] = call_##kind##_Integers,                                           \
  [FWD_SHAPE(kind, Vectors)] = call_##kind##_Vectors,                                             \
  [FWD_SHAPE(kind, Stack)] = call_##kind##_Stack,

static const FWDCaller callers[256] = {ENTRIES(Nothing) EACH_RESULT(ENTRIES)};

FWDCaller fwd_direct_caller(uint8_t shape) { return callers[shape]; }

#endif

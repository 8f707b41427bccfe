// SPDX-License-Identifier: Apache-2.0
/// The direct engine of x86-64: one small function for each kind of result and each amount of
/// arguments. The C compiler generates each call; this file only lists the types. Calls that copy
/// much use `call_large_x86_64.S`.
#include "fwd_layout.h"
#include "../plan/fwd_plan_internal.h"

#if FWD_ABI_SYSV

typedef struct IntegerVector { uint64_t first; double second; } IntegerVector;
typedef struct VectorInteger { double first; uint64_t second; } VectorInteger;
typedef struct VectorPair { double first, second; } VectorPair;
typedef _Complex long double ComplexX87;

// A structure by value makes the compiler put the words at the bottom of the stack arguments, and
// copy them in moves as wide as the loads of callees.
#define STACK(n) typedef struct Stack##n { uint64_t words[n]; } Stack##n
STACK(4);
STACK(8);
STACK(16);
STACK(32);
STACK(64);

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
extern void fwd_call_large(const FWDFrame *frame, const void *function, uint64_t words);

#define EIGHT double, double, double, double, double, double, double, double
#define VECTORS(f) f->vectors[0], f->vectors[1], f->vectors[2], f->vectors[3],                    \
                   f->vectors[4], f->vectors[5], f->vectors[6], f->vectors[7]
#define WORDS(f, n) (*(const Stack##n *)((const char *)(f) + FWD_FRAME_STACK))

// X(amount, types, values, ...) for each amount of arguments that `FWDArgumentShape` has.
#define WITH_STACK(X, n, ...)                                                                     \
  X(Stack##n, (FWD_INTEGER_TYPES, EIGHT, Stack##n), (FWD_INTEGERS(f), VECTORS(f), WORDS(f, n)), __VA_ARGS__)
#define EACH_AMOUNT(X, ...)                                                                       \
  X(Integers, (FWD_INTEGER_TYPES), (FWD_INTEGERS(f)), __VA_ARGS__)                                          \
  X(Vectors2, (FWD_INTEGER_TYPES, double, double), (FWD_INTEGERS(f), f->vectors[0], f->vectors[1]),         \
    __VA_ARGS__)                                                                                  \
  X(Vectors8, (FWD_INTEGER_TYPES, EIGHT), (FWD_INTEGERS(f), VECTORS(f)), __VA_ARGS__)                       \
  X(IntegersStack4, (FWD_INTEGER_TYPES, Stack4), (FWD_INTEGERS(f), WORDS(f, 4)), __VA_ARGS__)               \
  X(IntegersStack8, (FWD_INTEGER_TYPES, Stack8), (FWD_INTEGERS(f), WORDS(f, 8)), __VA_ARGS__)               \
  WITH_STACK(X, 4, __VA_ARGS__)                                                                   \
  WITH_STACK(X, 8, __VA_ARGS__)                                                                   \
  WITH_STACK(X, 16, __VA_ARGS__)                                                                  \
  WITH_STACK(X, 32, __VA_ARGS__)                                                                  \
  WITH_STACK(X, 64, __VA_ARGS__)

// X(kind, type) for each kind of result that `FWDReturnShape` has, except nothing.
#define EACH_RESULT(X)                                                                            \
  EACH_AMOUNT(X, Integers, FWDIntegerPair)                                                        \
  EACH_AMOUNT(X, Vectors, VectorPair)                                                             \
  EACH_AMOUNT(X, IntegerVector, IntegerVector)                                                    \
  EACH_AMOUNT(X, VectorInteger, VectorInteger)                                                    \
  EACH_AMOUNT(X, X87, long double)                                                                \
  EACH_AMOUNT(X, ComplexX87, ComplexX87)

#define CALLER(kind, amount)                                                                      \
  __attribute__((no_sanitize("function"))) static void call_##kind##_##amount(                    \
      const FWDPlanFacts *facts, FWDFrame *f, const void *function)

#define DEFINE_NOTHING(amount, types, values, ...)                                                \
  CALLER(Nothing, amount) {                                                                       \
    (void)facts;                                                                                  \
    ((void (*) types)function) values;                                                            \
  }

#define DEFINE(amount, types, values, kind, type)                                                 \
  CALLER(kind, amount) {                                                                          \
    (void)facts;                                                                                  \
    type result = ((type (*) types)function) values;                                              \
    memcpy(f->result, &result, sizeof result);                                                    \
  }

EACH_AMOUNT(DEFINE_NOTHING, )
EACH_RESULT(DEFINE)

#define LARGE_TYPES (const FWDFrame *, const void *, uint64_t)
#define LARGE_VALUES (f, function, facts->passed_words)

CALLER(Nothing, Large) {
  fwd_call_large LARGE_VALUES;
}

#define DEFINE_LARGE(kind, type)                                                                  \
  CALLER(kind, Large) {                                                                           \
    type result = ((type (*) LARGE_TYPES)(void *)fwd_call_large)LARGE_VALUES;                     \
    memcpy(f->result, &result, sizeof result);                                                    \
  }

DEFINE_LARGE(Integers, FWDIntegerPair)
DEFINE_LARGE(Vectors, VectorPair)
DEFINE_LARGE(IntegerVector, IntegerVector)
DEFINE_LARGE(VectorInteger, VectorInteger)
DEFINE_LARGE(X87, long double)
DEFINE_LARGE(ComplexX87, ComplexX87)

#define ENTRY_NOTHING(amount, types, values, ...)                                                 \
  [FWDReturnNothing << 4 | FWDArguments##amount] = call_Nothing_##amount,
#define ENTRY(amount, types, values, kind, type)                                                  \
  [FWDReturn##kind << 4 | FWDArguments##amount] = call_##kind##_##amount,

#define ENTRY_LARGE(kind) [FWDReturn##kind << 4 | FWDArgumentsLarge] = call_##kind##_Large

static const FWDCaller callers[256] = {
    EACH_AMOUNT(ENTRY_NOTHING, )
    EACH_RESULT(ENTRY)
    ENTRY_LARGE(Nothing),
    ENTRY_LARGE(Integers),
    ENTRY_LARGE(Vectors),
    ENTRY_LARGE(IntegerVector),
    ENTRY_LARGE(VectorInteger),
    ENTRY_LARGE(X87),
    ENTRY_LARGE(ComplexX87),
};

FWDCaller fwd_direct_caller(uint8_t shape) { return callers[shape]; }

#endif

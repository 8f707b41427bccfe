// SPDX-License-Identifier: Apache-2.0
/// The direct engine of AArch64: one small function for each kind of result and each amount of
/// arguments. The C compiler generates each call; this file only lists the types. Calls with
/// stack words use `call_stack_aarch64.S`.
#include "fwd_layout.h"
#include "../plan/fwd_plan_internal.h"

#if FWD_ABI_AAPCS64 && FWD_HAS_DIRECT_ENGINE

// Structures of one floating-point type are returned with each member in a register of its own, and
// the compiler packs them. Reading more registers than the callee returned is harmless.
typedef struct Vectors { double values[4]; } Vectors;
typedef struct Floats { float values[4]; } Floats;
typedef struct Quads { long double values[4]; } Quads;

// A whole vector register.
typedef double Vector __attribute__((vector_size(16), may_alias));

_Static_assert(offsetof(FWDFrame, vectors) == FWD_LAYOUT_VECTORS, "machine code loads from there");
_Static_assert(FWD_FRAME_STACK == FWD_LAYOUT_FRAME, "machine code finds the stack words there");
_Static_assert(sizeof(Quads) == sizeof((FWDFrame){0}.result), "four quads fill the result");

/// Calls `function` with the registers of `frame`, `words` words of stack behind the frame, and
/// `result` as the address of a result in memory. Any other result is in the registers of the
/// function's result type, so this is called through a cast to that type.
extern void fwd_call_stack(const FWDFrame *frame, const void *function, uint64_t words,
                           void *result);

#define EIGHT Vector, Vector, Vector, Vector, Vector, Vector, Vector, Vector
#define VECTOR(f, i) *(const Vector *)f->vectors[i]
#define VECTORS(f) VECTOR(f, 0), VECTOR(f, 1), VECTOR(f, 2), VECTOR(f, 3),                        \
                   VECTOR(f, 4), VECTOR(f, 5), VECTOR(f, 6), VECTOR(f, 7)

// X(amount, types, values, ...) for each amount of arguments in registers that `FWDArgumentShape` has.
#define EACH_AMOUNT(X, ...)                                                                       \
  X(Integers, (FWD_INTEGER_TYPES), (FWD_INTEGERS(f)), __VA_ARGS__)                                \
  X(Vectors, (FWD_INTEGER_TYPES, EIGHT), (FWD_INTEGERS(f), VECTORS(f)), __VA_ARGS__)

// X(kind, type) for each kind of result in `FWDReturnShape`, except nothing and results in memory.
#define EACH_RESULT(X)                                                                            \
  X(Integers, FWDIntegerPair)                                                                     \
  X(Vectors, Vectors)                                                                             \
  X(Floats, Floats)                                                                               \
  X(Quads, Quads)

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
#define DEFINE_RESULT(kind, type) EACH_AMOUNT(DEFINE, kind, type)

// Swift's calling convention for C functions passes the address of a result in x8, like AAPCS64,
// and all other values like C.
#define LIST(...) __VA_ARGS__
#define IN_MEMORY __attribute__((swift_indirect_result)) void *
#define DEFINE_INDIRECT(amount, types, values, ...)                                               \
  CALLER(Indirect, amount) {                                                                      \
    void *result = (char *)f + facts->result.offset;                                              \
    ((__attribute__((swiftcall)) void (*)(IN_MEMORY, LIST types))function)(result, LIST values);  \
  }

EACH_AMOUNT(DEFINE_NOTHING, )
EACH_AMOUNT(DEFINE_INDIRECT, )
EACH_RESULT(DEFINE_RESULT)

#define STACK_TYPES (const FWDFrame *, const void *, uint64_t, void *)

CALLER(Nothing, Stack) { fwd_call_stack(f, function, facts->stack_words, NULL); }
CALLER(Indirect, Stack) {
  fwd_call_stack(f, function, facts->stack_words, (char *)f + facts->result.offset);
}
#define DEFINE_STACK(kind, type)                                                                  \
  CALLER(kind, Stack) {                                                                           \
    type result =                                                                                 \
        ((type (*) STACK_TYPES)(void *)fwd_call_stack)(f, function, facts->stack_words, NULL);    \
    memcpy(f->result, &result, sizeof result);                                                    \
  }

EACH_RESULT(DEFINE_STACK)

/// Copies the values that are passed by address for each call, as a callee may write into them.
static void call_copied(const FWDPlanFacts *facts, FWDFrame *frame, const void *function) {
  // A plan begins with its facts.
  const FWDPlan *plan = (const FWDPlan *)facts;
  char *memory = (char *)frame;
  if (facts->stack_needed) fwd_touch_stack(plan->copied_bytes);
  char *copy = __builtin_alloca_with_align(plan->copied_bytes, 128);
  for (uint32_t i = 0; i < plan->copied_count; i++) {
    const FWDCopied *copied = &plan->copied[i];
    memcpy(copy, memory + copied->value, copied->size);
    memcpy(memory + copied->address, &copy, sizeof copy);
    copy += fwd_round_up(copied->size, 16);
  }
  plan->caller_of_copies(facts, frame, function);
}

#define ENTRY(amount, types, values, kind, ...)                                                   \
  [FWDReturn##kind << 4 | FWDArguments##amount] = call_##kind##_##amount,
#define ENTRIES(kind, ...)                                                                        \
  EACH_AMOUNT(ENTRY, kind)                                                                        \
  [FWDReturn##kind << 4 | FWDArgumentsStack] = call_##kind##_Stack,                               \
  [FWDReturn##kind << 4 | FWDArgumentsCopied] = call_copied,

static const FWDCaller callers[256] = {EACH_RESULT(ENTRIES) ENTRIES(Nothing) ENTRIES(Indirect)};

FWDCaller fwd_direct_caller(uint8_t shape) { return callers[shape]; }

#endif

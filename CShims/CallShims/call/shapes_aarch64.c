// SPDX-License-Identifier: Apache-2.0
/// The direct engine of AArch64: one small function for each kind of result and each amount of
/// arguments. The C compiler generates each call; this file only lists the types. Calls with
/// stack words or quads use `call_stack_aarch64.S`.
#include "fwd_layout.h"
#include "../plan/fwd_plan_internal.h"

#if FWD_ABI_AAPCS64 && FWD_HAS_DIRECT_ENGINE

// Structures of one floating-point type are returned with each member in a register of its own, and
// the compiler packs them. Reading more registers than the callee returned is harmless.
typedef struct Vectors { double values[4]; } Vectors;
typedef struct Floats { float values[4]; } Floats;
typedef struct Quads { long double values[4]; } Quads;

_Static_assert(offsetof(FWDFrame, vectors) == FWD_LAYOUT_VECTORS, "machine code loads from there");
_Static_assert(FWD_FRAME_STACK == FWD_LAYOUT_FRAME, "machine code finds the stack words there");
_Static_assert(sizeof(Quads) == sizeof((FWDFrame){0}.result), "four quads fill the result");

/// Calls `function` with the registers of `frame`, with whole vector registers from `wide` if it is
/// not NULL, `words` words of stack behind the frame, and `result` as the address of a result in
/// memory. Any other result is in the registers of the function's result type, so this is called
/// through a cast to that type.
extern void fwd_call_stack(const FWDFrame *frame, const void *function, uint64_t words,
                           const void *wide, void *result);

#define EIGHT double, double, double, double, double, double, double, double
#define VECTORS(f) f->vectors[0], f->vectors[1], f->vectors[2], f->vectors[3],                    \
                   f->vectors[4], f->vectors[5], f->vectors[6], f->vectors[7]

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

// A plan begins with its facts.
#define WIDE ((const char *)f + ((const FWDPlan *)facts)->wide_offset)
#define STACK_TYPES (const FWDFrame *, const void *, uint64_t, const void *, void *)

#define DEFINE_STACK(amount, wide)                                                                \
  CALLER(Nothing, amount) { fwd_call_stack(f, function, facts->stack_words, wide, NULL); }        \
  CALLER(Indirect, amount) {                                                                      \
    void *result = (char *)f + facts->result.offset;                                              \
    fwd_call_stack(f, function, facts->stack_words, wide, result);                                \
  }                                                                                               \
  DEFINE_STACK_RESULT(Integers, FWDIntegerPair, amount, wide)                                     \
  DEFINE_STACK_RESULT(Vectors, Vectors, amount, wide)                                             \
  DEFINE_STACK_RESULT(Floats, Floats, amount, wide)                                               \
  DEFINE_STACK_RESULT(Quads, Quads, amount, wide)
#define DEFINE_STACK_RESULT(kind, type, amount, wide)                                             \
  CALLER(kind, amount) {                                                                          \
    type result = ((type (*) STACK_TYPES)(void *)fwd_call_stack)(                                 \
        f, function, facts->stack_words, wide, NULL);                                             \
    memcpy(f->result, &result, sizeof result);                                                    \
  }

DEFINE_STACK(Stack, NULL)
DEFINE_STACK(Wide, WIDE)

/// Moves values from their homes to where the registers are loaded from. Copies are made for each
/// call, and freed after it: a callee may write into them.
static void call_moved(const FWDPlanFacts *facts, FWDFrame *frame, const void *function) {
  const FWDPlan *plan = (const FWDPlan *)facts;
  char *memory = (char *)frame;
  if (facts->stack_needed) fwd_touch_stack(plan->copied_bytes);
  char *copy = plan->copied_bytes ? __builtin_alloca_with_align(plan->copied_bytes, 128) : NULL;
  for (const FWDMoved *moved = plan->moved; moved < plan->moved + plan->moved_count; moved++) {
    const char *home = memory + moved->home;
    char *place = memory + moved->place;
    if (moved->part == 0) {
      memcpy(copy, home, moved->size);
      memcpy(place, &copy, sizeof copy);
      copy += fwd_round_up(moved->size, 16);
      continue;
    }
    for (uint32_t i = 0; i < moved->count; i++) {
      uint64_t word = 0;
      memcpy(&word, home + i * moved->part, moved->part);
      memcpy(place + i * moved->stride, &word, sizeof word);
    }
  }
  plan->unmoved_caller(facts, frame, function);
}

#define ENTRY(amount, types, values, kind, ...)                                                   \
  [FWDReturn##kind << 4 | FWDArguments##amount] = call_##kind##_##amount,
#define ENTRIES(kind, ...)                                                                        \
  EACH_AMOUNT(ENTRY, kind)                                                                        \
  [FWDReturn##kind << 4 | FWDArgumentsStack] = call_##kind##_Stack,                               \
  [FWDReturn##kind << 4 | FWDArgumentsWide] = call_##kind##_Wide,                                 \
  [FWDReturn##kind << 4 | FWDArgumentsMoved] = call_moved,

static const FWDCaller callers[256] = {EACH_RESULT(ENTRIES) ENTRIES(Nothing) ENTRIES(Indirect)};

FWDCaller fwd_direct_caller(uint8_t shape) { return callers[shape]; }

#endif

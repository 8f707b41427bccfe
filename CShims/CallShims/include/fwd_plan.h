// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string.h>

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

/// The result of creating a plan. An existing plan can always be called, so calls have no status.
typedef enum __attribute__((enum_extensibility(closed))) FWDStatus : uint8_t {
  FWDStatusOk = 0,
  FWDStatusOutOfMemory,
  /// A value cannot be passed by value on this platform.
  FWDStatusUnsupportedValue,
  /// A value, or all values together, exceed the limits in `fwd_frame.h`.
  FWDStatusTooLarge,
} FWDStatus;

/// The public part of a plan.
typedef struct FWDPlanFacts {
  /// One slot for each argument. Borrowed from the plan.
  const FWDSlot *slots;
  /// The Swift object that created the plan, and destroys it.
  const void *_Nullable swift_plan;
  /// An identity that plans with equivalent calls share, so that one may replace another; the plan
  /// itself if there are no others.
  const void *identity;
  /// One word for the result and one for each argument, for `fwd_remember_match`.
  uintptr_t *matches;
  uint32_t argument_count;
  /// The offsets of the first two arguments: the receiver and the selector of a method.
  uint32_t receiver_offset;
  uint32_t selector_offset;
  /// The size of a frame of this plan, a multiple of 16.
  uint32_t frame_size;
  /// The number of words that a call copies to the stack.
  uint32_t stack_words;
  /// The bytes of free stack that a call needs; 0 for a call that copies little.
  uint32_t stack_needed;
  /// The number of words behind the frame that record which arguments beyond the 64th are owned.
  uint32_t owned_words;
  FWDSlot result;
  /// The registers of the result: `FWD_RETURN_NOTHING` and so on.
  uint8_t returns;
  /// `FWD_RETURN_NOTHING` or `FWD_RETURN_INTEGERS` for a call that `fwd_call` inlines; otherwise
  /// `FWD_NOT_INLINED`.
  uint8_t inlined;
  /// Whether calls need no further work: the result owns nothing, and so little is copied to
  /// the stack that nobody checks the room (`stack_needed` is 0).
  uint8_t is_light;
  uint8_t returns_value;
  /// Whether a new frame needs only zeros in the integer registers.
  uint8_t is_simple;
  /// Whether the creator of the plan stores Swift text in slots of C strings.
  uint8_t has_swift_text;
} FWDPlanFacts;

#define FWD_NOT_INLINED 0xFF

/// A call interface, prepared once and immutable afterwards. Thread-safe.
typedef struct FWDPlan FWDPlan;

/// Creates a plan from `1 + argument_count` values: the result, then each argument.
///
/// `fixed_count` is the number of arguments in front of the `...` of a variadic function, and
/// exceeds `argument_count` for all other functions. The caller has classified the values, and has
/// checked that the number of arguments does not exceed that of a signature. It owns the plan, and
/// destroys it with `fwd_plan_destroy`. `values` is not retained. On failure `out_plan` is NULL,
/// and `out_index` is the index of the value at fault: 0 is the result, or all values together.
FWDStatus fwd_plan_create(const FWDValue *values, size_t argument_count, size_t fixed_count,
                          FWDPlan *_Nullable *_Nonnull out_plan, size_t *out_index);

/// Destroys a plan that is not in use. Its memory remains as long as a callback needs it. Pointers
/// borrowed from the plan become invalid. Called once by the creator, on any thread.
void fwd_plan_destroy(FWDPlan *plan);

/// Sets the creator of the plan, and the identity that equivalent plans share; NULL means the plan
/// itself. Called once, before the plan is shared; until then it has no identity. Code in this
/// folder neither retains nor dereferences the two pointers.
void fwd_plan_set_swift_plan(FWDPlan *plan, const void *swift_plan, const void *_Nullable identity,
                             int has_swift_text);

/// Returns the facts of a plan, borrowed from it. Only `matches` changes after the plan was
/// created. Thread-safe.
const FWDPlanFacts *fwd_plan_facts(const FWDPlan *plan);

/// Returns the slot of the result, borrowed from the facts. A plan without a result has
/// one too, of size 0.
static inline const FWDSlot *fwd_facts_result(const FWDPlanFacts *facts) {
  return &facts->result;
}

/// Points the hidden argument at the frame's own room for the result, if the result is in memory.
/// Called once for each frame, and again for each copy, which would otherwise write into the
/// original. On AArch64 the address is not an argument, and each call passes it.
static inline void fwd_frame_bind_result(const FWDPlanFacts *facts, FWDFrame *frame) {
  if (FWD_ABI_AAPCS64) return;
  if (facts->result.route == FWDRouteHiddenPointer)
    frame->integers[0] = (uint64_t)((char *)frame + facts->result.offset);
}

/// Initializes the memory of a call: its state, its frame, and the words behind it.
///
/// The caller owns the memory, aligned to 16 bytes: the state, `frame_size` bytes, and
/// `owned_words` words. Arguments then read as zero; the result's bytes are undefined until there
/// is a result.
static inline void fwd_call_begin(const FWDPlanFacts *facts, FWDInvocationState *state) {
  FWDFrame *frame = fwd_state_frame(state);
  memset(state, 0, sizeof *state);
  memset(frame->integers, 0, sizeof frame->integers);
  if (__builtin_expect(facts->is_simple, 1)) {
    // Such a call must not read the memory that it does not use.
    if (FWD_IS_CHECKED)
      memset(frame->vectors, 0xA5, facts->frame_size - offsetof(FWDFrame, vectors));
    return;
  }
  memset(frame->vectors, 0,
         facts->frame_size - offsetof(FWDFrame, vectors) + 8 * facts->owned_words);
  fwd_frame_bind_result(facts, frame);
}

/// Initializes a call whose arguments are all set before it is made: they are undefined until then.
/// Like `fwd_call_begin`, for a plan without words behind the frame.
static inline void fwd_call_begin_set(const FWDPlanFacts *facts, FWDInvocationState *state) {
  if (FWD_IS_CHECKED) memset(fwd_state_frame(state), 0xA5, facts->frame_size);
  memset(state, 0, sizeof *state);
  fwd_frame_bind_result(facts, fwd_state_frame(state));
}

/// Returns whether a call may own a value that must be released at its end. A false 1 is possible,
/// and is returned for every call with words behind its frame; a false 0 is not.
static inline int fwd_call_owns_something(const FWDPlanFacts *facts,
                                          const FWDInvocationState *state) {
  return (state->owned | state->result_ownership | facts->owned_words) != 0;
}

/// Returns the word of a call that has the bit of argument `index`: whether the argument owns its value.
static inline uint64_t *fwd_owned_word(const FWDPlanFacts *facts, FWDInvocationState *state,
                                       size_t index) {
  if (index < 64) return &state->owned;
  return (uint64_t *)((char *)fwd_state_frame(state) + facts->frame_size) + index / 64 - 1;
}

/// Returns whether values of the Swift type `type` are known to fit place `index`: 0 is the result,
/// and `i + 1` is argument `i`. 0 means only that it is not known. Thread-safe.
static inline int fwd_is_known_match(const FWDPlanFacts *facts, size_t index, const void *type) {
  return __atomic_load_n(&facts->matches[index], __ATOMIC_RELAXED) == (uintptr_t)type;
}

/// Records that the type fits, which the caller has checked. Each place has one type: the last one
/// replaces others, which are checked again when needed.
static inline void fwd_remember_match(const FWDPlanFacts *facts, size_t index, const void *type) {
  __atomic_store_n(&facts->matches[index], (uintptr_t)type, __ATOMIC_RELAXED);
}

/// Returns whether calls on this platform use the direct engine, or libffi.
static inline int fwd_has_direct_engine(void) { return FWD_HAS_DIRECT_ENGINE; }

#pragma clang assume_nonnull end

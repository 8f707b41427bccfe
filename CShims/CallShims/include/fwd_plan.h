#pragma once

#include <string.h>

#include "fwd_frame.h"

#pragma clang assume_nonnull begin

/// What went wrong while a plan was being made. A plan that exists can always be called, so
/// the calls have no status.
typedef enum __attribute__((enum_extensibility(closed))) FWDStatus : uint8_t {
  FWDStatusOk = 0,
  FWDStatusOutOfMemory,
  /// A value cannot be passed by value on this platform.
  FWDStatusUnsupportedValue,
  /// A value, or all of them together, is larger than the limits in `fwd_frame.h`.
  FWDStatusTooLarge,
  /// libffi does not know the calling convention.
  FWDStatusUnsupportedConvention,
} FWDStatus;

/// Who performs the calls of a plan.
typedef enum __attribute__((enum_extensibility(closed))) FWDEngine : uint8_t {
  /// A cast of the function pointer to one of a few shapes; the C compiler writes the call.
  FWDEngineDirect = 0,
  FWDEngineLibffi,
} FWDEngine;

typedef struct FWDPlanFacts FWDPlanFacts;

/// Performs the calls of a plan: a cast of the function pointer to its shape, or libffi.
typedef void (*FWDCaller)(const FWDPlanFacts *facts, FWDFrame *frame, const void *function);

/// The part of a plan that may be looked at.
struct FWDPlanFacts {
  /// One for each argument. Borrowed from the plan.
  const FWDSlot *slots;
  /// The maker of the plan, which destroys it.
  const void *_Nullable swift_plan;
  /// Shared by plans whose calls are alike, so that one may stand in for another; the plan itself if
  /// there are no others.
  const void *identity;
  /// One word for the result and each argument, for `fwd_remember_match`.
  uintptr_t *matches;
  uint32_t argument_count;
  /// Where the words of the first two arguments lie, which a method has as receiver and selector.
  uint32_t receiver_offset;
  uint32_t selector_offset;
  /// The size of a frame of this plan, a multiple of 16.
  uint32_t frame_size;
  /// What a call copies to the stack, and what of it are arguments.
  uint32_t stack_words;
  uint32_t passed_words;
  /// How many bytes of stack a call must find; 0 for one that copies little.
  uint32_t stack_needed;
  /// How many words after the frame say which arguments beyond the 64th are owned.
  uint32_t owned_words;
  FWDSlot result;
  FWDCaller caller;
  /// Which registers and stack words a call takes; `FWD_SHAPE_OF_LIBFFI` if libffi has to know.
  uint8_t shape;
  FWDEngine engine;
  /// Whether calls are direct and need no care: the result is no object and no C string, and little is
  /// copied to the stack.
  uint8_t is_light;
  uint8_t returns_value;
  /// Whether a new frame needs no more than zero in the integer registers.
  uint8_t is_simple;
  /// Whether the maker of the plan has text of its own in places that C takes for those of C strings.
  uint8_t has_swift_text;
};

#define FWD_SHAPE_OF_LIBFFI 0xFF

/// A call interface, prepared once and then only read. Safe to share between threads.
typedef struct FWDPlan FWDPlan;

/// Makes a plan from `1 + argument_count` values: the result, then each argument.
///
/// `fixed_count` is how many arguments stand before the `...` of a variadic function, and equals
/// `argument_count` for all others. The caller has classified the values, and has checked that there
/// are no more arguments than a signature may have. It owns the plan, and ends it with
/// `fwd_plan_destroy`; nothing is retained from `values`. On failure `out_plan` is NULL, and
/// `out_index` the value to blame, where 0 is the result or all of them together.
FWDStatus fwd_plan_create(const FWDValue *values, size_t argument_count, size_t fixed_count,
                          FWDPlan *_Nullable *_Nonnull out_plan, size_t *out_index);

/// Frees a plan, which nobody may be using; its memory stays for as long as a callback needs it. What
/// was borrowed from the plan is gone then. Called once by the maker, on any thread.
void fwd_plan_destroy(FWDPlan *plan);

/// Sets the maker of the plan, and what it shares with plans whose calls are alike; NULL stands for the
/// plan itself. Called once, before anybody else knows the plan, which has no identity until then.
/// Neither is retained, nor followed by code of this folder.
void fwd_plan_set_swift_plan(FWDPlan *plan, const void *swift_plan, const void *_Nullable identity,
                             int has_swift_text);

/// Returns the facts of a plan, borrowed from it. Nothing of them changes but `matches`, so any thread
/// may read them.
const FWDPlanFacts *fwd_plan_facts(const FWDPlan *plan);

/// Returns the place of the result, borrowed from the plan or its facts. A plan whose calls return
/// nothing has one too, of size 0.
const FWDSlot *fwd_plan_result(const FWDPlan *plan);
static inline const FWDSlot *fwd_facts_result(const FWDPlanFacts *facts) {
  return &facts->result;
}

/// Points the hidden argument at the frame's own room for the result, if the result is in memory. It
/// is done once for a frame, and again for each copy of it: a copy would write into the first one. On
/// AArch64 the address is no argument, and each call passes it.
static inline void fwd_frame_bind_result(const FWDPlanFacts *facts, FWDFrame *frame) {
  if (FWD_ABI_AAPCS64) return;
  if (facts->result.route == FWDRouteHiddenPointer)
    frame->integers[0] = (uint64_t)((char *)frame + facts->result.offset);
}

/// Makes a call with nothing set: its state, and the frame with the notes behind it.
///
/// The caller owns the memory, aligned to 16 bytes: the state, `frame_size` bytes, and `owned_words`
/// words. Arguments read as zero afterwards; the result's bytes may be anything before there is one.
static inline void fwd_call_begin(const FWDPlanFacts *facts, FWDInvocationState *state) {
  FWDFrame *frame = fwd_state_frame(state);
  memset(state, 0, sizeof *state);
  memset(frame->integers, 0, sizeof frame->integers);
  if (__builtin_expect(facts->is_simple, 1)) {
    // Nobody may look at what such a call does not use.
    if (FWD_IS_CHECKED)
      memset(frame->vectors, 0xA5, facts->frame_size - offsetof(FWDFrame, vectors));
    return;
  }
  memset(frame->vectors, 0,
         facts->frame_size - offsetof(FWDFrame, vectors) + 8 * facts->owned_words);
  fwd_frame_bind_result(facts, frame);
}

/// Makes a call whose arguments are all set before it is made: those that are not read as anything.
/// Otherwise as `fwd_call_begin`, for a plan without notes behind the frame.
static inline void fwd_call_begin_set(const FWDPlanFacts *facts, FWDInvocationState *state) {
  if (FWD_IS_CHECKED) memset(fwd_state_frame(state), 0xA5, facts->frame_size);
  memset(state, 0, sizeof *state);
  fwd_frame_bind_result(facts, fwd_state_frame(state));
}

/// Says whether a call may own something that it has to let go of at its end: never no where it does,
/// and yes for every call with notes behind its frame.
static inline int fwd_call_owns_something(const FWDPlanFacts *facts,
                                          const FWDInvocationState *state) {
  return (state->owned | state->result_ownership | facts->owned_words) != 0;
}

/// Says whether values of the Swift type `type` were found to fit place `index`: 0 is the result, and
/// argument `i` is `i + 1`. No means only that it is not known. Any thread may ask.
static inline int fwd_is_known_match(const FWDPlanFacts *facts, size_t index, const void *type) {
  return __atomic_load_n(&facts->matches[index], __ATOMIC_RELAXED) == (uintptr_t)type;
}

/// Remembers that they fit, which the caller has found out. One type for each place: the last one wins,
/// and a lost one is found out again.
static inline void fwd_remember_match(const FWDPlanFacts *facts, size_t index, const void *type) {
  __atomic_store_n(&facts->matches[index], (uintptr_t)type, __ATOMIC_RELAXED);
}

/// Says whether calls of this platform go through the direct engine. Variadic ones go through libffi
/// all the same.
int fwd_has_direct_engine(void);

#pragma clang assume_nonnull end

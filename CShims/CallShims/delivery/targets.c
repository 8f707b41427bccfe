// SPDX-License-Identifier: Apache-2.0
#include "CForwardingShims.h"

// Calls a C function with a light result on consecutive targets of one class, as long as they are
// ordinary targets and no class has changed. There is at least one target, from `member` on.
// Returns the first member that was not called. Not inlined: the loop needs all registers.

#if FWD_HAS_DIRECT_ENGINE

// The most common shape: the receiver is the first integer register, and is never in memory.
__attribute__((noinline, no_sanitize("function"))) static const void *const *call_integers(
    const void *const *member, const void *const *stop, const FWDMethod *method,
    const FWDMethodCache *cache, const FWDFrame *f) {
  uintptr_t type = fwd_target_type(fwd_target_of(*member));
  do {
    const FWDTarget *target = fwd_target_of(*member);
    if (fwd_target_type(target) != type) break;
    FWDRetained taken = fwd_target_retain(target);
    if (!taken.object) break;
    ((void (*)(FWD_INTEGER_TYPES))method->function)((uint64_t)taken.object, FWD_OTHER_INTEGERS(f));
    fwd_target_release(taken);
    member++;
  } while (member < stop && fwd_method_is_current(cache));
  return member;
}

#endif

// Any other shape: the receiver is written into the frame, and that of the caller is restored at
// the end.
__attribute__((noinline)) static const void *const *call_any(
    const void *const *member, const void *const *stop, const FWDMethod *method,
    const FWDMethodCache *cache, const FWDPlanFacts *facts, FWDFrame *frame) {
  void *receiver = (char *)frame + facts->slots[0].offset;
  uint64_t before;
  memcpy(&before, receiver, sizeof before);
  uintptr_t type = fwd_target_type(fwd_target_of(*member));
  do {
    const FWDTarget *target = fwd_target_of(*member);
    if (fwd_target_type(target) != type) break;
    FWDRetained taken = fwd_target_retain(target);
    if (!taken.object) break;
    memcpy(receiver, &taken.object, sizeof taken.object);
    fwd_call(facts, frame, method->function);
    // A target that is deallocated by this release must not find itself in the frame from its
    // `deinit`.
    memcpy(receiver, &before, sizeof before);
    fwd_target_release(taken);
    member++;
  } while (member < stop && fwd_method_is_current(cache));
  memcpy(receiver, &before, sizeof before);
  return member;
}

__attribute__((always_inline)) static inline const void *const *call(
    const void *const *member, const void *const *stop, const FWDMethod *method,
    const FWDMethodCache *cache, const FWDPlanFacts *facts, FWDFrame *frame) {
#if FWD_HAS_DIRECT_ENGINE
  // A call with a result in memory has this shape too, but its first integer is the hidden pointer.
  if (__builtin_expect(facts->shape == FWD_SHAPE(Nothing, Integers) && !facts->returns_value, 1))
    return call_integers(member, stop, method, cache, frame);
#endif
  return call_any(member, stop, method, cache, facts, frame);
}

// MARK: Rounds

// `stack` is an address in the frame of the function that has the round as a local variable,
// because a round continues after the function that begins it.
__attribute__((always_inline)) static inline int begin(FWDRound *round, FWDThread *thread,
                                                       FWDListPlace *place, uintptr_t stack) {
  FWDHold *hold = thread->top;
  if (!fwd_has_room(thread, hold, 2, stack)) return 0;
  fwd_place_note_reader(place, thread);
  thread->top = hold + 2;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const void *list = fwd_hold_in(thread, hold, &place->list, stack);
  if (!list) {
    thread->top = hold;
    return 0;
  }
  round->thread = thread;
  round->hold = hold;
  round->list = (const FWDTargetList *)list;
  round->next = round->stop = NULL;
  round->begun = 0;
  round->cache =
      (const FWDMethodCache *)fwd_hold_in(thread, hold + 1, &fwd_method_cache, stack);
  return 1;
}

// Advances to the next chunk at the end of one. Returns whether the round is over.
__attribute__((always_inline)) static inline int is_over(FWDRound *round) {
  if (round->stops_at_first && round->answered > 0) return 1;
  if (round->next < round->stop) return 0;
  if (round->begun == round->list->count) return 1;
  const FWDTargetChunk *chunk = round->list->chunks[round->begun++];
  round->next = chunk->members;
  round->stop = chunk->members + chunk->count;
  return 0;
}

/// Calls the targets of one class from the current turn on. Returns 0 if a target needs more than a
/// call.
__attribute__((always_inline)) static inline int call_run(FWDRound *round,
                                                          const FWDPlanFacts *facts,
                                                          FWDInvocationState *state) {
  const FWDTarget *target = fwd_target_of(*round->next);
  round->method = NULL;
  // Targets with lanes are not called here, so their methods are not looked up.
  if (__builtin_expect(fwd_target_flags(target) & FWD_TARGET_SPECIAL, 0)) return 0;
  const FWDMethod *method =
      fwd_method_find(round->cache, fwd_target_type(target), round->selector);
  if (method && method->plan != facts->identity) method = NULL;
  round->method = method;
  if (!method || !method->function || !method->is_light) return 0;
  state->uses++;
  const void *const *next = call(round->next, fwd_round_stop(round), method, round->cache, facts,
                                 fwd_state_frame(state));
  state->uses--;
  size_t called = (size_t)(next - round->next);
  if (called == 0) return 0;
  state->has_result = facts->returns_value;
  round->answered += called;
  round->next = next;
  return 1;
}

__attribute__((always_inline)) static inline void end(const FWDRound *round) {
  fwd_let_go_from((FWDThread *)round->thread, (FWDHold *)round->hold, 1);
  fwd_forwarding_leave(round->thread);
}

FWDDelivery fwd_round_take_run(FWDRound *round, const FWDPlanFacts *facts,
                               FWDInvocationState *state,
                               const void *_Nonnull const *_Nullable *out_first) {
  if (is_over(round)) {
    end(round);
    return FWDDeliveryDone;
  }
  *out_first = round->next;
  // A class has changed since the last target was called; the table was correct until then.
  if (__builtin_expect(!fwd_method_is_current(round->cache), 0))
    round->cache = (const FWDMethodCache *)fwd_hold_again((FWDThread *)round->thread,
                                                          round->hold + 1, &fwd_method_cache);
  return call_run(round, facts, state) ? FWDDeliveryWentOn : FWDDeliveryStopped;
}

int fwd_round_go_on(FWDRound *round, const FWDPlanFacts *facts, FWDInvocationState *state) {
  const void *const *first;
  FWDDelivery delivery;
  do delivery = fwd_round_take_run(round, facts, state, &first);
  while (delivery == FWDDeliveryWentOn);
  return delivery == FWDDeliveryStopped;
}

FWDDelivered fwd_targets_deliver(FWDListPlace *place, const void *step,
                                 const FWDPlanFacts *facts, FWDInvocationState *state,
                                 FWDRound *out_round) {
  const FWDDelivered not_begun = {.what = FWDDeliveryNotBegun};
  uint64_t selector = state->checked_selector, word;
  // Only a message has a known selector, so argument 1 exists.
  if (selector == 0) return not_begun;
  memcpy(&word, (const char *)fwd_state_frame(state) + facts->slots[1].offset, sizeof word);
  FWDThread *thread = fwd_thread();
  if (word != selector || !thread || state->result_ownership || state->has_attachments) return not_begun;
  if (state->message == 0) state->message = ++thread->last_message;
  uintptr_t stack = (uintptr_t)out_round;
  if (fwd_forwarding_enter_at(thread, step, state->message, stack) != FWDForwardingEntered)
    return not_begun;
  FWDRound round = {.selector = selector, .stops_at_first = out_round->stops_at_first};
  if (__builtin_expect(!begin(&round, thread, place, stack), 0)) {
    fwd_forwarding_leave(thread);
    return not_begun;
  }
  // An earlier result must not be taken for an answer to this message.
  state->has_result = 0;
  // Most lists have one class. The round is then over without having been written to memory.
  int goes_on = is_over(&round) || call_run(&round, facts, state);
  if (goes_on && __builtin_expect(is_over(&round), 1)) {
    end(&round);
    return (FWDDelivered){FWDDeliveryDone, round.answered};
  }
  *out_round = round;
  if (goes_on && !fwd_round_go_on(out_round, facts, state))
    return (FWDDelivered){FWDDeliveryDone, out_round->answered};
  return (FWDDelivered){.what = FWDDeliveryStopped};
}

int fwd_round_begin(FWDRound *round, FWDListPlace *place, uint64_t selector) {
  FWDThread *thread = fwd_thread();
  *round = (FWDRound){.selector = selector, .stops_at_first = round->stops_at_first};
  return thread && begin(round, thread, place, (uintptr_t)round);
}

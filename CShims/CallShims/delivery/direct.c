// SPDX-License-Identifier: Apache-2.0
#include "CForwardingShims.h"

FWDDirectRound fwd_direct_keep(FWDListPlace *place) {
  const FWDDirectRound none = {0};
  FWDThread *thread = fwd_thread();
  if (!thread) return none;
  FWDHold *hold = thread->top;
  if (__builtin_expect(!fwd_has_room(thread, hold), 0))
    return (FWDDirectRound){fwd_list_keep(place), thread, NULL};
  fwd_place_note_reader(place, thread);
  thread->top = hold + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const void *list = fwd_hold_in(thread, hold, &place->list);
  if (__builtin_expect(list != NULL, 1)) return (FWDDirectRound){list, thread, hold};
  thread->top = hold;
  return none;
}

FWDDirectRound fwd_direct_begin_carefully(FWDListPlace *place, const void *step) {
  const FWDDirectRound none = {0};
  FWDThread *thread = fwd_thread();
  if (!thread) return none;
  // Of the same list, an outer delivery is no cycle: this one is of another message, which gets its number if it is sent.
  if (fwd_forwarding_enter(thread, step, fwd_next_message()) != FWDForwardingEntered) return none;
  thread->steps[thread->depth - 1].message = 0;
  FWDDirectRound round = fwd_direct_keep(place);
  if (!round.list) fwd_forwarding_leave(thread);
  return round;
}

uint64_t fwd_direct_number(FWDThread *thread) {
  // The step of the delivery is the innermost one of the thread again.
  FWDStep *step = thread->depth > 0 ? &thread->steps[thread->depth - 1] : NULL;
  if (step && step->message != 0) return step->message;
  uint64_t number = fwd_next_message();
  if (step) step->message = number;
  return number;
}

const FWDTargetList *fwd_awaited_begin(FWDOwnedList *owner) {
  FWDListPlace *place = fwd_list_place(owner);
  const FWDTargetList *list;
  while ((list = fwd_list_keep(place))) {
    fwd_list_begin_awaited(owner, list->newest);
    if (__builtin_expect(__atomic_load_n(&place->list, __ATOMIC_SEQ_CST) == list, 1)) return list;
    fwd_list_end_awaited(owner);
    fwd_list_let_go(list);
  }
  return NULL;
}

void fwd_awaited_end(const FWDTargetList *list, FWDOwnedList *owner) {
  fwd_list_end_awaited(owner);
  fwd_list_let_go(list);
}

FWDWitnesses *fwd_witnesses_make(const void *proxy, const void *_Nullable const *tables,
                                 size_t count, int is_isolated) {
  FWDWitnesses *made = malloc(sizeof *made + count * sizeof *tables);
  if (!made) abort();
  made->proxy = proxy;
  made->is_isolated = is_isolated;
  memcpy(made->tables, tables, count * sizeof *tables);
  return made;
}

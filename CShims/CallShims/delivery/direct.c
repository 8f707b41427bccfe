#include "CForwardingShims.h"

// Whether classes of proxies have methods of their own.
static int is_stopped;

void fwd_direct_stop(void) { __atomic_store_n(&is_stopped, 1, __ATOMIC_RELEASE); }

// The slow path of `fwd_direct_begin`, for cases that need more than entering the step and holding
// the list.
__attribute__((noinline)) static int begin_carefully(FWDDirectRound *round, FWDListPlace *place, const void *step,
                                                     FWDThread *thread) {
  if (!thread || __atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE)) return 0;
  uintptr_t stack = (uintptr_t)round;
  if (fwd_forwarding_enter_at(thread, step, 0, stack) != FWDForwardingEntered) return 0;
  FWDHold *hold = thread->top;
  if (fwd_has_room(thread, hold, 1, stack)) {
    fwd_place_note_reader(place, thread);
    thread->top = hold + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const void *list = fwd_hold_in(thread, hold, &place->list, stack);
    if (__builtin_expect(list != NULL, 1)) {
      *round = (FWDDirectRound){.thread = thread, .hold = hold, .list = list};
      return 1;
    }
    thread->top = hold;
  }
  fwd_forwarding_leave(thread);
  return 0;
}

int fwd_direct_begin(FWDDirectRound *round, FWDListPlace *place, const void *step) {
  FWDThread *thread = fwd_thread();
  uint32_t depth;
  FWDHold *hold;
  // The step of a new message cannot be a cycle.
  if (__builtin_expect(!thread || (depth = thread->depth) >= FWD_FORWARDING_SHALLOW ||
                           (hold = thread->top) + 1 > thread->room ||
                           __atomic_load_n(&place->reader, __ATOMIC_ACQUIRE) != (uintptr_t)thread ||
                           __atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE),
                       0))
    return begin_carefully(round, place, step, thread);
  uintptr_t stack = (uintptr_t)round;
  thread->top = hold + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const FWDTargetList *list = fwd_hold_in(thread, hold, &place->list, stack);
  if (__builtin_expect(!list, 0)) {
    thread->top = hold;
    return 0;
  }
  thread->steps[depth] = (FWDStep){step, 0, stack};
  thread->depth = depth + 1;
  round->thread = thread;
  round->hold = hold;
  round->list = list;
  round->next = round->stop = NULL;
  round->begun = 0;
  round->message = 0;
  return 1;
}

void fwd_direct_end(FWDDirectRound *round) {
  FWDThread *thread = (FWDThread *)round->thread;
  fwd_let_go_from(thread, (FWDHold *)round->hold, 0);
  fwd_forwarding_leave(thread);
}

uint64_t fwd_direct_number(FWDDirectRound *round, uint64_t bits) {
  if (round->message == 0) {
    FWDThread *thread = (FWDThread *)round->thread;
    round->message = fwd_next_face_message() | bits;
    // The step of this round is the innermost one of the thread again.
    if (thread->depth > 0) thread->steps[thread->depth - 1].message = round->message;
  }
  return round->message;
}

int fwd_awaited_begin(FWDDirectRound *round, FWDOwnedList *owner) {
  FWDListPlace *place = fwd_list_place(owner);
  if (__atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE)) return 0;
  const FWDTargetList *list;
  while ((list = fwd_list_keep(place))) {
    fwd_list_begin_awaited(owner, list->newest);
    if (__builtin_expect(__atomic_load_n(&place->list, __ATOMIC_SEQ_CST) == list, 1)) {
      *round = (FWDDirectRound){.list = list};
      return 1;
    }
    fwd_list_end_awaited(owner);
    fwd_list_let_go(list);
  }
  return 0;
}

void fwd_awaited_end(FWDDirectRound *round, FWDOwnedList *owner) {
  fwd_list_end_awaited(owner);
  fwd_list_let_go(round->list);
}

FWDWitnesses *fwd_witnesses_make(const void *face, const void *_Nullable const *tables,
                                 size_t count, int is_isolated) {
  FWDWitnesses *made = malloc(sizeof *made + count * sizeof *tables);
  if (!made) abort();
  made->face = face;
  made->is_isolated = is_isolated;
  memcpy(made->tables, tables, count * sizeof *tables);
  return made;
}

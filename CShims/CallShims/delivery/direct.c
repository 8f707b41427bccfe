#include "CForwardingShims.h"

// Whether classes of proxies have methods of their own.
static int is_stopped;

void fwd_direct_stop(void) { __atomic_store_n(&is_stopped, 1, __ATOMIC_RELEASE); }

int fwd_direct_begin(FWDDirectRound *round, FWDListPlace *place, const void *step) {
  FWDThread *thread = fwd_thread();
  if (!thread || __atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE)) return 0;
  uintptr_t stack = (uintptr_t)round;
  uint64_t message = ++thread->last_message | FWD_FACE_MESSAGE_BIT;
  if (fwd_forwarding_enter_at(thread, step, message, stack) != FWDForwardingEntered) return 0;
  FWDHold *hold = thread->top;
  if (fwd_has_room(thread, hold, 1, stack)) {
    fwd_place_note_reader(place, thread);
    thread->top = hold + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const void *list = fwd_hold_in(thread, hold, &place->list, stack);
    if (__builtin_expect(list != NULL, 1)) {
      *round = (FWDDirectRound){.thread = thread, .hold = hold, .list = list, .message = message};
      return 1;
    }
    thread->top = hold;
  }
  fwd_forwarding_leave(thread);
  return 0;
}

void fwd_direct_end(FWDDirectRound *round) {
  FWDThread *thread = (FWDThread *)round->thread;
  fwd_let_go_from(thread, (FWDHold *)round->hold, 0);
  fwd_forwarding_leave(thread);
}

FWDWitnesses *fwd_witnesses_make(const void *face, const void *_Nullable const *tables,
                                 size_t count) {
  FWDWitnesses *made = malloc(sizeof *made + count * sizeof *tables);
  if (!made) abort();
  made->face = face;
  memcpy(made->tables, tables, count * sizeof *tables);
  return made;
}

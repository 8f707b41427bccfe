// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "CForwardingShims.h"

// Records that a thread delivers from a place, before it reads the place for the first time. As
// long as only one thread has delivered, withdrawing a list need not involve others. One thread
// creates and destroys most proxies, and a barrier on all threads takes longer than all the rest of
// that.
void fwd_place_note_other_reader(FWDListPlace *place, const FWDThread *thread) {
  uintptr_t reader = __atomic_load_n(&place->reader, __ATOMIC_ACQUIRE);
  if (reader == FWD_MANY_READERS) return;
  if (reader != 0 || !__atomic_compare_exchange_n(&place->reader, &reader, (uintptr_t)thread, 0,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    __atomic_store_n(&place->reader, FWD_MANY_READERS, __ATOMIC_SEQ_CST);
  // Orders the store before the read of the place, as the exchange of the list is ordered before
  // the read of the reader.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

FWDTargetList *fwd_list_make(const void *const *members, size_t count, uint64_t newest) {
  FWDTargetList *list = malloc(sizeof *list + count * sizeof *members);
  if (!list) abort();
  list->count = count;
  list->keepers = 1;
  list->newest = newest;
  for (size_t i = 0; i < count; i++) list->members[i] = swift_retain((void *)members[i]);
  return list;
}

static void dispose(FWDRetirable *retirable) {
  FWDTargetList *list = (FWDTargetList *)retirable;
  if (__atomic_sub_fetch(&list->keepers, 1, __ATOMIC_ACQ_REL) > 0) return;
  for (size_t i = 0; i < list->count; i++) swift_release((void *)list->members[i]);
  free(list);
}

const FWDTargetList *fwd_list_keep(FWDListPlace *place) {
  FWDThread *thread = fwd_thread();
  if (!thread) return NULL;
  fwd_place_note_reader(place, thread);
  FWDHold *hold = thread->top;
  // No other code runs during this hold, so it may take the last slot.
  fwd_has_room(thread, hold);
  thread->top = hold + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  FWDTargetList *list = (FWDTargetList *)fwd_hold_in(thread, hold, &place->list);
  if (list) __atomic_fetch_add(&list->keepers, 1, __ATOMIC_RELAXED);
  fwd_let_go_from(thread, hold);
  return list;
}

void fwd_list_let_go(const FWDTargetList *list) { dispose((FWDRetirable *)&list->retirable); }

static int is_held(const FWDThread *thread, const FWDTargetList *list) {
  for (uint32_t i = 0; i < thread->high; i++)
    if (thread->holds[i].thing == (const void *)list) return 1;
  return 0;
}

void fwd_targets_retire(FWDListPlace *place, FWDTargetList *list) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uintptr_t reader = __atomic_load_n(&place->reader, __ATOMIC_SEQ_CST);
  FWDThread *thread = fwd_thread();
  int is_mine = thread && (reader == 0 || reader == (uintptr_t)thread);
  if (is_mine && !is_held(thread, list)) return dispose(&list->retirable);
  fwd_retire(&list->retirable, dispose);
}

// SPDX-License-Identifier: Apache-2.0
// The hottest paths of the C core that are inlined into Swift code, as functions whose assembly
// Scripts/memory-order.sh reads.
#include "CForwardingShims.h"

const void *hot_hold(FWDThread *thread, const void *const *cell) { return fwd_hold(thread, cell); }

void hot_let_go(FWDThread *thread) { fwd_let_go(thread); }

const FWDMethod *hot_method_find(const FWDMethodCache *cache, uintptr_t type, uintptr_t selector) {
  return fwd_method_find(cache, type, selector);
}

FWDDirectTarget hot_take(const void *const *member, const void *proxy, size_t index) {
  return fwd_direct_take(member, proxy, index);
}

void *hot_publish(const void **cell, const void *thing) { return fwd_publish(cell, thing); }

int hot_is_awaited(const FWDOwnedList *list, uint64_t number) {
  return fwd_list_is_awaited(list, number);
}

FWDDirectRound hot_direct_begin(FWDListPlace *place, const void *step) { return fwd_direct_begin(place, step); }

void hot_direct_end(FWDDirectRound round) { fwd_direct_end(round); }

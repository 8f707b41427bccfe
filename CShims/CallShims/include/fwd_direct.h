// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_target_list.h"
#include "fwd_step.h"

#pragma clang assume_nonnull begin

// Deliveries by a proxy, which calls its targets through their witness tables, without messages.

/// What a delivery on one thread keeps.
typedef struct FWDDirectRound {
  /// The list; NULL if the delivery has not begun.
  const FWDTargetList *_Nullable list;
  FWDThread *_Nullable thread;
  /// The slot that holds the list; NULL if the thread has no free slot, and a count keeps the list.
  FWDHold *_Nullable hold;
} FWDDirectRound;

/// Does the work of `fwd_direct_begin` if it needs more than entering the step and holding the list.
FWDDirectRound fwd_direct_begin_carefully(FWDListPlace *place, const void *step);

/// Begins a delivery to the list that is published at `place`. Returns a round without a list if
/// there is none, or the step is refused.
///
/// `step` identifies the delivery among the forwarding steps of the thread.
__attribute__((always_inline)) static inline FWDDirectRound fwd_direct_begin(FWDListPlace *place,
                                                                             const void *step) {
  FWDThread *thread = fwd_thread_or_null;
  uintptr_t reader = __atomic_load_n(&place->reader, __ATOMIC_ACQUIRE);
  uint32_t depth;
  FWDHold *hold;
  // The step of a new message cannot be a cycle.
  if (__builtin_expect(!thread || (reader != (uintptr_t)thread && reader != FWD_MANY_READERS) ||
                           (depth = thread->depth) >= FWD_FORWARDING_SHALLOW ||
                           (hold = thread->top) >= thread->room,
                       0))
    return fwd_direct_begin_carefully(place, step);
  thread->top = hold + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const FWDTargetList *list = fwd_hold_in(thread, hold, &place->list);
  if (__builtin_expect(!list, 0)) {
    thread->top = hold;
    return (FWDDirectRound){0};
  }
  thread->steps[depth] = (FWDStep){step, 0};
  thread->depth = depth + 1;
  return (FWDDirectRound){list, thread, hold};
}

/// Keeps the list that is published at `place`, for a delivery whose step was entered. Returns a round
/// without a list if there is none.
FWDDirectRound fwd_direct_keep(FWDListPlace *place);

/// Ends a delivery, on the thread that began it, but not its step. Targets that were removed
/// meanwhile may be deallocated here: the caller must hold no lock.
__attribute__((always_inline)) static inline void fwd_direct_let_go(FWDDirectRound round) {
  if (__builtin_expect(round.hold != NULL, 1))
    fwd_let_go_from((FWDThread *)round.thread, (FWDHold *)round.hold);
  else
    fwd_list_let_go((const FWDTargetList *)round.list);
}

/// Ends a delivery and its step.
__attribute__((always_inline)) static inline void fwd_direct_end(FWDDirectRound round) {
  fwd_direct_let_go(round);
  fwd_forwarding_leave(round.thread);
}

/// Returns the number of the message that a delivery stands for, which gets one here if it has none.
/// On the thread of the delivery, between two turns.
uint64_t fwd_direct_number(FWDThread *thread);

/// Begins an awaited delivery, which may end on another thread: returns the list, retained. Returns
/// NULL if there is no list, or the thread holds too many objects.
const FWDTargetList *_Nullable fwd_awaited_begin(FWDOwnedList *owner);

/// Ends an awaited delivery. Called once, on any thread. Targets that were removed meanwhile may be
/// deallocated here: the caller must hold no lock.
void fwd_awaited_end(const FWDTargetList *list, FWDOwnedList *owner);

/// A target, and the witness table with which its requirements are called.
typedef struct FWDDirectTarget {
  /// NULL for a target that needs a message, or may not be called.
  void *_Nullable object;
  const void *_Nullable table;
  /// The reference that `fwd_direct_give_back` releases; NULL for a strong target.
  void *_Nullable retained;
} FWDDirectTarget;

/// Retains the target of a member if the proxy may call it, with the table at `index`. The caller
/// holds the list. Each success is followed by one `fwd_direct_give_back`.
static inline FWDDirectTarget fwd_direct_take(const void *_Nonnull const *_Nonnull member,
                                              const void *proxy,
                                              size_t index) {
  const FWDTarget *target = fwd_target_of(*member);
  const FWDWitnesses *witnesses = __atomic_load_n(&target->witnesses, __ATOMIC_ACQUIRE);
  if (__builtin_expect(!witnesses || witnesses->proxy != proxy, 0)) return (FWDDirectTarget){0};
  const void *table = __atomic_load_n(&witnesses->tables[index], __ATOMIC_ACQUIRE);
  if (__builtin_expect(!table, 0)) return (FWDDirectTarget){0};
  FWDRetained taken = fwd_target_retain(target);
  return (FWDDirectTarget){taken.object, table, taken.retained};
}

/// Returns the table with which a lane may call the target of a member; NULL if the target needs
/// messages, which check the actor. The caller holds the list.
static inline const void *_Nullable fwd_direct_table(const void *_Nonnull const *_Nonnull member,
                                                     const void *proxy,
                                                     size_t index) {
  const FWDWitnesses *witnesses = __atomic_load_n(&fwd_target_of(*member)->witnesses, __ATOMIC_ACQUIRE);
  if (!witnesses || witnesses->proxy != proxy || witnesses->is_isolated) return NULL;
  return __atomic_load_n(&witnesses->tables[index], __ATOMIC_ACQUIRE);
}

/// Releases a target that was taken. Called once. The target may be deallocated here, on this
/// thread: the caller must hold no lock, and must not use the object any more.
static inline void fwd_direct_give_back(FWDDirectTarget taken) {
  if (taken.retained) swift_release((void *)taken.retained);
}

/// Sets the record with which a proxy calls a target; NULL for a target that needs messages. The
/// record lives as long as the process. Thread-safe.
static inline void fwd_target_set_witnesses(FWDTarget *target, const FWDWitnesses *_Nullable witnesses) {
  __atomic_store_n(&target->witnesses, witnesses, __ATOMIC_RELEASE);
}

/// Returns the record with which a proxy calls a target; NULL for a target that needs messages. The
/// caller holds a list with the target, or retains its member. Thread-safe.
static inline const FWDWitnesses *_Nullable fwd_target_witnesses(const FWDTarget *target) {
  return __atomic_load_n(&target->witnesses, __ATOMIC_ACQUIRE);
}

/// Creates a record of `count` tables, at least one, which is never freed. `proxy` is compared,
/// never dereferenced; `is_isolated` is not 0 if the proxy is isolated to an actor. Without memory
/// the process stops.
FWDWitnesses *fwd_witnesses_make(const void *proxy, const void *_Nullable const *_Nonnull tables,
                                 size_t count, int is_isolated);

/// Returns a table of a record; NULL if it was withdrawn. The index is below the count of the
/// record. Thread-safe.
static inline const void *_Nullable fwd_witnesses_table(const FWDWitnesses *witnesses, size_t index) {
  return __atomic_load_n(&witnesses->tables[index], __ATOMIC_ACQUIRE);
}

/// Makes the requirements of one table messages from now on: deliveries that begin after this see
/// the change. Thread-safe.
static inline void fwd_witnesses_withdraw(FWDWitnesses *witnesses, size_t index) {
  __atomic_store_n((const void **)&witnesses->tables[index], NULL, __ATOMIC_RELEASE);
}

/// Records on the current thread that an object does not implement an optional requirement. The
/// object is not retained: it is compared, never dereferenced.
static inline void fwd_leave_out(const void *object, uint64_t selector) {
  FWDThread *thread = fwd_thread();
  if (!thread) return;
  thread->left_out = object;
  thread->left_out_selector = selector;
}

/// Clears the record of a thread, which is the current one or NULL. A delivery calls it before an
/// optional requirement.
static inline void fwd_forget_left_out(FWDThread *_Nullable thread) {
  if (thread) thread->left_out = NULL;
}

/// Returns whether an object was recorded as not implementing a requirement since then, and clears
/// the record. `thread` is the current one, or NULL.
static inline int fwd_is_left_out(FWDThread *_Nullable thread, const void *object, uint64_t selector) {
  if (!thread || !thread->left_out) return 0;
  int is_that = thread->left_out == object && thread->left_out_selector == selector;
  thread->left_out = NULL;
  return is_that;
}

#pragma clang assume_nonnull end

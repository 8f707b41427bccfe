// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_hold.h"
#include "fwd_target.h"

#pragma clang assume_nonnull begin

// Lists of targets, which deliveries read while the owner changes them.

/// The list that a delivery reads: the targets at one time, in order. It is immutable.
typedef struct FWDTargetList {
  FWDRetirable retirable;
  size_t count;
  /// The number of references: one of its place until the list is retired, and one for each
  /// delivery that is awaited.
  size_t keepers;
  /// The number of the newest member that it may contain.
  uint64_t newest;
  /// Retained.
  const void *_Nonnull members[];
} FWDTargetList;

_Static_assert(offsetof(FWDTargetList, retirable) == 0, "what is retired is found by its beginning");

/// Returns the place of the first member. It is valid as long as the list.
static inline const void *_Nonnull const *_Nonnull fwd_list_first(const FWDTargetList *list) {
  return list->members;
}

/// The cell where a list is published, with its reader.
typedef struct FWDListPlace {
  const void *_Nullable list;
  /// 0, the record of the only thread that has delivered from here so far, or `FWD_MANY_READERS`.
  uintptr_t reader;
} FWDListPlace;

enum {
  FWD_MANY_READERS = 1,
};

/// Records that another thread than the recorded one delivers from a place. Only for
/// `fwd_place_note_reader`, on the thread of the record `thread`.
void fwd_place_note_other_reader(FWDListPlace *place, const FWDThread *thread);

/// Records that the current thread, whose record is `thread`, delivers from a place. Called before
/// the thread reads the place. Takes no lock.
static inline void fwd_place_note_reader(FWDListPlace *place, const FWDThread *thread) {
  if (__builtin_expect(__atomic_load_n(&place->reader, __ATOMIC_ACQUIRE) != (uintptr_t)thread, 0))
    fwd_place_note_other_reader(place, thread);
}

/// The complete state of a list, behind the header of the Swift object that owns it.
typedef struct FWDOwnedList {
  FWDListPlace place;
  /// The flags below in the lowest bits; above them, the awaited deliveries: see
  /// `fwd_list_begin_awaited`. Any thread may read it.
  uint64_t state;
} FWDOwnedList;

enum {
  /// Of several results the first one counts, and ends a delivery.
  FWD_LIST_FIRST_RESULT = 1,
  /// One target is asked, also by a message without a result.
  FWD_LIST_ASKS_ONE = 2,
  /// There is only one target, and a cancelled task still calls it.
  FWD_LIST_OF_ONE = 4,
  /// The first error of a target ends a delivery.
  FWD_LIST_FIRST_ERROR = 8,
  /// The owner has something to tell, or to answer, where no target answers.
  FWD_LIST_TELLS = 16,
};

/// The lowest bit of the newest member's number in the state of a list, above the rules.
#define FWD_LIST_NEWEST ((uint64_t)32)

/// Returns the rules of a list. A delivery that begins after a change has returned sees the change;
/// a running one may not. Thread-safe.
static inline uint32_t fwd_list_rules(const FWDOwnedList *list) {
  return (uint32_t)__atomic_load_n(&list->state, __ATOMIC_ACQUIRE) & (FWD_LIST_NEWEST - 1);
}

/// Sets rules of a list if `on` is not 0, otherwise clears them. Other rules stay unchanged, even
/// if another thread changes them at the same time. Thread-safe.
static inline void fwd_list_set_rules(FWDOwnedList *list, uint32_t rules, int on) {
  if (on)
    __atomic_fetch_or(&list->state, rules, __ATOMIC_ACQ_REL);
  else
    __atomic_fetch_and(&list->state, ~(uint64_t)rules, __ATOMIC_ACQ_REL);
}

/// Returns whether a delivery ends at the first target that answers. That holds for a message with
/// a result under the first-result rule, and for any message if one target is asked too.
/// Thread-safe.
static inline int fwd_list_stops_at_first(const FWDOwnedList *list, int has_result) {
  uint32_t rules = fwd_list_rules(list);
  return (rules & FWD_LIST_FIRST_RESULT) && (has_result || (rules & FWD_LIST_ASKS_ONE));
}

/// The amount that one awaited delivery adds to the state of a list.
#define FWD_LIST_AWAITED ((uint64_t)1 << 43)
/// The highest number of a member that fits.
#define FWD_LIST_NEWEST_MAX (FWD_LIST_AWAITED / FWD_LIST_NEWEST - 1)
/// From this value on, awaited deliveries are not counted any more, and count as running forever.
#define FWD_LIST_AWAITED_FOR_GOOD (~(FWD_LIST_AWAITED - 1))

/// Records that an awaited delivery may have members up to the number `newest`. The caller reads
/// the list afterwards: a thread that withdraws the list and then calls `fwd_list_is_awaited` sees
/// the delivery, or the delivery sees the withdrawal. Thread-safe.
static inline void fwd_list_begin_awaited(FWDOwnedList *list, uint64_t newest) {
  uint64_t state = __atomic_load_n(&list->state, __ATOMIC_RELAXED), next;
  if (newest > FWD_LIST_NEWEST_MAX) newest = FWD_LIST_NEWEST_MAX;
  do {
    next = state < FWD_LIST_AWAITED_FOR_GOOD ? state + FWD_LIST_AWAITED : state;
    uint64_t known = next % FWD_LIST_AWAITED / FWD_LIST_NEWEST;
    if (known < newest) next += (newest - known) * FWD_LIST_NEWEST;
  } while (!__atomic_compare_exchange_n(&list->state, &state, next, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/// Ends an awaited delivery. Called once, on any thread. After the last one, the number of the
/// newest member is reset: a removal need not check it any more.
static inline void fwd_list_end_awaited(FWDOwnedList *list) {
  uint64_t state = __atomic_load_n(&list->state, __ATOMIC_RELAXED), next;
  do {
    if (state >= FWD_LIST_AWAITED_FOR_GOOD) return;
    next = state < 2 * FWD_LIST_AWAITED ? state % FWD_LIST_NEWEST : state - FWD_LIST_AWAITED;
  } while (!__atomic_compare_exchange_n(&list->state, &state, next, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/// Returns whether an awaited delivery may have the member with a number. The caller has withdrawn
/// the list, under the owner's lock.
static inline int fwd_list_is_awaited(const FWDOwnedList *list, uint64_t number) {
  // Orders the withdrawal of the list before the load.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint64_t state = __atomic_load_n(&list->state, __ATOMIC_SEQ_CST);
  if (number > FWD_LIST_NEWEST_MAX) number = FWD_LIST_NEWEST_MAX;
  return state >= FWD_LIST_AWAITED && number <= state % FWD_LIST_AWAITED / FWD_LIST_NEWEST;
}

/// Return the state behind the header of an object, and its place. They are valid as long as the
/// object. Thread-safe.
static inline FWDOwnedList *fwd_owned_list_of(const void *object) {
  return (FWDOwnedList *)((char *)object + FWD_OBJECT_HEADER);
}
static inline FWDListPlace *fwd_list_place(FWDOwnedList *list) { return &list->place; }

/// Creates a list, which retains its `count` members; their numbers are at most `newest`. Without
/// memory the process stops, as in Swift's own allocations. The caller publishes the list, under the
/// owner's lock, and retires it after it has withdrawn it.
FWDTargetList *fwd_list_make(const void *_Nonnull const *_Nullable members, size_t count, uint64_t newest);

/// Retains the list that is published at `place`, for a delivery that may continue on another
/// thread, or whose thread has no free hold. Returns NULL if there is no list. Each success is
/// followed by one `fwd_list_let_go`.
const FWDTargetList *_Nullable fwd_list_keep(FWDListPlace *place);

/// Releases a retained list. Called once, on any thread. Targets may be deallocated here, and run
/// any code: the caller must hold no lock.
void fwd_list_let_go(const FWDTargetList *list);

/// Frees a list once no delivery holds it, and releases the members that are in no other list. The
/// caller has withdrawn it from its place. The caller must hold no lock, because targets may be
/// deallocated.
///
/// If only this thread has ever delivered from the place, the holds of other threads are not
/// searched. Another thread that begins to deliver records itself first, with a barrier of its own,
/// and then finds no list.
void fwd_targets_retire(FWDListPlace *place, FWDTargetList *list);

#pragma clang assume_nonnull end

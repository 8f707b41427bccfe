#pragma once

#include "fwd_hold.h"
#include "fwd_target.h"

#pragma clang assume_nonnull begin

// Targets in lists, which deliveries go through while their owner changes them.

/// Members in a row. Those that a list has never change.
typedef struct FWDTargetChunk {
  /// How many lists have it, and the owner of the members.
  size_t holders;
  uint32_t count;
  uint32_t room;
  /// Where it stands among the chunks of the owner, who alone looks.
  uint32_t position;
  /// Members before this index were there when the owner looked last.
  uint32_t new_from;
  /// Retained.
  const void *_Nonnull members[];
} FWDTargetChunk;

/// Returns a member of a chunk, whose `count` is above `index`. It is good as long as the chunk; the caller has
/// the owner's lock.
static inline const void *fwd_chunk_member(const FWDTargetChunk *chunk, size_t index) {
  return chunk->members[index];
}

/// What a delivery goes through. It never changes, and shares its chunks with lists before and after it.
typedef struct FWDTargetList {
  FWDRetirable retirable;
  size_t count;
  /// How many keep it: its place until it is retired, and deliveries that are awaited.
  size_t keepers;
  /// The number of the newest member that it may have.
  uint64_t newest;
  /// None is empty.
  FWDTargetChunk *_Nonnull chunks[];
} FWDTargetList;

_Static_assert(offsetof(FWDTargetList, retirable) == 0, "what is retired is found by its beginning");

/// The members of a list as their owner changes them, under a lock of its own. All zeros at first.
typedef struct FWDMembers {
  union {
    /// Where there is no room for several.
    FWDTargetChunk *_Nullable only;
    FWDTargetChunk *_Nonnull *_Nullable several;
  } chunks;
  uint32_t count;
  uint32_t room;
} FWDMembers;

/// Returns the chunk at a position below the count. It is good until the members are changed; the caller has the
/// owner's lock.
static inline FWDTargetChunk *fwd_members_chunk(const FWDMembers *members, size_t position) {
  return members->room ? members->chunks.several[position] : (FWDTargetChunk *)members->chunks.only;
}

/// Where a list is published, and who reads it.
typedef struct FWDListPlace {
  const void *_Nullable list;
  /// 0, the record of the one thread that has ever delivered from here, or `FWD_MANY_READERS`.
  uintptr_t reader;
} FWDListPlace;

enum {
  FWD_MANY_READERS = 1,
};

/// Notes that a thread that is not the only one so far delivers from a place. Only for `fwd_place_note_reader`, on the
/// thread that `thread` is the record of.
void fwd_place_note_other_reader(FWDListPlace *place, const FWDThread *thread);

/// Notes that the current thread, which `thread` is the record of, delivers from a place, before it looks there. Takes
/// no lock.
static inline void fwd_place_note_reader(FWDListPlace *place, const FWDThread *thread) {
  if (__builtin_expect(__atomic_load_n(&place->reader, __ATOMIC_ACQUIRE) != (uintptr_t)thread, 0))
    fwd_place_note_other_reader(place, thread);
}

/// All of a list that its owner has. A Swift object has it behind its header.
typedef struct FWDOwnedList {
  FWDListPlace place;
  FWDMembers members;
  /// As many of the flags below as are so; above them which deliveries are awaited: see `fwd_list_begin_awaited`. Any
  /// thread looks.
  uint64_t state;
} FWDOwnedList;

enum {
  /// Of several results the first one counts, and ends a delivery.
  FWD_LIST_FIRST_RESULT = 1,
  /// One target is asked, also where there is no result.
  FWD_LIST_ASKS_ONE = 2,
  /// There is one target, and a task that was cancelled asks it all the same.
  FWD_LIST_OF_ONE = 4,
};

/// Returns the rules of a list, from any thread. A delivery that begins after a change has returned sees it; one that
/// is under way may not.
static inline uint32_t fwd_list_rules(const FWDOwnedList *list) {
  return (uint32_t)__atomic_load_n(&list->state, __ATOMIC_ACQUIRE) & 7;
}

/// Sets rules of a list if `on` is not 0, else clears them, from any thread. Other rules stay as they are, also where
/// another thread changes them.
static inline void fwd_list_set_rules(FWDOwnedList *list, uint32_t rules, int on) {
  if (on)
    __atomic_fetch_or(&list->state, rules, __ATOMIC_ACQ_REL);
  else
    __atomic_fetch_and(&list->state, ~(uint64_t)rules, __ATOMIC_ACQ_REL);
}

/// Says whether a delivery ends at the first target that answers: one of a message that has a result, or any where one
/// target is asked. From any thread.
static inline int fwd_list_stops_at_first(const FWDOwnedList *list, int has_result) {
  uint32_t rules = fwd_list_rules(list);
  return (rules & FWD_LIST_FIRST_RESULT) && (has_result || (rules & FWD_LIST_ASKS_ONE));
}

/// What one awaited delivery more adds to the state of a list.
#define FWD_LIST_AWAITED ((uint64_t)1 << 43)
/// The lowest bit of the number of the newest member that such a delivery may have, and the highest number.
#define FWD_LIST_NEWEST ((uint64_t)8)
#define FWD_LIST_NEWEST_MAX (FWD_LIST_AWAITED / FWD_LIST_NEWEST - 1)
/// The deliveries are too many to be counted, from here on: they stay noted for good.
#define FWD_LIST_AWAITED_FOR_GOOD (~(FWD_LIST_AWAITED - 1))

/// Notes that a delivery which is awaited may have members up to the number `newest`. Any thread may do so, and looks at
/// the list afterwards: one that withdraws the list and then asks `fwd_list_is_awaited` finds the delivery, or is found
/// by it.
static inline void fwd_list_begin_awaited(FWDOwnedList *list, uint64_t newest) {
  uint64_t state = __atomic_load_n(&list->state, __ATOMIC_RELAXED), next;
  if (newest > FWD_LIST_NEWEST_MAX) newest = FWD_LIST_NEWEST_MAX;
  do {
    next = state < FWD_LIST_AWAITED_FOR_GOOD ? state + FWD_LIST_AWAITED : state;
    uint64_t known = next % FWD_LIST_AWAITED / FWD_LIST_NEWEST;
    if (known < newest) next += (newest - known) * FWD_LIST_NEWEST;
  } while (!__atomic_compare_exchange_n(&list->state, &state, next, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/// Ends such a delivery, once, from any thread. With the last one the newest member is forgotten: a removal need not ask
/// for it any more.
static inline void fwd_list_end_awaited(FWDOwnedList *list) {
  uint64_t state = __atomic_load_n(&list->state, __ATOMIC_RELAXED), next;
  do {
    if (state >= FWD_LIST_AWAITED_FOR_GOOD) return;
    next = state < 2 * FWD_LIST_AWAITED ? state % FWD_LIST_NEWEST : state - FWD_LIST_AWAITED;
  } while (!__atomic_compare_exchange_n(&list->state, &state, next, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/// Says whether a delivery that is awaited may have the member of a number. The caller has withdrawn the list, under
/// the lock of its owner.
static inline int fwd_list_is_awaited(const FWDOwnedList *list, uint64_t number) {
  // The list was withdrawn before this looks.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint64_t state = __atomic_load_n(&list->state, __ATOMIC_SEQ_CST);
  if (number > FWD_LIST_NEWEST_MAX) number = FWD_LIST_NEWEST_MAX;
  return state >= FWD_LIST_AWAITED && number <= state % FWD_LIST_AWAITED / FWD_LIST_NEWEST;
}

/// Return what an object has behind its header, and the parts of it. They are good as long as the object: the
/// place for any thread, the members for one that has the owner's lock.
static inline FWDOwnedList *fwd_owned_list_of(const void *object) {
  return (FWDOwnedList *)((char *)object + FWD_OBJECT_HEADER);
}
static inline FWDListPlace *fwd_list_place(FWDOwnedList *list) { return &list->place; }
static inline FWDMembers *fwd_list_members(FWDOwnedList *list) { return &list->members; }

enum {
  /// How many members a chunk has at most: a change copies one chunk, and a list is made by copying the
  /// addresses of all.
  FWD_CHUNK_MAX = 128,
};

/// Puts a member at `index` of the chunk at `position`, where `index` may be the count of that chunk; where
/// `position` is the number of chunks, behind all others. The caller hands over a reference, and the member
/// is in no list of this owner. Without memory the process stops, as with Swift's own allocations.
void fwd_members_insert(FWDMembers *members, size_t position, size_t index, const void *member);

/// Takes a member out, which is there; the caller takes over a reference to it, and releases it under no
/// lock. Lists that were made before keep it. Without memory the process stops.
void fwd_members_remove(FWDMembers *members, const void *member);

/// Makes a list of the members, whose numbers are `newest` at most; NULL without memory. The caller publishes the list,
/// under the owner's lock, and retires it when it has taken it back.
FWDTargetList *_Nullable fwd_members_list(const FWDMembers *members, uint64_t newest);

/// Keeps the list that is published at `place`, for a delivery that may go on on another thread, and returns it; NULL
/// without a list, or without room in the holds of the thread. One `fwd_list_let_go` follows each success.
const FWDTargetList *_Nullable fwd_list_keep(FWDListPlace *place);

/// Lets go of a list that was kept, once, on any thread. Targets may die of that, and run any code: no lock may be
/// held.
void fwd_list_let_go(const FWDTargetList *list);

/// Lets all members go, and leaves none. Lists that were made before keep theirs. No lock may be held, as
/// targets may die.
void fwd_members_destroy(FWDMembers *members);

/// Frees a list once no delivery holds it, and lets go of the members that nothing else has. The caller
/// has taken it out of its place. No lock may be held, as targets may die.
///
/// Where only this thread has ever delivered from the place, nobody else is asked. Another one that begins to
/// notes that first, with a barrier of its own, and then finds the list gone.
void fwd_targets_retire(FWDListPlace *place, FWDTargetList *list);

#pragma clang assume_nonnull end

#pragma once

#include "fwd_members.h"
#include "fwd_step.h"

#pragma clang assume_nonnull begin

// Deliveries by a face: its targets are called through their witness tables, and no message is made.

/// A delivery to the targets of a list, one after the other.
typedef struct FWDDirectRound {
  FWDThread *_Nullable thread;
  /// Holds the list.
  FWDHold *_Nullable hold;
  const FWDTargetList *_Nullable list;
  /// The member whose turn is next, and the end of its chunk.
  const void *_Nonnull const *_Nullable next;
  const void *_Nonnull const *_Nullable stop;
  /// How many chunks have begun.
  size_t begun;
  /// The number of the message that the delivery stands for, and that targets get which take messages; 0 until one is
  /// needed.
  uint64_t message;
} FWDDirectRound;

/// Begins a delivery to the list that is published at `place`; 0 where there is none, where the step is refused, and
/// where the thread holds too much. Then nothing is held, and the caller sends a message.
///
/// `step` stands for the delivery among the forwarding steps of the thread. The round is a variable of the function
/// that ends it.
int fwd_direct_begin(FWDDirectRound *round, FWDListPlace *place, const void *step);

/// Ends a delivery that has begun, on the same thread. Targets that were removed meanwhile may die here: no lock may
/// be held.
void fwd_direct_end(FWDDirectRound *round);

/// Returns the number of the message that a delivery stands for, which gets one here if it has none. On the thread of
/// the delivery, between two turns.
uint64_t fwd_direct_number(FWDDirectRound *round);

/// Begins a delivery that is awaited, and may end on another thread; 0 where there is no list, or the thread holds too
/// much, and then nothing is kept. Its round has no thread and no hold.
int fwd_awaited_begin(FWDDirectRound *round, FWDOwnedList *owner);

/// Ends a delivery that has begun so, once, on any thread. Targets that were removed meanwhile may die here: no lock may
/// be held.
void fwd_awaited_end(FWDDirectRound *round, FWDOwnedList *owner);

/// Returns the place of the member whose turn is next, and moves on; NULL when all had their turn. The place is good
/// until the delivery ends.
static inline const void *_Nonnull const *_Nullable fwd_direct_next(FWDDirectRound *round) {
  while (round->next == round->stop) {
    if (round->begun == round->list->count) return NULL;
    const FWDTargetChunk *chunk = round->list->chunks[round->begun++];
    round->next = chunk->members;
    round->stop = chunk->members + chunk->count;
  }
  return round->next++;
}

/// A target, and the table that its requirements are called through.
typedef struct FWDDirectTarget {
  /// NULL for one that takes a message, or may not be called.
  void *_Nullable object;
  const void *_Nullable table;
  /// The reference that `fwd_direct_give_back` gives back; NULL for a strong target.
  void *_Nullable retained;
} FWDDirectTarget;

/// Takes the target of a member if the face may call it, by the table at `index`. The caller holds the list. Every
/// success is followed by one `fwd_direct_give_back`.
static inline FWDDirectTarget fwd_direct_take(const void *_Nonnull const *_Nonnull member,
                                              const void *face,
                                              size_t index) {
  const FWDTarget *target = fwd_target_of(*member);
  const FWDWitnesses *witnesses = __atomic_load_n(&target->witnesses, __ATOMIC_ACQUIRE);
  if (__builtin_expect(!witnesses || witnesses->face != face, 0)) return (FWDDirectTarget){0};
  const void *table = __atomic_load_n(&witnesses->tables[index], __ATOMIC_ACQUIRE);
  if (__builtin_expect(!table, 0)) return (FWDDirectTarget){0};
  FWDRetained taken = fwd_target_retain(target);
  return (FWDDirectTarget){taken.object, table, taken.retained};
}

/// Returns the table by which a lane may call the target of a member for the face; NULL where it sends messages, which
/// ask where they are. The caller holds the list.
static inline const void *_Nullable fwd_direct_table(const void *_Nonnull const *_Nonnull member,
                                                     const void *face,
                                                     size_t index) {
  const FWDWitnesses *witnesses = __atomic_load_n(&fwd_target_of(*member)->witnesses, __ATOMIC_ACQUIRE);
  if (!witnesses || witnesses->face != face || witnesses->is_isolated) return NULL;
  return __atomic_load_n(&witnesses->tables[index], __ATOMIC_ACQUIRE);
}

/// Gives back a target that was taken, once. It may die of that, on this thread: no lock may be held, and the caller
/// does not use the object any more.
static inline void fwd_direct_give_back(FWDDirectTarget taken) {
  if (taken.retained) swift_release((void *)taken.retained);
}

/// Notes how a face calls a target; NULL where it sends messages. Any thread may do so, and the record lives as long
/// as the process.
static inline void fwd_target_set_witnesses(FWDTarget *target, const FWDWitnesses *_Nullable witnesses) {
  __atomic_store_n(&target->witnesses, witnesses, __ATOMIC_RELEASE);
}

/// Returns the record by which a face calls a target, from any thread; NULL for a target that takes messages. The caller
/// holds a list that has the target, or knows its member.
static inline const FWDWitnesses *_Nullable fwd_target_witnesses(const FWDTarget *target) {
  return __atomic_load_n(&target->witnesses, __ATOMIC_ACQUIRE);
}

/// Makes a record of `count` tables, at least one, which is never freed. `face` is compared, never followed;
/// `is_isolated` is not 0 where the face is on an actor. Without memory the process stops.
FWDWitnesses *fwd_witnesses_make(const void *face, const void *_Nullable const *_Nonnull tables,
                                 size_t count, int is_isolated);

/// Returns a table of a record, from any thread; NULL where it was withdrawn. The index is below the count that the
/// record was made with.
static inline const void *_Nullable fwd_witnesses_table(const FWDWitnesses *witnesses, size_t index) {
  return __atomic_load_n(&witnesses->tables[index], __ATOMIC_ACQUIRE);
}

/// Lets the requirements of one table be messages from now on: deliveries that begin after this see it. Any thread may
/// do so.
static inline void fwd_witnesses_withdraw(FWDWitnesses *witnesses, size_t index) {
  __atomic_store_n((const void **)&witnesses->tables[index], NULL, __ATOMIC_RELEASE);
}

/// A bit of the numbers of messages that faces send. The proxy that such a message meets notes where nobody answers:
/// an error alone could be that of another message, which a target sent.
static const uint64_t FWD_FACE_MESSAGE_BIT = (uint64_t)1 << 63;

/// A bit of the numbers of messages that go on to all their targets also where the task that awaits them is cancelled.
static const uint64_t FWD_UNCANCELLED_MESSAGE_BIT = (uint64_t)1 << 62;

/// Returns a number that no other message has, for one that a face sends. Any thread may ask; without memory for a
/// thread all numbers are the same.
static inline uint64_t fwd_next_face_message(void) { return fwd_next_message() | FWD_FACE_MESSAGE_BIT; }

/// Notes on the current thread that an object leaves out an optional requirement. Nothing is kept alive: the object is
/// compared, never followed.
static inline void fwd_leave_out(const void *object, uint64_t selector) {
  FWDThread *thread = fwd_thread();
  if (!thread) return;
  thread->left_out = object;
  thread->left_out_selector = selector;
}

/// Forgets the note of a thread, which is the current one or NULL. A delivery calls this before an optional
/// requirement.
static inline void fwd_forget_left_out(FWDThread *_Nullable thread) {
  if (thread) thread->left_out = NULL;
}

/// Says whether an object has left out a requirement since then, and forgets it. `thread` is the
/// current one, or NULL.
static inline int fwd_is_left_out(FWDThread *_Nullable thread, const void *object, uint64_t selector) {
  if (!thread || !thread->left_out) return 0;
  int is_that = thread->left_out == object && thread->left_out_selector == selector;
  thread->left_out = NULL;
  return is_that;
}

/// Notes that messages to proxies may be answered by methods of the proxies' own classes: faces send messages from
/// then on.
void fwd_direct_stop(void);

#pragma clang assume_nonnull end

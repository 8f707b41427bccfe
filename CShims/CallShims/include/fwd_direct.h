#pragma once

#include "fwd_members.h"
#include "fwd_step.h"

#pragma clang assume_nonnull begin

// Deliveries by a face, which calls its targets through their witness tables, without messages.

/// A delivery to the targets of a list, one after the other.
typedef struct FWDDirectRound {
  FWDThread *_Nullable thread;
  /// The slot that holds the list.
  FWDHold *_Nullable hold;
  const FWDTargetList *_Nullable list;
  /// The member whose turn is next, and the end of its chunk.
  const void *_Nonnull const *_Nullable next;
  const void *_Nonnull const *_Nullable stop;
  /// The number of chunks that have begun.
  size_t begun;
  /// The number of the message that the delivery stands for, which is sent to targets that need
  /// messages; 0 until one is needed.
  uint64_t message;
} FWDDirectRound;

/// Begins a delivery to the list that is published at `place`. Returns 0, without a hold, if there
/// is no list, the step is refused, or the thread holds too many objects; the caller then sends a
/// message.
///
/// `step` identifies the delivery among the forwarding steps of the thread. The function that ends
/// the round has it as a local variable.
int fwd_direct_begin(FWDDirectRound *round, FWDListPlace *place, const void *step);

/// Ends a delivery, on the thread that began it. Targets that were removed meanwhile may be
/// deallocated here: the caller must hold no lock.
void fwd_direct_end(FWDDirectRound *round);

/// Returns the number of the message that a delivery stands for, which gets one here with some of the bits below if it
/// has none. On the thread of the delivery, between two turns.
uint64_t fwd_direct_number(FWDDirectRound *round, uint64_t bits);

/// Begins an awaited delivery, which may end on another thread. Returns 0, without having retained
/// the list, if there is no list or the thread holds too many objects. The round has no thread and
/// no hold.
int fwd_awaited_begin(FWDDirectRound *round, FWDOwnedList *owner);

/// Ends an awaited delivery. Called once, on any thread. Targets that were removed meanwhile may be
/// deallocated here: the caller must hold no lock.
void fwd_awaited_end(FWDDirectRound *round, FWDOwnedList *owner);

/// Returns the address of the member whose turn is next, and advances; NULL after the last one. The
/// address is valid until the delivery ends.
static inline const void *_Nonnull const *_Nullable fwd_direct_next(FWDDirectRound *round) {
  while (round->next == round->stop) {
    if (round->begun == round->list->count) return NULL;
    const FWDTargetChunk *chunk = round->list->chunks[round->begun++];
    round->next = chunk->members;
    round->stop = chunk->members + chunk->count;
  }
  return round->next++;
}

/// Leaves out the targets that have not had their turn: `fwd_direct_next` returns NULL from then on.
/// On the thread of the delivery, between two turns.
static inline void fwd_direct_skip_rest(FWDDirectRound *round) {
  round->next = round->stop;
  round->begun = round->list->count;
}

/// A target, and the witness table with which its requirements are called.
typedef struct FWDDirectTarget {
  /// NULL for a target that needs a message, or may not be called.
  void *_Nullable object;
  const void *_Nullable table;
  /// The reference that `fwd_direct_give_back` releases; NULL for a strong target.
  void *_Nullable retained;
} FWDDirectTarget;

/// Retains the target of a member if the face may call it, with the table at `index`. The caller
/// holds the list. Each success is followed by one `fwd_direct_give_back`.
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

/// Returns the table with which a lane may call the target of a member; NULL if the target needs
/// messages, which check the actor. The caller holds the list.
static inline const void *_Nullable fwd_direct_table(const void *_Nonnull const *_Nonnull member,
                                                     const void *face,
                                                     size_t index) {
  const FWDWitnesses *witnesses = __atomic_load_n(&fwd_target_of(*member)->witnesses, __ATOMIC_ACQUIRE);
  if (!witnesses || witnesses->face != face || witnesses->is_isolated) return NULL;
  return __atomic_load_n(&witnesses->tables[index], __ATOMIC_ACQUIRE);
}

/// Releases a target that was taken. Called once. The target may be deallocated here, on this
/// thread: the caller must hold no lock, and must not use the object any more.
static inline void fwd_direct_give_back(FWDDirectTarget taken) {
  if (taken.retained) swift_release((void *)taken.retained);
}

/// Sets the record with which a face calls a target; NULL for a target that needs messages. The
/// record lives as long as the process. Thread-safe.
static inline void fwd_target_set_witnesses(FWDTarget *target, const FWDWitnesses *_Nullable witnesses) {
  __atomic_store_n(&target->witnesses, witnesses, __ATOMIC_RELEASE);
}

/// Returns the record with which a face calls a target; NULL for a target that needs messages. The
/// caller holds a list with the target, or retains its member. Thread-safe.
static inline const FWDWitnesses *_Nullable fwd_target_witnesses(const FWDTarget *target) {
  return __atomic_load_n(&target->witnesses, __ATOMIC_ACQUIRE);
}

/// Creates a record of `count` tables, at least one, which is never freed. `face` is compared,
/// never dereferenced; `is_isolated` is not 0 if the face is isolated to an actor. Without memory
/// the process stops.
FWDWitnesses *fwd_witnesses_make(const void *face, const void *_Nullable const *_Nonnull tables,
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

/// A bit in the numbers of messages that faces send. The proxy that gets such a message records if
/// no target answers: the error alone could be that of another message, which a target sent.
static const uint64_t FWD_FACE_MESSAGE_BIT = (uint64_t)1 << 63;

/// A bit in the numbers of messages that call all their targets even if the awaiting task is
/// cancelled.
static const uint64_t FWD_UNCANCELLED_MESSAGE_BIT = (uint64_t)1 << 62;

/// A bit of the numbers of messages whose face answers where no target does.
static const uint64_t FWD_OTHERWISE_MESSAGE_BIT = FWD_MESSAGE_BITS;

/// Returns a number that no other message has, for one that a face sends. Any thread may ask; without memory for a
/// thread all numbers are the same.
static inline uint64_t fwd_next_face_message(void) { return fwd_next_message() | FWD_FACE_MESSAGE_BIT; }

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

/// Records that the classes of proxies may have methods of their own for messages to proxies: from
/// then on faces send messages.
void fwd_direct_stop(void);

#pragma clang assume_nonnull end

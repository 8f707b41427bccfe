#pragma once

#include "fwd_hold.h"
#include "fwd_reference.h"

#pragma clang assume_nonnull begin

// Targets as the members of lists, which deliveries go through while their owner changes them.

/// How the objects of one class answer the protocols of one face: their witness tables.
typedef struct FWDWitnesses {
  /// The class of the face.
  const void *face;
  /// Whether the requirements are for an actor, on which the face is: no lane may call them.
  int is_isolated;
  /// The table of the face's own protocol, and behind it those of the protocols that it inherits. NULL where a
  /// method that the face made was replaced: the requirements are messages again.
  const void *_Nullable tables[];
} FWDWitnesses;

/// A target. The member of a list, a Swift object, has it behind its header.
typedef struct FWDTarget {
  /// Kept alive, or only its memory is, by the member.
  void *object;
  /// The flags below, which change while deliveries have the member in their lists. An ordinary target has
  /// `FWD_TARGET_STRONG` at most; the owner of the list delivers to any other.
  uint32_t flags;
  /// What the owner notes about it; deliveries do not look.
  uint32_t marks;
  /// Where the owner has the member; only the owner looks.
  struct FWDTargetChunk *_Nullable chunk;
  /// How a face calls the object, if it was added through one. Lives as long as the process; set by atomic stores.
  const FWDWitnesses *_Nullable witnesses;
} FWDTarget;

enum {
  FWD_TARGET_REMOVED = 1,
  /// Its messages go elsewhere, or it takes only one.
  FWD_TARGET_SPECIAL = 2,
  /// It is kept alive. Set after it was retained, and never taken back.
  FWD_TARGET_STRONG = 4,
  /// A target that is special for one of these and nothing else gets its messages on a queue: later, or
  /// while the sender waits, however long.
  FWD_TARGET_QUEUED = 8,
  FWD_TARGET_AWAITED = 16,
  /// How often it is blocked is counted from here on.
  FWD_TARGET_BLOCK = 32,
};

/// The count can go no further, from here on.
#define FWD_TARGET_BLOCKED_FOR_GOOD (UINT32_MAX - (FWD_TARGET_BLOCK - 1))

enum {
  /// How long the header of a Swift object is: its class, and its counts.
  FWD_OBJECT_HEADER = 16,
};

/// Returns the target of a member, which has it behind its header. It is good as long as the member, on any
/// thread.
static inline FWDTarget *fwd_target_of(const void *member) {
  return (FWDTarget *)((char *)member + FWD_OBJECT_HEADER);
}

/// Returns the class of a target as a word, from any thread. That of a dead one as well: its memory stays as
/// long as the member.
static inline uintptr_t fwd_target_type(const FWDTarget *target) {
  return *(const uintptr_t *)target->object;
}

/// Returns the flags of a target, from any thread. The caller holds a list that has it, or knows its
/// member. A removal that was finished before is seen.
static inline uint32_t fwd_target_flags(const FWDTarget *target) {
  return __atomic_load_n(&target->flags, __ATOMIC_ACQUIRE);
}

/// Sets a flag for all deliveries that have the target in their lists, and returns the flags as they
/// were. One that has just taken the target may still call it. Any thread may do so.
static inline uint32_t fwd_target_set_flag(FWDTarget *target, uint32_t flag) {
  return __atomic_fetch_or(&target->flags, flag, __ATOMIC_ACQ_REL);
}

/// Takes a flag back, for all deliveries that have the target in their lists. `FWD_TARGET_STRONG` stays:
/// a delivery that took a strong target did not retain it. Any thread may do so.
static inline void fwd_target_clear_flag(FWDTarget *target, uint32_t flag) {
  __atomic_fetch_and(&target->flags, ~flag, __ATOMIC_RELEASE);
}

/// Blocks a target once more, for all deliveries; each block is taken back by one
/// `fwd_target_unblock`. Any thread may do so. A target that has as many blocks as can be counted, 2^27 - 1, stays
/// blocked for good.
static inline void fwd_target_block(FWDTarget *target) {
  uint32_t flags = fwd_target_flags(target);
  while (flags < FWD_TARGET_BLOCKED_FOR_GOOD)
    if (__atomic_compare_exchange_n(&target->flags, &flags, flags + FWD_TARGET_BLOCK, 1,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return;
}

/// Takes one block back; 0 if there was none, and then nothing changes. Any thread may do so, not only
/// the one that blocked.
static inline int fwd_target_unblock(FWDTarget *target) {
  uint32_t flags = fwd_target_flags(target);
  if (flags >= FWD_TARGET_BLOCKED_FOR_GOOD) return 1;
  while (flags >= FWD_TARGET_BLOCK)
    if (__atomic_compare_exchange_n(&target->flags, &flags, flags - FWD_TARGET_BLOCK, 1,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return 1;
  return 0;
}

/// A target that may be called.
typedef struct FWDRetained {
  /// NULL for a target that may not.
  void *_Nullable object;
  /// The reference that `fwd_target_release` gives back; NULL for a strong target.
  void *_Nullable retained;
} FWDRetained;

/// Takes an ordinary target, if it has not died; its `object` is NULL if it has, or is no ordinary one.
/// The caller holds the list, which keeps a strong target alive and the memory of a weak one. Every
/// success is followed by one `fwd_target_release`.
static inline FWDRetained fwd_target_retain(const FWDTarget *target) {
  void *object = target->object;
  uint32_t flags = fwd_target_flags(target);
  if (flags == FWD_TARGET_STRONG) return (FWDRetained){object, NULL};
  if (flags != 0) return (FWDRetained){NULL, NULL};
  object = swift_tryRetain(object);
  return (FWDRetained){object, object};
}

/// Gives back a target as it was taken: a weak one may have become strong since. Else it may die of it,
/// on this thread: no lock may be held, and the frame may not name the target any more.
static inline void fwd_target_release(FWDRetained taken) {
  if (taken.retained) swift_release((void *)taken.retained);
}

/// Sets marks of a target, and returns those that it had: of several threads that set one, one finds it
/// missing. Any thread may do so.
static inline uint32_t fwd_target_mark(FWDTarget *target, uint32_t marks) {
  return __atomic_fetch_or(&target->marks, marks, __ATOMIC_ACQ_REL);
}

/// The lowest bit of the count in the marks of a target.
#define FWD_TARGET_COUNT 256u
/// The count can go no further, from here on.
#define FWD_TARGET_COUNTED_FOR_GOOD (UINT32_MAX - (FWD_TARGET_COUNT - 1))

/// Counts one more or one less (`change` is 1 or -1) in the upper bits of the marks of a target, and returns what
/// they are then. Any thread may do so. A count that is as high as it can be stays so.
static inline uint32_t fwd_target_count_mark(FWDTarget *target, int change) {
  uint32_t marks = __atomic_load_n(&target->marks, __ATOMIC_ACQUIRE), next;
  do {
    if (marks >= FWD_TARGET_COUNTED_FOR_GOOD) return marks;
    next = change > 0 ? marks + FWD_TARGET_COUNT : marks - FWD_TARGET_COUNT;
  } while (!__atomic_compare_exchange_n(&target->marks, &marks, next, 1, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
  return next;
}

/// Returns the marks of a target, from any thread. They are as old as that, unless the caller has the lock
/// under which they change.
static inline uint32_t fwd_target_marks(const FWDTarget *target) {
  return __atomic_load_n(&target->marks, __ATOMIC_ACQUIRE);
}

#pragma clang assume_nonnull end

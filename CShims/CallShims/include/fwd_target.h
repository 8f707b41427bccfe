// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_hold.h"
#include "fwd_swift.h"

#pragma clang assume_nonnull begin

// Targets: the members of lists that deliveries read while the owner changes them.

/// The witness tables with which a proxy calls the objects of one class.
typedef struct FWDWitnesses {
  /// The class of the proxy.
  const void *proxy;
  /// Whether the requirements are isolated to the actor of the proxy. Then no lane may call them.
  int is_isolated;
  /// The table of the proxy's own protocol, followed by those of the protocols that it inherits. A
  /// table is NULL after a method that the proxy made was replaced: its requirements are then sent
  /// as messages.
  const void *_Nullable tables[];
} FWDWitnesses;

/// A target. It lies behind the header of the Swift object that is the member of a list.
typedef struct FWDTarget {
  /// The object. The member retains it strongly, or in the unowned count, which preserves its
  /// memory.
  void *object;
  /// The flags below, which may change while deliveries hold lists with the member. An ordinary
  /// target has no flag except `FWD_TARGET_STRONG`; the owner of the list delivers to any other
  /// target.
  uint32_t flags;
  /// Marks of the owner, which deliveries do not read.
  uint32_t marks;
  /// How a proxy calls the object; NULL if the object was not added through a proxy. The record lives
  /// as long as the process. Set by atomic stores.
  const FWDWitnesses *_Nullable witnesses;
} FWDTarget;

enum {
  FWD_TARGET_REMOVED = 1,
  /// Its messages go to another thread, or it takes only one.
  FWD_TARGET_SPECIAL = 2,
  /// The object is retained strongly. Set after it was retained, and never cleared.
  FWD_TARGET_STRONG = 4,
  /// Together with `FWD_TARGET_SPECIAL`: the only special property of the target is that it gets
  /// its messages on a queue, either later, or while the sender waits without a deadline.
  FWD_TARGET_QUEUED = 8,
  FWD_TARGET_AWAITED = 16,
  /// The lowest bit of the number of blocks.
  FWD_TARGET_BLOCK = 32,
};

/// From this value on, the number of blocks is not changed any more.
#define FWD_TARGET_BLOCKED_FOR_GOOD (UINT32_MAX - (FWD_TARGET_BLOCK - 1))

/// Returns the target behind the header of a member. It is valid as long as the member.
/// Thread-safe.
static inline FWDTarget *fwd_target_of(const void *member) {
  return (FWDTarget *)((char *)member + FWD_OBJECT_HEADER);
}

/// Returns the class of a target as a word, also that of a dead object: its memory exists as long
/// as the member. Thread-safe.
static inline uintptr_t fwd_target_type(const FWDTarget *target) {
  return *(const uintptr_t *)target->object;
}

/// Returns the flags of a target. The caller holds a list that contains it, or retains its member.
/// A removal that has finished before is visible. Thread-safe.
static inline uint32_t fwd_target_flags(const FWDTarget *target) {
  return __atomic_load_n(&target->flags, __ATOMIC_ACQUIRE);
}

/// Sets a flag for all deliveries that hold lists with the target, and returns the previous flags.
/// A delivery that has just taken the target may still call it. Thread-safe.
static inline uint32_t fwd_target_set_flag(FWDTarget *target, uint32_t flag) {
  return __atomic_fetch_or(&target->flags, flag, __ATOMIC_ACQ_REL);
}

/// Clears a flag for all deliveries that hold lists with the target. `FWD_TARGET_STRONG` must not
/// be cleared: a delivery that took a strong target did not retain it. Thread-safe.
static inline void fwd_target_clear_flag(FWDTarget *target, uint32_t flag) {
  __atomic_fetch_and(&target->flags, ~flag, __ATOMIC_RELEASE);
}

/// Adds one block to a target, for all deliveries; one `fwd_target_unblock` removes it. At the
/// maximum of 2^27 - 1 blocks, the target stays blocked forever. Thread-safe.
static inline void fwd_target_block(FWDTarget *target) {
  uint32_t flags = fwd_target_flags(target);
  while (flags < FWD_TARGET_BLOCKED_FOR_GOOD)
    if (__atomic_compare_exchange_n(&target->flags, &flags, flags + FWD_TARGET_BLOCK, 1,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return;
}

/// Removes one block; returns 0, without a change, if there is no block. Thread-safe: another
/// thread than the blocking one may call it.
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
  /// NULL if the target may not be called.
  void *_Nullable object;
  /// The reference that `fwd_target_release` releases; NULL for a strong target.
  void *_Nullable retained;
} FWDRetained;

/// Retains an ordinary target that has not died. `object` is NULL if it has died, or is not an
/// ordinary target. The caller holds the list, which retains strong targets and the memory of weak
/// ones. Each success is followed by one `fwd_target_release`.
static inline FWDRetained fwd_target_retain(const FWDTarget *target) {
  void *object = target->object;
  uint32_t flags = fwd_target_flags(target);
  if (flags == FWD_TARGET_STRONG) return (FWDRetained){object, NULL};
  if (flags != 0) return (FWDRetained){NULL, NULL};
  object = swift_tryRetain(object);
  return (FWDRetained){object, object};
}

/// Releases a target. `taken` records how it was retained, because a weak target may have become
/// strong since. A weak target may be deallocated here, on this thread: the caller must hold no
/// lock, and must not use the target any more.
static inline void fwd_target_release(FWDRetained taken) {
  if (taken.retained) swift_release((void *)taken.retained);
}

/// Sets marks of a target, and returns the previous marks. If several threads set the same mark,
/// exactly one of them finds it unset. Thread-safe.
static inline uint32_t fwd_target_mark(FWDTarget *target, uint32_t marks) {
  return __atomic_fetch_or(&target->marks, marks, __ATOMIC_ACQ_REL);
}

/// Clears marks of a target. A thread that sees a mark cleared sees the earlier work of this thread.
/// Thread-safe.
static inline void fwd_target_unmark(FWDTarget *target, uint32_t marks) {
  __atomic_fetch_and(&target->marks, ~marks, __ATOMIC_ACQ_REL);
}

/// Returns the marks of a target. They may be outdated on return, unless the caller holds the lock
/// under which they change. Thread-safe.
static inline uint32_t fwd_target_marks(const FWDTarget *target) {
  return __atomic_load_n(&target->marks, __ATOMIC_ACQUIRE);
}

#pragma clang assume_nonnull end

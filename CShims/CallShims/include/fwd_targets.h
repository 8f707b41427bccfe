#pragma once

#include "fwd_methods.h"
#include "fwd_reference.h"

#pragma clang assume_nonnull begin

// Lists of targets that are delivered to by many threads, and changed meanwhile.

/// What may change about a target while deliveries have it in their lists.
typedef struct FWDTargetState {
  /// 0 for an ordinary target; else somebody has to look closer.
  uint32_t flags;
  uint32_t is_strong;
} FWDTargetState;

enum {
  FWD_TARGET_REMOVED = 1,
  /// Its messages go elsewhere, or it takes only one.
  FWD_TARGET_SPECIAL = 2,
  /// How often it is blocked is counted from here on.
  FWD_TARGET_BLOCK = 4,
};

typedef struct FWDTarget {
  /// Kept alive, or only its memory is, by the member.
  void *object;
  /// Its class, as a word.
  uintptr_t type;
  const FWDTargetState *state;
  /// The Swift object that registered it, retained by the list.
  void *member;
} FWDTarget;

typedef struct FWDTargetList {
  size_t count;
  FWDTarget targets[];
} FWDTargetList;

/// Room for a list, to be filled; its members are released with it. NULL without memory.
FWDTargetList *_Nullable fwd_targets_create(size_t count);

/// Releases the members of a list, and frees it.
void fwd_targets_dispose(void *list);

static inline const FWDTarget *fwd_target_at(const FWDTargetList *list, size_t index) {
  return &list->targets[index];
}

static inline void fwd_target_set(FWDTargetList *list, size_t index, FWDTarget target) {
  list->targets[index] = target;
}

static inline uint32_t fwd_target_flags(const FWDTargetState *state) {
  return __atomic_load_n(&state->flags, __ATOMIC_ACQUIRE);
}

static inline void fwd_target_mark_removed(FWDTargetState *state) {
  __atomic_fetch_or(&state->flags, FWD_TARGET_REMOVED, __ATOMIC_RELEASE);
}

static inline void fwd_target_block(FWDTargetState *state) {
  __atomic_fetch_add(&state->flags, FWD_TARGET_BLOCK, __ATOMIC_ACQ_REL);
}

/// Takes one block back; 0 if there was none.
static inline int fwd_target_unblock(FWDTargetState *state) {
  uint32_t flags = fwd_target_flags(state);
  while (flags >= FWD_TARGET_BLOCK)
    if (__atomic_compare_exchange_n(&state->flags, &flags, flags - FWD_TARGET_BLOCK, 1,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return 1;
  return 0;
}

/// The object of an ordinary target of class `type`, to be given back; NULL for any other, and for
/// one that has died.
static inline void *_Nullable fwd_target_take(const FWDTarget *target, uintptr_t type) {
  if (target->type != type) return NULL;
  if (__atomic_load_n(&target->state->flags, __ATOMIC_ACQUIRE) != 0) return NULL;
  return target->state->is_strong ? target->object : swift_tryRetain(target->object);
}

static inline void fwd_target_give_back(const FWDTarget *target, void *object) {
  if (!target->state->is_strong) swift_release(object);
}

/// Calls `method`, which must be a C function with a plain result and of the frame's plan, on the
/// targets from `first` on, as long as they are ordinary, of the method's class, and no class has
/// changed. `receiver` is the offset of argument 0. Gives the index of the first target that was
/// not called.
size_t fwd_targets_call(const FWDTargetList *list, size_t first, size_t end,
                        const FWDMethod *method, const FWDMethodCache *cache, uint8_t shape,
                        uint32_t receiver, FWDFrame *frame);

#pragma clang assume_nonnull end

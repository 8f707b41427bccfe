#pragma once

#include "fwd_methods.h"
#include "fwd_reference.h"
#include "fwd_step.h"

#pragma clang assume_nonnull begin

// Lists of targets that are delivered to by many threads, and changed meanwhile.

/// What may change about a target while deliveries have it in their lists.
typedef struct FWDTargetState {
  /// For an ordinary target, at most that it is strong; else somebody has to look closer.
  uint32_t flags;
} FWDTargetState;

enum {
  FWD_TARGET_REMOVED = 1,
  /// Its messages go elsewhere, or it takes only one.
  FWD_TARGET_SPECIAL = 2,
  /// It is kept alive. Set after it was retained, and never taken back.
  FWD_TARGET_STRONG = 4,
  /// What is special about it is one of these and nothing else: it gets its messages on a queue, later or
  /// while the sender waits, however long.
  FWD_TARGET_QUEUED = 8,
  FWD_TARGET_AWAITED = 16,
  /// How often it is blocked is counted from here on.
  FWD_TARGET_BLOCK = 32,
};

typedef struct FWDTarget {
  /// Kept alive, or only its memory is, by the member.
  void *object;
  /// Its class, as a word.
  uintptr_t type;
  const FWDTargetState *state;
  /// The Swift object that registered it, retained by the list.
  void *member;
  /// How many targets of one class stand in a row from here on.
  size_t run;
} FWDTarget;

typedef struct FWDTargetList {
  FWDRetirable retirable;
  size_t count;
  FWDTarget targets[];
} FWDTargetList;

_Static_assert(offsetof(FWDTargetList, retirable) == 0, "what is retired is found by its beginning");

/// Makes room for a list of `count` targets; NULL without memory. The caller owns it, fills it with
/// `fwd_target_set` from the last target to the first, and then publishes it. The list takes over one
/// reference to each member, and releases it at its end.
FWDTargetList *_Nullable fwd_targets_create(size_t count);

/// Releases the members of a list and frees it once no delivery holds it. The caller has taken it out
/// of its cell. No lock may be held, as targets may die.
void fwd_targets_retire(FWDTargetList *list);

/// Returns a target of a list, which the caller holds; `index` is below the list's count. It is good
/// until the list is let go.
static inline const FWDTarget *fwd_target_at(const FWDTargetList *list, size_t index) {
  return &list->targets[index];
}

/// Writes a target into a list that nobody else knows yet, and counts its run: the targets behind it
/// are there already. The list takes over `target.member`.
static inline void fwd_target_set(FWDTargetList *list, size_t index, FWDTarget target) {
  const FWDTarget *next = &list->targets[index + 1];
  target.run = index + 1 < list->count && next->type == target.type ? next->run + 1 : 1;
  list->targets[index] = target;
}

/// Returns the flags of a target, from any thread. The caller holds a list that has it, or knows its
/// member. A removal that was finished before is seen.
static inline uint32_t fwd_target_flags(const FWDTargetState *state) {
  return __atomic_load_n(&state->flags, __ATOMIC_ACQUIRE);
}

/// Sets a flag for all deliveries that have the target in their lists, and returns the flags as they
/// were. One that has just taken the target may still call it. Any thread may do so.
static inline uint32_t fwd_target_set_flag(FWDTargetState *state, uint32_t flag) {
  return __atomic_fetch_or(&state->flags, flag, __ATOMIC_ACQ_REL);
}

/// Takes a flag back, for all deliveries that have the target in their lists. `FWD_TARGET_STRONG` stays:
/// a delivery that took a strong target did not retain it. Any thread may do so.
static inline void fwd_target_clear_flag(FWDTargetState *state, uint32_t flag) {
  __atomic_fetch_and(&state->flags, ~flag, __ATOMIC_RELEASE);
}

/// Blocks a target once more, for all deliveries; each block is taken back by one
/// `fwd_target_unblock`. Any thread may do so.
static inline void fwd_target_block(FWDTargetState *state) {
  __atomic_fetch_add(&state->flags, FWD_TARGET_BLOCK, __ATOMIC_ACQ_REL);
}

/// Takes one block back; 0 if there was none, and then nothing changes. Any thread may do so, not only
/// the one that blocked.
static inline int fwd_target_unblock(FWDTargetState *state) {
  uint32_t flags = fwd_target_flags(state);
  while (flags >= FWD_TARGET_BLOCK)
    if (__atomic_compare_exchange_n(&state->flags, &flags, flags - FWD_TARGET_BLOCK, 1,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return 1;
  return 0;
}

/// A target that may be called.
typedef struct FWDRetained {
  /// NULL for a target that may not.
  void *_Nullable object;
  /// What is to be given back.
  void *_Nullable retained;
} FWDRetained;

/// Takes an ordinary target, if it has not died; its `object` is NULL if it has, or is no ordinary one.
/// The caller holds the list, which keeps a strong target alive and the memory of a weak one. Every
/// success is followed by one `fwd_target_release`.
static inline FWDRetained fwd_target_retain(const FWDTarget *target) {
  void *object = target->object;
  uint32_t flags = fwd_target_flags(target->state);
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

/// One message on its way through one list, where more is to be done than to call.
typedef struct FWDRound {
  /// Holds the list and the table in two slots, from `hold` on. NULL, all four, at first.
  FWDThread *_Nullable thread;
  FWDHold *_Nullable hold;
  const FWDTargetList *_Nullable list;
  const FWDMethodCache *_Nullable cache;
  /// As it was when the round began; a target may change the frame's.
  uint64_t selector;
  /// The target whose turn it is, and its method if that fits the message.
  size_t next;
  const FWDMethod *_Nullable method;
  /// How many targets answered.
  size_t answered;
  uint32_t stops_at_first;
} FWDRound;

/// Returns how many targets, from the one whose turn it is, may be called with the same method: those
/// of its class in a row, or one where the first answer ends the round. A turn is left.
static inline size_t fwd_round_run(const FWDRound *round) {
  return round->stops_at_first ? 1 : round->list->targets[round->next].run;
}

/// What became of a message.
typedef enum __attribute__((enum_extensibility(closed))) FWDDelivery : uint8_t {
  /// Every target had its turn, and everything is let go.
  FWDDeliveryDone = 0,
  /// A target needs a closer look; the round goes on after its turn.
  FWDDeliveryStopped,
  /// Something else comes first.
  FWDDeliveryNotBegun,
} FWDDelivery;

/// In two registers.
typedef struct FWDDelivered {
  FWDDelivery what;
  /// If done: how many targets answered.
  size_t answered;
} FWDDelivered;

_Static_assert(sizeof(FWDDelivered) <= 16, "it comes back in two registers");

/// Sends the message in the frame behind `state` to the list that is published at `cell`.
///
/// `step` stands for the delivery among the forwarding steps of the thread. Does not begin where
/// the selector is not known to be one, an older result is owned, the message has crossed to another
/// thread, its step is refused, the thread holds too much, or there is no list. `round` says whether
/// to stop at the first answer; all of it is written if the delivery stops.
///
/// The caller has lent the target. If the delivery stops, the round holds the list and the table, and
/// its step is entered: the caller goes on with `fwd_round_go_on` until that returns 0, in the function
/// that `round` is a variable of. Only light methods are called here, so nobody asks for stack.
FWDDelivered fwd_targets_deliver(const void *_Nullable const *_Nonnull cell, const void *step,
                                 const FWDPlanFacts *facts, FWDInvocationState *state,
                                 FWDRound *round);

/// Begins a round whose step was entered; 0 if there is no list, or the thread holds too much. Then
/// nothing is held, and the caller leaves the step. `round` says whether to stop at the first answer,
/// and is a variable of the function that goes on with it.
int fwd_round_begin(FWDRound *round, const void *_Nullable const *_Nonnull cell,
                    uint64_t selector);

/// Calls the targets whose turn it is while all that takes is a call of a C function whose result
/// needs no care. 0 when nobody is left: then everything is let go, and the step is left.
///
/// Otherwise the turn is the caller's, which moves `next` on and counts what was answered.
int fwd_round_go_on(FWDRound *round, const FWDPlanFacts *facts, FWDInvocationState *state);

#pragma clang assume_nonnull end

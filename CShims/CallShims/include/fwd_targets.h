// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fwd_members.h"
#include "fwd_methods.h"
#include "fwd_step.h"

#pragma clang assume_nonnull begin

// Deliveries to lists of targets, on many threads.

/// The delivery of one message to a list, when some targets need more than a call.
typedef struct FWDRound {
  /// The thread that holds the list and the table, in two slots from `hold` on. All four members
  /// are initially NULL.
  FWDThread *_Nullable thread;
  FWDHold *_Nullable hold;
  const FWDTargetList *_Nullable list;
  const FWDMethodCache *_Nullable cache;
  /// The selector when the round began; a target may change that of the frame.
  uint64_t selector;
  /// The member whose turn it is, and the end of its chunk. Where a turn is left they differ.
  const void *_Nonnull const *_Nullable next;
  const void *_Nonnull const *_Nullable stop;
  /// The number of chunks that have begun.
  size_t begun;
  /// The method of the target whose turn it is, if it fits the message.
  const FWDMethod *_Nullable method;
  /// The number of targets that answered.
  size_t answered;
  uint32_t stops_at_first;
} FWDRound;

/// Returns the end of the members that may be called with one method if they are of one class: the
/// rest of the chunk, or one member if the first answer ends the round. At least one turn must be
/// left.
static inline const void *_Nonnull const *_Nullable fwd_round_stop(const FWDRound *round) {
  return round->stops_at_first ? round->next + 1 : round->stop;
}

/// Leaves out the targets that have not had their turn. The caller has handled the turn of the last one, and calls
/// `fwd_round_go_on`, which ends the round.
static inline void fwd_round_skip_rest(FWDRound *round) {
  round->next = round->stop;
  round->begun = round->list->count;
}

/// The state of a delivery.
typedef enum __attribute__((enum_extensibility(closed))) FWDDelivery : uint8_t {
  /// Every target had its turn, and all holds are released.
  FWDDeliveryDone = 0,
  /// A target needs more than a call; the round continues after its turn.
  FWDDeliveryStopped,
  /// The delivery cannot begin here.
  FWDDeliveryNotBegun,
  /// Targets were called, and the round may have more.
  FWDDeliveryWentOn,
} FWDDelivery;

/// Returned in two registers.
typedef struct FWDDelivered {
  FWDDelivery what;
  /// The number of targets that answered, if the delivery is done.
  size_t answered;
} FWDDelivered;

_Static_assert(sizeof(FWDDelivered) <= 16, "it comes back in two registers");

/// Sends the message in the frame behind `state` to the list that is published at `place`.
///
/// `step` identifies the delivery among the forwarding steps of the thread. The delivery does not
/// begin if the selector is not known to be one, an older result is owned, the message has crossed
/// to another thread, its step is refused, the thread holds too many objects, or there is no list.
/// `round` says whether to stop at the first answer; all of it is written if the delivery stops.
///
/// The caller has set the target as borrowed. If the delivery stops, the round holds the list and
/// the table, and its step is entered: the caller calls `fwd_round_go_on` until that returns 0, in
/// the function that has `round` as a local variable. Only light methods are called here, so the
/// stack is not checked.
FWDDelivered fwd_targets_deliver(FWDListPlace *place, const void *step, const FWDPlanFacts *facts, FWDInvocationState *state,
                                 FWDRound *round);

/// Begins a round whose step was entered. Returns 0, without a hold, if there is no list or the
/// thread holds too many objects; the caller then leaves the step. `round` says whether to stop at
/// the first answer, and is a local variable of the function that continues it.
int fwd_round_begin(FWDRound *round, FWDListPlace *place, uint64_t selector);

/// Calls targets in turn while that only needs the call of a C function whose result needs no
/// further work. Returns 0 after the last target: then all holds are released, and the step is
/// left.
///
/// If it returns 1, the caller handles the turn, advances `next`, and counts the answer.
int fwd_round_go_on(FWDRound *round, const FWDPlanFacts *facts, FWDInvocationState *state);

/// Does the work of `fwd_round_go_on` for one run of targets. If it returns `FWDDeliveryWentOn`,
/// the targets from `out_first` to `next` answered. If it returns `FWDDeliveryStopped`, both are
/// the turn that the caller handles.
FWDDelivery fwd_round_take_run(FWDRound *round, const FWDPlanFacts *facts,
                               FWDInvocationState *state,
                               const void *_Nonnull const *_Nullable *_Nonnull out_first);

#pragma clang assume_nonnull end

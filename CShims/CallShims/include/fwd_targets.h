#pragma once

#include "fwd_members.h"
#include "fwd_methods.h"
#include "fwd_step.h"

#pragma clang assume_nonnull begin

// Deliveries to lists of targets, by many threads.

/// One message on its way through one list, where more is to be done than to call.
typedef struct FWDRound {
  /// Holds the list and the table in two slots, from `hold` on. NULL, all four, at first.
  FWDThread *_Nullable thread;
  FWDHold *_Nullable hold;
  const FWDTargetList *_Nullable list;
  const FWDMethodCache *_Nullable cache;
  /// As it was when the round began; a target may change the frame's.
  uint64_t selector;
  /// The member whose turn it is, and the end of its chunk. Where a turn is left they differ.
  const void *_Nonnull const *_Nullable next;
  const void *_Nonnull const *_Nullable stop;
  /// How many chunks have begun.
  size_t begun;
  /// The method of the target whose turn it is, if that fits the message.
  const FWDMethod *_Nullable method;
  /// How many targets answered.
  size_t answered;
  uint32_t stops_at_first;
} FWDRound;

/// Returns the end of those members, from the one whose turn it is, that may be called with one method if
/// they are of one class: the rest of the chunk, or one where the first answer ends the round. A turn is left.
static inline const void *_Nonnull const *_Nullable fwd_round_stop(const FWDRound *round) {
  return round->stops_at_first ? round->next + 1 : round->stop;
}

/// What became of a message.
typedef enum __attribute__((enum_extensibility(closed))) FWDDelivery : uint8_t {
  /// Every target had its turn, and everything is let go.
  FWDDeliveryDone = 0,
  /// A target needs a closer look; the round goes on after its turn.
  FWDDeliveryStopped,
  /// Something else comes first.
  FWDDeliveryNotBegun,
  /// Targets were called, and more are left, or none.
  FWDDeliveryWentOn,
} FWDDelivery;

/// In two registers.
typedef struct FWDDelivered {
  FWDDelivery what;
  /// If done: how many targets answered.
  size_t answered;
} FWDDelivered;

_Static_assert(sizeof(FWDDelivered) <= 16, "it comes back in two registers");

/// Sends the message in the frame behind `state` to the list that is published at `place`.
///
/// `step` stands for the delivery among the forwarding steps of the thread. Does not begin where
/// the selector is not known to be one, an older result is owned, the message has crossed to another
/// thread, its step is refused, the thread holds too much, or there is no list. `round` says whether
/// to stop at the first answer; all of it is written if the delivery stops.
///
/// The caller has lent the target. If the delivery stops, the round holds the list and the table, and
/// its step is entered: the caller goes on with `fwd_round_go_on` until that returns 0, in the function
/// that `round` is a variable of. Only light methods are called here, so nobody asks for stack.
FWDDelivered fwd_targets_deliver(FWDListPlace *place, const void *step, const FWDPlanFacts *facts, FWDInvocationState *state,
                                 FWDRound *round);

/// Begins a round whose step was entered; 0 if there is no list, or the thread holds too much. Then
/// nothing is held, and the caller leaves the step. `round` says whether to stop at the first answer,
/// and is a variable of the function that goes on with it.
int fwd_round_begin(FWDRound *round, FWDListPlace *place, uint64_t selector);

/// Calls the targets whose turn it is while all that takes is a call of a C function whose result
/// needs no care. 0 when nobody is left: then everything is let go, and the step is left.
///
/// Otherwise the turn is the caller's, which moves `next` on and counts what was answered.
int fwd_round_go_on(FWDRound *round, const FWDPlanFacts *facts, FWDInvocationState *state);

/// Does what `fwd_round_go_on` does for one run of targets. Where it went on, those from `out_first` to `next`
/// answered; where it stopped, both are the turn that is the caller's.
FWDDelivery fwd_round_take_run(FWDRound *round, const FWDPlanFacts *facts,
                               FWDInvocationState *state,
                               const void *_Nonnull const *_Nullable *_Nonnull out_first);

#pragma clang assume_nonnull end

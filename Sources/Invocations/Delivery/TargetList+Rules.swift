// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// The rules of a list, which any thread may change. A delivery that begins after the change follows
// the new ones.
extension TargetList {
  /// Whether the first result ends a delivery.
  package var stopsAtFirstResult: Bool {
    get { unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_FIRST_RESULT) != 0 }
    set { unsafe fwd_list_set_rules(owned, UInt32(FWD_LIST_FIRST_RESULT), newValue ? 1 : 0) }
  }

  /// Whether only one target is asked, even without a result.
  package var asksOne: Bool {
    get { unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_ASKS_ONE) != 0 }
    set { unsafe fwd_list_set_rules(owned, UInt32(FWD_LIST_ASKS_ONE), newValue ? 1 : 0) }
  }

  /// Whether the first error of a target ends a delivery.
  package var stopsAtFirstError: Bool {
    get { unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_FIRST_ERROR) != 0 }
    set { unsafe fwd_list_set_rules(owned, UInt32(FWD_LIST_FIRST_ERROR), newValue ? 1 : 0) }
  }

  /// Whether the owner has something to tell, or to answer, where no target answers.
  package var tellsUnanswered: Bool {
    get { unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_TELLS) != 0 }
    set { unsafe fwd_list_set_rules(owned, UInt32(FWD_LIST_TELLS), newValue ? 1 : 0) }
  }

  /// Whether there is a single target, which is asked even if the task was cancelled.
  package var isOfOne: Bool {
    get { unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_OF_ONE) != 0 }
    set { unsafe fwd_list_set_rules(owned, UInt32(FWD_LIST_OF_ONE), newValue ? 1 : 0) }
  }
}

/// What ends a delivery before the last target.
@usableFromInline
@frozen
package struct DeliveryEnds {
  /// The first answer.
  @usableFromInline package var areAnswers: Bool
  /// A target that has the message on its lane. Of a list that asks one, it was asked.
  @usableFromInline package var areQueued: Bool
  /// The first error of a target.
  @usableFromInline let areErrors: Bool
}

extension TargetList.Tally {
  /// Whether a delivery is over. It changes nothing: a copy would retain the errors, for each target.
  @inlinable
  package mutating func meets(_ ends: DeliveryEnds) -> Bool {
    ends.areAnswers && answered > 0 || ends.areQueued && hasQueued
      || ends.areErrors && !failures.isEmpty
  }
}

extension DeliveryEnds {
  /// What ends a delivery to a list that begins now.
  @unsafe
  init(_ list: UnsafeMutablePointer<FWDOwnedList>, hasResult: Bool) {
    areAnswers = unsafe fwd_list_stops_at_first(list, hasResult ? 1 : 0) != 0
    areQueued = unsafe fwd_list_stops_at_first(list, 0) != 0
    areErrors = unsafe fwd_list_rules(list) & UInt32(FWD_LIST_FIRST_ERROR) != 0
  }
}

extension TargetList {
  /// What ends a delivery that begins now.
  package func ends(hasResult: Bool) -> DeliveryEnds {
    unsafe DeliveryEnds(owned, hasResult: hasResult)
  }
}

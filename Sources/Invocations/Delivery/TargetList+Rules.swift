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

  /// Whether a delivery ends at the first target that answers.
  package func stopsAtFirst(hasResult: Bool) -> Bool {
    unsafe fwd_list_stops_at_first(owned, hasResult ? 1 : 0) != 0
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

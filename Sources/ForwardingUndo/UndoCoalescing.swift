// SPDX-License-Identifier: Apache-2.0
public import Forwarding

/// How a record joins the one before it, so that one undo undoes both, as for typing.
///
/// ```swift
/// let undo = UndoStack()
/// let deposit = try Message<Int32, Int32>("deposit:")
/// for amount: Int32 in [1, 2, 3] {
///   try undo.record(on: account, deposit, amount, coalescing: .join("coins"))
/// }
/// undo.undoCount  // 1
/// undo.steps[0]   // (Account deposit: 1; Account deposit: 2; Account deposit: 3)
/// ```
///
/// Successive records with the same key coalesce. Any of these ends that: another record, an undo
/// or a redo, a checkpoint, ``UndoStack/endCoalescing()``, and a pause longer than `within`.
public struct UndoCoalescing {
  enum Rule {
    case join
    case keepFirst
    case merge((Invocation, Invocation) throws -> Bool)
  }

  /// The key that records must share to be undone together.
  public let key: String
  /// The longest pause between two such records; nil for any.
  public let pause: Duration?
  let rule: Rule

  /// Keeps all records: for calls that each undo a part, such as the removal of one character.
  public static func join(_ key: String, within pause: Duration? = nil) -> UndoCoalescing {
    UndoCoalescing(key: key, pause: pause, rule: .join)
  }

  /// Keeps the first record for each object and message: for setters, where the undo restores the
  /// oldest value.
  public static func keepFirst(_ key: String, within pause: Duration? = nil) -> UndoCoalescing {
    UndoCoalescing(key: key, pause: pause, rule: .keepFirst)
  }

  /// Replaces the older call by one that stands for both.
  ///
  /// `merge` gets copies of the older and the newer call, which have the same target and the same
  /// message. If it returns true, its copy of the older call replaces the older call. If it returns
  /// false or throws, both calls stay as they were. They also stay if `merge` records, undoes or
  /// removes something itself, so that the older call is no longer the newest.
  public static func merge(
    _ key: String, within pause: Duration? = nil,
    _ merge: @escaping (_ older: Invocation, _ newer: Invocation) throws -> Bool
  ) -> UndoCoalescing {
    UndoCoalescing(key: key, pause: pause, rule: .merge(merge))
  }
}

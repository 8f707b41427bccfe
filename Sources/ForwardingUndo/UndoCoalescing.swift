// SPDX-License-Identifier: Apache-2.0
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
/// or a redo, ``UndoStack/markSaved()``, and ``UndoStack/endCoalescing()``.
public struct UndoCoalescing: Sendable {
  /// The key that records must share to be undone together.
  public let key: String
  /// Whether only the first record for each object and message is kept.
  let keepsFirst: Bool

  /// Keeps all records: for calls that each undo a part, such as the removal of one character. One
  /// undo grows for as long as records with this key follow each other.
  public static func join(_ key: String) -> UndoCoalescing {
    UndoCoalescing(key: key, keepsFirst: false)
  }

  /// Keeps the first record for each object and message: for setters, where the undo restores the
  /// oldest value.
  ///
  /// - Complexity: a record takes constant time, however many are joined.
  public static func keepFirst(_ key: String) -> UndoCoalescing {
    UndoCoalescing(key: key, keepsFirst: true)
  }
}

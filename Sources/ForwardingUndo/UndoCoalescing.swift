public import Forwarding

/// How a record joins the one before it, so that both are undone at once: as typing is.
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
/// Records coalesce that follow each other with one key. Everything else ends that: another record, an undo or a redo, a
/// checkpoint, ``UndoStack/endCoalescing()``, and a pause that is longer than `within`.
public struct UndoCoalescing {
  enum Rule {
    case join
    case keepFirst
    case merge((Invocation, Invocation) throws -> Bool)
  }

  /// What records must share to be undone at once.
  public let key: String
  /// The longest pause between two of them; nil for any.
  public let pause: Duration?
  let rule: Rule

  /// Keeps all of them: for calls that each undo a part, as the removal of one character.
  public static func join(_ key: String, within pause: Duration? = nil) -> UndoCoalescing {
    UndoCoalescing(key: key, pause: pause, rule: .join)
  }

  /// Keeps the first for each object and message: for setters, where the oldest value is the one to go back to.
  public static func keepFirst(_ key: String, within pause: Duration? = nil) -> UndoCoalescing {
    UndoCoalescing(key: key, pause: pause, rule: .keepFirst)
  }

  /// Changes the call before it so that it stands for both. `merge` gets copies of the older call and the newer one, of
  /// one object and one message. Where it says true, the older one is replaced by its copy. Where it says false or
  /// throws, both are kept as they were; so they are if `merge` itself records, undoes or removes something, so that the
  /// older call is no longer the newest.
  public static func merge(
    _ key: String, within pause: Duration? = nil,
    _ merge: @escaping (_ older: Invocation, _ newer: Invocation) throws -> Bool
  ) -> UndoCoalescing {
    UndoCoalescing(key: key, pause: pause, rule: .merge(merge))
  }
}

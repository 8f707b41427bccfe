// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

/// A description, as data, of an undo or a redo: a call, a closure, or a group of them.
///
/// ```swift
/// let undo = UndoStack()
/// try undo.record(on: account, Message<Int32, Int32>("deposit:"), 5)
/// undo.name = "Withdraw"
/// print(undo.steps[0])              // Withdraw: Account deposit: 5
/// undo.steps[0].message ?? "none"   // deposit:
/// undo.steps[0].arguments           // ["5"]
/// ```
///
/// It refers to no object, so it can be stored, compared, and sent.
public struct UndoStep: Hashable, Sendable {
  /// The name of the action, if it has one.
  public var name: String?
  /// The class of the target; nil for a group.
  public var type: String?
  /// The selector of a call, or the label of a closure; nil for a group.
  public var message: String?
  /// The arguments of a call, as text.
  public var arguments: [String] = []
  /// Whether the target has died, so that the step is skipped.
  public var isGone = false
  /// The steps of a group, in the order in which they were recorded.
  public var steps: [UndoStep] = []

  init(_ step: Step, name: String? = nil) {
    self.name = name
    switch step {
    case .call(let call, let target):
      describe(target)
      message = call.selector?.name
      arguments = call.arguments.map { $0.map { Self.text($0) } ?? "nil" }
    case .run(let closure):
      describe(closure.target)
      message = closure.label
    case .group(let group):
      self.name = name ?? group.name
      steps = group.steps.map { UndoStep($0) }
    }
  }

  private mutating func describe(_ target: ObjectReference) {
    type = "\(target.type)"
    isGone = target.object == nil
  }

  /// The length to which the text of each argument is truncated, in characters.
  static let argumentLimit = 80

  private static func text(_ value: Any) -> String {
    let text = String(reflecting: value)
    return text.count <= argumentLimit ? text : text.prefix(argumentLimit - 1) + "…"
  }
}

extension UndoStep: CustomStringConvertible {
  public var description: String {
    let words = steps.isEmpty ? [type, message].compactMap { $0 } + arguments : []
    let own =
      steps.isEmpty
      ? words.joined(separator: " ") : "(\(steps.map { "\($0)" }.joined(separator: "; ")))"
    return (name.map { "\($0): " } ?? "") + own + (isGone ? " (gone)" : "")
  }
}

// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import TypeEncodings

/// One action of an undo or a redo.
enum Step: Removing {
  case call(KeptCall, ObjectReference)
  case run(RecordedClosure)
  case group(StepGroup)

  /// The reference to the target, alive or dead; nil for a group.
  var target: ObjectReference? {
    switch self {
    case .call(_, let target): target
    case .run(let closure): closure.target
    case .group: nil
    }
  }

  /// Whether the target of any part is alive.
  var isAlive: Bool {
    guard case .group(let group) = self else { return target?.object != nil }
    return group.steps.contains { $0.isAlive }
  }

  /// Returns the step without the parts for one object, at any depth; nil if nothing is left.
  ///
  /// - Parameter changed: set to true if a part was removed.
  func without(_ object: ObjectIdentifier, _ changed: inout Bool) -> Step? {
    guard case .group(let group) = self else {
      if target?.identity != object { return self }
      changed = true
      return nil
    }
    var steps = group.steps
    guard steps.remove(object) else { return self }
    changed = true
    return steps.isEmpty ? nil : .group(StepGroup(name: group.name, steps: steps))
  }
}

// MARK: Text

extension Step {
  /// A description: the name, then the class of the target, the message and its arguments, or the
  /// steps of a group in the order in which they were recorded.
  func text(named name: String? = nil) -> String {
    var name = name
    let own: String
    switch self {
    case .call(let call, let target):
      let arguments = call.invocation().arguments.map { $0.map(Self.shortened) ?? "nil" }
      let words = ["\(target.type)", call.selector.name] + arguments
      own = words.joined(separator: " ")
    case .run(let closure): own = "\(closure.target.type) \(closure.label)"
    case .group(let group):
      name = name ?? group.name
      own = "(" + group.steps.map { $0.text() }.joined(separator: "; ") + ")"
    }
    let isGone = target.map { $0.object == nil } ?? false
    return (name.map { "\($0): " } ?? "") + own + (isGone ? " (gone)" : "")
  }

  /// An argument as text of at most 80 characters.
  private static func shortened(_ value: Any) -> String {
    let text = String(reflecting: value)
    return text.count <= 80 ? text : text.prefix(79) + "…"
  }
}

extension [Step] {
  /// The steps as one: a group if there are several; nil if the array is empty.
  func asOne(name: String?) -> Step? {
    count > 1 ? .group(StepGroup(name: name, steps: self)) : first
  }
}

/// A step or an entry, from which the steps for one object can be removed.
protocol Removing {
  func without(_ object: ObjectIdentifier, _ changed: inout Bool) -> Self?
}

extension Array where Element: Removing {
  /// Removes the steps for one object. Returns false if there were none. The caller retains a copy:
  /// releasing a step may run a `deinit` that uses the stack.
  mutating func remove(_ object: ObjectIdentifier) -> Bool {
    var changed = false
    let left = compactMap { $0.without(object, &changed) }
    if changed { self = left }
    return changed
  }
}

extension KeptCall {
  /// Records a copy of a call, with its current arguments.
  ///
  /// - Parameter target: the type of the target, for an error.
  /// - Throws: `ForwardingError.borrowedArgument` for the first argument that points to memory which
  ///   the call does not own; or the errors of ``KeptCall/of(_:)``.
  static func recording(_ call: Call, to target: Any.Type? = nil) throws -> KeptCall {
    if let index = call.firstBorrowedArgument {
      throw ForwardingError.borrowedArgument(
        .init(selector: call.selector, target: target), index: index,
        type: call.plan.signature.argumentTypes[index])
    }
    return try of(call)
  }
}

/// A closure that was recorded for an object.
final class RecordedClosure {
  let target: ObjectReference
  let label: String
  let body: (AnyObject) throws -> Void

  init(_ target: ObjectReference, _ label: String, _ body: @escaping (AnyObject) throws -> Void) {
    self.target = target
    self.label = label
    self.body = body
  }
}

/// Several steps that are undone together.
final class StepGroup {
  let name: String?
  /// Appended to in place while the group is the newest entry and records join it.
  var steps: [Step]

  init(name: String?, steps: [Step]) {
    self.name = name
    self.steps = steps
  }
}

/// An entry of the undo or redo stack.
struct Entry: Removing {
  var step: Step
  var name: String?

  /// A description.
  var text: String { step.text(named: name) }

  /// Returns the entry without the steps for one object; nil if nothing is left.
  ///
  /// - Parameter changed: set to true if a part was removed.
  func without(_ object: ObjectIdentifier, _ changed: inout Bool) -> Entry? {
    step.without(object, &changed).map { Entry(step: $0, name: name) }
  }
}

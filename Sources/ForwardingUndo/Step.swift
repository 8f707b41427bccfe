// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

/// One action of an undo or a redo.
enum Step {
  case call(RecordedCall, ObjectReference)
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

  /// Whether both have the same target and the same selector or label. Arguments may differ.
  func isLike(_ other: Step) -> Bool {
    switch (self, other) {
    case (.call(let call, let target), .call(let otherCall, let otherTarget)):
      target.identity == otherTarget.identity && call.selector == otherCall.selector
    case (.run(let closure), .run(let other)):
      closure.target.identity == other.target.identity && closure.label == other.label
    case (.call, _), (.run, _), (.group, _): false
    }
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
    var inner = false
    let steps = group.steps.compactMap { $0.without(object, &inner) }
    guard inner else { return self }
    changed = true
    return steps.isEmpty ? nil : .group(StepGroup(name: group.name, steps: steps))
  }
}

/// A recorded call: stored in as little memory as possible if it is an ordinary one.
enum RecordedCall {
  case stored(StoredCall)
  case whole(Invocation)

  /// Stores a call, if it can be stored and does not have to remain mutable.
  init(_ call: Invocation, isToChange: Bool) {
    if !isToChange, let stored = call.call.stored() {
      self = .stored(stored)
    } else {
      self = .whole(call)
    }
  }

  /// The selector of the message.
  var selector: Selector? {
    switch self {
    case .stored(let call): call.selector
    case .whole(let call): call.selector
    }
  }

  /// Returns the same call; as an invocation, which can be changed, if it coalesces.
  func ready(for coalescing: UndoCoalescing?) -> RecordedCall {
    coalescing == nil ? self : .whole(invocation)
  }

  /// Sends the call to an object.
  func send(to target: AnyObject) throws {
    switch self {
    case .stored(let call): try call.send(to: target)
    case .whole(let call): try call.send(to: target)
    }
  }

  /// The call as an invocation: the stored one, or a new one made from the stored call.
  var invocation: Invocation {
    switch self {
    case .stored(let call): call.invocation()
    case .whole(let call): call
    }
  }
}

/// A closure that was recorded for an object.
final class RecordedClosure {
  typealias AwaitedBody = nonisolated(nonsending) (AnyObject) async throws -> Void

  enum Body {
    case once((AnyObject) throws -> Void)
    case awaited(AwaitedBody)
  }

  let target: ObjectReference
  let label: String
  let body: Body

  init(_ target: ObjectReference, _ label: String, _ body: Body) {
    self.target = target
    self.label = label
    self.body = body
  }
}

/// Several steps that are undone together.
final class StepGroup {
  let name: String?
  /// Appended to in place while the group is the newest entry and coalesces.
  var steps: [Step]

  init(name: String?, steps: [Step]) {
    self.name = name
    self.steps = steps
  }
}

/// An entry of the undo or redo stack: a step with its state and name.
struct Entry {
  var step: Step
  /// The state of the targets after this entry and before the next one.
  var state: Int
  var name: String?
  /// Attributes that few entries have.
  var extras: UndoMetadata?

  var isDiscardable: Bool { extras?.isDiscardable ?? false }
}

/// The attributes that users set on an entry, besides its name.
final class UndoMetadata {
  let isDiscardable: Bool
  let info: [String: any Sendable]

  init(isDiscardable: Bool, info: [String: any Sendable]) {
    self.isDiscardable = isDiscardable
    self.info = info
  }

  static func with(_ extras: UndoMetadata?, isDiscardable: Bool) -> UndoMetadata {
    UndoMetadata(isDiscardable: isDiscardable, info: extras?.info ?? [:])
  }

  static func with(_ extras: UndoMetadata?, _ value: (any Sendable)?, for key: String)
    -> UndoMetadata
  {
    var info = extras?.info ?? [:]
    info[key] = value
    return UndoMetadata(isDiscardable: extras?.isDiscardable ?? false, info: info)
  }
}

/// A group that is not closed yet.
struct OpenGroup {
  enum Kind { case byHand, byEvent, byCall, performing }

  let kind: Kind
  let id: Int
  var name: String?
  var steps: [Step] = []
  var extras: UndoMetadata?
  /// The coalescing rule that all its steps share, if they share one.
  var coalescing: UndoCoalescing?
  /// Whether its steps differ in their coalescing.
  var isMixed = false
  /// Whether its event has ended while groups inside it were open.
  var isOver = false
}

extension [Step] {
  /// The steps as one: a group if there are several; nil if the array is empty.
  func asOne(name: String?) -> Step? {
    count > 1 ? .group(StepGroup(name: name, steps: self)) : first
  }
}

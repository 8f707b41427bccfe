import Forwarding
import Invocations

/// One thing to do when an undo or a redo comes to it.
enum Step {
  case call(RecordedCall, ObjectReference)
  case run(RecordedClosure)
  case group(StepGroup)

  /// The object that it is for, dead or alive; nil for a group.
  var target: ObjectReference? {
    switch self {
    case .call(_, let target): target
    case .run(let closure): closure.target
    case .group: nil
    }
  }

  /// Whether both are for one object, and say the same but for their arguments.
  func isLike(_ other: Step) -> Bool {
    switch (self, other) {
    case (.call(let call, let target), .call(let otherCall, let otherTarget)):
      target.identity == otherTarget.identity && call.selector == otherCall.selector
    case (.run(let closure), .run(let other)):
      closure.target.identity == other.target.identity && closure.label == other.label
    case (.call, _), (.run, _), (.group, _): false
    }
  }

  /// Without what is for one object, at any depth; nil if nothing is left. `changed` is set where something
  /// went.
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

/// A call that was recorded: in as little memory as it takes, if it is an ordinary one.
enum RecordedCall {
  case packed(PackedCall)
  case whole(Invocation)

  /// Packs a call, if that can be done, and nobody wants to change it.
  init(_ call: Invocation, isToChange: Bool) {
    if !isToChange, let packed = call.packed() {
      self = .packed(packed)
    } else {
      self = .whole(call)
    }
  }

  /// The message's name.
  var selector: Selector? {
    switch self {
    case .packed(let call): call.selector
    case .whole(let call): call.selector
    }
  }

  /// The same call, as an invocation if it coalesces: then it may be changed.
  func ready(for coalescing: UndoCoalescing?) -> RecordedCall {
    coalescing == nil ? self : .whole(invocation)
  }

  /// Sends it to an object.
  func send(to target: AnyObject) throws {
    switch self {
    case .packed(let call): try call.send(to: target)
    case .whole(let call): try call.send(to: target)
    }
  }

  /// The call as an invocation: its own, or a copy.
  var invocation: Invocation {
    switch self {
    case .packed(let call): call.invocation()
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

/// Several steps that are one.
final class StepGroup {
  let name: String?
  /// Added to while the group is the newest entry, and coalesces.
  var steps: [Step]

  init(name: String?, steps: [Step]) {
    self.name = name
    self.steps = steps
  }
}

/// What one undo undoes: a step at the top of a stack, and what is known of it.
struct Entry {
  var step: Step
  /// The state that the targets are in when this is done and nothing behind it is.
  var state: Int
  var name: String?
  /// What few have.
  var extras: Extras?

  var isDiscardable: Bool { extras?.isDiscardable ?? false }
}

/// What users say of an entry beside its name.
final class Extras {
  let isDiscardable: Bool
  let info: [String: any Sendable]

  init(isDiscardable: Bool, info: [String: any Sendable]) {
    self.isDiscardable = isDiscardable
    self.info = info
  }

  static func with(_ extras: Extras?, isDiscardable: Bool) -> Extras {
    Extras(isDiscardable: isDiscardable, info: extras?.info ?? [:])
  }

  static func with(_ extras: Extras?, _ value: (any Sendable)?, for key: String) -> Extras {
    var info = extras?.info ?? [:]
    info[key] = value
    return Extras(isDiscardable: extras?.isDiscardable ?? false, info: info)
  }
}

/// A group that is not closed yet.
struct OpenGroup {
  enum Kind { case byHand, byEvent, byCall, performing }

  let kind: Kind
  let id: Int
  var name: String?
  var steps: [Step] = []
  var extras: Extras?
  /// How all its steps coalesce, if they do in one way.
  var coalescing: UndoCoalescing?
  /// Whether they do not.
  var isMixed = false
  /// Whether its event has ended while groups inside of it were open.
  var isOver = false
}

extension [Step] {
  /// All of them as one.
  func asOne(name: String?) -> Step? {
    count > 1 ? .group(StepGroup(name: name, steps: self)) : first
  }
}

public import Forwarding

extension UndoStack {
  /// What observers are told.
  public enum Event: Hashable, Sendable {
    /// A group was opened; it is so deep.
    case didOpenGroup(depth: Int)
    /// A group is about to be closed. What is recorded now is still in it.
    case willCloseGroup(depth: Int)
    /// A group was closed.
    case didCloseGroup(depth: Int)
    /// An undo is about to begin. What is recorded now is undone by it.
    case willUndo
    /// An undo came to its end.
    case didUndo
    /// A redo is about to begin.
    case willRedo
    /// A redo came to its end.
    case didRedo
    /// An undo or a redo threw, and the stack is as it was.
    case failed
    /// Steps were removed.
    case didRemove
  }

  /// Names an observer, to remove it.
  public struct ObserverToken: Hashable, Sendable { let id: Int }

  /// Tells a closure what happens, at once. Of what it does itself meanwhile it is not told.
  @discardableResult
  public func observe(_ tell: @escaping (UndoStack, Event) -> Void) -> ObserverToken {
    lastObserver += 1
    let token = ObserverToken(id: lastObserver)
    observers.append(UndoObserver(token, tell))
    update()
    return token
  }

  /// Tells an object what happens, for as long as it lives. It is held weakly.
  @discardableResult
  public func observe<Observer: AnyObject>(
    by observer: Observer, _ tell: @escaping (Observer, UndoStack, Event) -> Void
  ) -> ObserverToken {
    let token = ObserverToken(id: lastObserver + 1)
    return observe { [weak observer] stack, event in
      guard let observer else { return _ = stack.removeObserver(token) }
      tell(observer, stack, event)
    }
  }

  /// Removes an observer; false if it was gone.
  @discardableResult
  public func removeObserver(_ token: ObserverToken) -> Bool {
    guard let index = observers.firstIndex(where: { $0.token == token }) else { return false }
    let old = observers.remove(at: index)
    update()
    return withExtendedLifetime(old) { true }
  }

  func notify(_ event: Event) {
    if observers.isEmpty { return }
    // As they are now: who is told may add and remove others.
    for observer in observers { observer.hear(event, of: self) }
  }
}

/// Who is told what happens.
final class UndoObserver {
  let token: UndoStack.ObserverToken
  private let tell: (UndoStack, UndoStack.Event) -> Void
  private var isHearing = false

  init(
    _ token: UndoStack.ObserverToken, _ tell: @escaping (UndoStack, UndoStack.Event) -> Void
  ) {
    self.token = token
    self.tell = tell
  }

  /// Tells, unless that is what caused the event: it would never end.
  func hear(_ event: UndoStack.Event, of stack: UndoStack) {
    if isHearing { return }
    isHearing = true
    defer { isHearing = false }
    tell(stack, event)
  }
}

extension UndoStack {
  /// What no caller is told.
  public enum Diagnostic: Sendable, CustomStringConvertible {
    /// The target of a step has died, and the step was left out.
    case targetGone(UndoStep)
    /// A message could not be recorded, and its sender cannot throw.
    case notRecorded(Selector?, any Error)
    /// A closure that should record something sent no message.
    case nothingRecorded(type: String)
    /// What was undone or redone recorded nothing, so there is no way back.
    case noWayBack(UndoStep)
    /// A group was left open where it should have been ended; it was ended.
    case groupLeftOpen(String?)
    /// A closure that merges two calls threw; both were kept.
    case notCoalesced(UndoStep, any Error)

    public var description: String {
      switch self {
      case .targetGone(let step): "'\(step)' is left out: its target is gone"
      case .notRecorded(let selector, let error):
        "\(selector.map { "'\($0)'" } ?? "a message") was not recorded: \(error)"
      case .nothingRecorded(let type): "a record for an object of class \(type) sent no message"
      case .noWayBack(let step): "'\(step)' recorded nothing, so there is no way back"
      case .groupLeftOpen(let name):
        "\(name.map { "the group '\($0)'" } ?? "a group") was left open"
      case .notCoalesced(let step, let error): "'\(step)' was not merged: \(error)"
      }
    }
  }

  func diagnose(_ diagnostic: Diagnostic) {
    if let onDiagnostic { return onDiagnostic(diagnostic) }
    ForwardingEvent.report(.undo("\(diagnostic)"))
  }
}

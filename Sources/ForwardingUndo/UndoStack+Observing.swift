// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

extension UndoStack {
  /// An event that observers are notified of.
  public enum Event: Hashable, Sendable {
    /// A group was opened, at this depth.
    case didOpenGroup(depth: Int)
    /// A group is about to be closed. Records made now are still part of it.
    case willCloseGroup(depth: Int)
    /// A group was closed.
    case didCloseGroup(depth: Int)
    /// An undo is about to begin. Records made now are undone by it.
    case willUndo
    /// An undo has ended.
    case didUndo
    /// A redo is about to begin.
    case willRedo
    /// A redo has ended.
    case didRedo
    /// An undo or a redo threw, and the stack is as it was before.
    case failed
    /// Steps were removed.
    case didRemove
  }

  /// Identifies an observer, for its removal.
  public struct ObserverToken: Hashable, Sendable { let id: Int }

  /// Calls a closure for each event, synchronously. Events that the closure causes itself are not
  /// reported to it.
  @discardableResult
  public func observe(_ tell: @escaping (UndoStack, Event) -> Void) -> ObserverToken {
    let token = observers.add(tell)
    update()
    return token
  }

  /// Calls a closure for each event, as long as `observer` lives. The observer is held weakly.
  @discardableResult
  public func observe<Observer: AnyObject>(
    by observer: Observer, _ tell: @escaping (Observer, UndoStack, Event) -> Void
  ) -> ObserverToken {
    let token = observers.nextToken
    return observe { [weak observer] stack, event in
      guard let observer else { return _ = stack.removeObserver(token) }
      tell(observer, stack, event)
    }
  }

  /// Removes an observer. Returns false if it was already removed.
  @discardableResult
  public func removeObserver(_ token: ObserverToken) -> Bool {
    guard let old = observers.remove(token) else { return false }
    update()
    return withExtendedLifetime(old) { true }
  }

  func notify(_ event: Event) { if !observers.isEmpty { observers.notify(event, of: self) } }
}

/// The observers of a stack, in the order in which they were added.
final class UndoObservers {
  private var all: [UndoObserver] = []
  private var lastID = 0

  var isEmpty: Bool { all.isEmpty }

  /// The token of the observer that is added next.
  var nextToken: UndoStack.ObserverToken { UndoStack.ObserverToken(id: lastID + 1) }

  func add(
    _ tell: @escaping (UndoStack, UndoStack.Event) -> Void
  ) -> UndoStack.ObserverToken {
    let token = nextToken
    lastID += 1
    all.append(UndoObserver(token, tell))
    return token
  }

  /// Removes and returns an observer, for the caller to release.
  func remove(_ token: UndoStack.ObserverToken) -> UndoObserver? {
    all.firstIndex { $0.token == token }.map { all.remove(at: $0) }
  }

  func notify(_ event: UndoStack.Event, of stack: UndoStack) {
    // A snapshot of the list: an observer may add and remove others.
    for observer in all { observer.hear(event, of: stack) }
  }
}

/// An observer's closure.
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

  /// Calls the closure, unless the closure itself caused the event: that would never end.
  func hear(_ event: UndoStack.Event, of stack: UndoStack) {
    if isHearing { return }
    isHearing = true
    defer { isHearing = false }
    tell(stack, event)
  }
}

extension UndoStack {
  /// A problem that no caller learns of through a result or an error.
  public enum Diagnostic: Sendable, CustomStringConvertible {
    /// The target of a step has died, and the step was left out.
    case targetGone(UndoStep)
    /// A message could not be recorded, and its requirement cannot throw.
    case notRecorded(Selector?, any Error)
    /// The closure of a record sent no message.
    case nothingRecorded(type: String)
    /// An undo or a redo recorded nothing, so it cannot be reversed.
    case noWayBack(UndoStep)
    /// A group was left open. It was closed.
    case groupLeftOpen(String?)
    /// The merge closure of two calls threw. Both calls were retained.
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
    EventReports.reportUndo("\(diagnostic)")
  }
}

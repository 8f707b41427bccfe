// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

// Undo and redo with async steps. Records made by other tasks while a step is suspended are not
// part of the undo: they are added after it.
extension UndoStack {
  /// Undoes the newest entry and awaits steps that are `async`.
  ///
  /// All steps run on the actor of the caller. A record made by another task while a step is
  /// suspended becomes an undo of its own after this one.
  ///
  /// - Returns: false if there is nothing to undo.
  /// - Throws: ``UndoError/busy`` during another undo or redo, ``UndoError/groupIsOpen(depth:)``
  ///   while a group is open, ``UndoError/failed(_:_:rollback:)`` if a step throws.
  @discardableResult
  public nonisolated(nonsending) func undo() async throws(UndoError) -> Bool {
    guard let entry = try next(.undo) else { return false }
    try await runAwaiting(begin(.undo, entry, true))
    return true
  }

  /// Redoes the newest undo and awaits steps that are `async`.
  ///
  /// - Returns: false if there is nothing to redo.
  /// - Throws: the errors of `undo()`.
  @discardableResult
  public nonisolated(nonsending) func redo() async throws(UndoError) -> Bool {
    guard let entry = try next(.redo) else { return false }
    try await runAwaiting(begin(.redo, entry, true))
    return true
  }

  /// Undoes the last nested group of the open group and awaits steps that are `async`. If no group
  /// begun by ``beginGroup(_:)`` is open, it undoes as `undo()` does. A record made by another task
  /// meanwhile is added to the open group afterwards.
  ///
  /// - Returns: false if there is nothing to undo.
  /// - Throws: ``UndoError/busy`` during another undo or redo, ``UndoError/noNestedGroup`` if the
  ///   open group does not end with a nested group, ``UndoError/failed(_:_:rollback:)`` if a step
  ///   throws.
  @discardableResult
  public nonisolated(nonsending) func undoNestedGroup() async throws(UndoError) -> Bool {
    guard let entry = try nextNested() else { return try await undo() }
    try await runAwaiting(begin(.undo, entry, true))
    return true
  }

  /// Goes to a checkpoint, completely or not at all, and awaits steps that are `async`. A record
  /// made by another task meanwhile is added after it; then the targets are not at the checkpoint.
  ///
  /// - Throws: ``UndoError/unreachable`` if no undo or redo leads there, ``UndoError/busy`` during
  ///   another undo or redo, ``UndoError/groupIsOpen(depth:)`` while a group is open,
  ///   ``UndoError/failed(_:_:rollback:)`` if a step throws.
  public nonisolated(nonsending) func go(
    to checkpoint: UndoCheckpoint
  ) async throws(UndoError) {
    guard let performance = try beginGoing(to: checkpoint, true) else { return }
    try await runAwaiting(performance)
  }

  private nonisolated(nonsending) func runAwaiting(
    _ performance: UndoOperation
  ) async throws(UndoError) {
    let failure = await performance.awaiting { await self.performAll(performance) }
    guard let failure else { return finish(performance) }
    putBack(performance, failure)
    throw failure
  }

  private nonisolated(nonsending) func performAll(_ performance: UndoOperation) async -> UndoError?
  {
    repeat {
      while let step = performance.next() {
        do { try await perform(step, performance) } catch {
          return Self.failure(
            Self.told(error, step), at: step, await rollBack(performance))
        }
      }
      closeLeftOpen()
      if isAstray(performance) {
        let step = performance.entry?.step
        return Self.failure(nil, at: step, await rollBack(performance))
      }
    } while goOn(performance)
    return nil
  }

  /// Takes the performed steps back, in a new task: cancelling the caller's task does not stop it.
  /// It runs on the actor of the caller, which awaits it, and counts as a part of the undo.
  private func rollBack(
    _ performance: UndoOperation, isolation: isolated (any Actor)? = #isolation
  ) async -> [any Error] {
    beginRollback(performance)
    return await Task {
      _ = isolation
      return await self.performRollback(performance)
    }.value
  }

  private nonisolated(nonsending) func performRollback(
    _ performance: UndoOperation
  ) async -> [any Error] {
    var errors: [any Error] = []
    while let step = performance.next() {
      do { try await perform(step, performance) } catch { errors.append(Self.told(error, step)) }
    }
    return errors
  }

  private nonisolated(nonsending) func perform(
    _ step: Step, _ performance: UndoOperation
  ) async throws {
    guard let target = target(of: step, performance) else { return }
    switch step {
    case .call(let call, _): try await call.invocation.sendAwaiting(to: target)
    case .run(let closure):
      switch closure.body {
      case .once(let body): try body(target)
      case .awaited(let body): try await body(target)
      }
    case .group: break
    }
  }

  /// Records messages of `async` requirements. The messages are performed by the undo, not here.
  ///
  /// - Parameters:
  ///   - target: the receiver of the messages.
  ///   - face: the type of the face that `body` gets.
  ///   - strongly: whether the target is retained; false by default.
  ///   - coalescing: how the record joins the one before it; nil for not at all.
  ///   - body: sends the messages to the face.
  /// - Returns: false if recording is disabled, a message was refused, or no message was sent.
  /// - Throws: the error of `body`. It is ``UndoError/wantsResult(_:)`` if `body` ended because the
  ///   recorded message has no result.
  @discardableResult
  public nonisolated(nonsending) func record<Face: ForwardingFace>(
    on target: Face.__Target, as face: Face.Type, strongly: Bool = false,
    coalescing: UndoCoalescing? = nil,
    _ body: nonisolated(nonsending) (Face) async throws -> Void
  ) async rethrows -> Bool {
    if isIgnoring { return false }
    let object = Face.__prepare(target)
    // A recorder for this call alone: `body` may suspend while other tasks record.
    let recorder = AwaitedRecorder()
    do { try await body(Face(forwardingTo: recorder)) } catch {
      let (calls, _) = recorder.end()
      if case ForwardingError.nobodyAnswered(let selector?) = error,
        calls.last?.selector == selector
      {
        throw UndoError.wantsResult(selector)
      }
      throw error
    }
    let (calls, failure) = recorder.end()
    return add(calls, failure, object, strongly || Face.__isBox(object), coalescing)
  }
}

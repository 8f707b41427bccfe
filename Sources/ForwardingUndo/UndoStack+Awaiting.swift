public import Forwarding
import Invocations

// Steps that are async. What others record while one is suspended is no part of the undo: it comes after it.
extension UndoStack {
  /// Undoes as the other one does, and awaits steps that are `async`.
  ///
  /// All runs where the caller does. What others record while a step is suspended is an undo of its own, once this is
  /// over.
  @discardableResult
  public nonisolated(nonsending) func undo() async throws(UndoError) -> Bool {
    guard let entry = try next(.undo) else { return false }
    try await runAwaiting(begin(.undo, entry, true))
    return true
  }

  /// Redoes as the other one does, and awaits steps that are `async`.
  @discardableResult
  public nonisolated(nonsending) func redo() async throws(UndoError) -> Bool {
    guard let entry = try next(.redo) else { return false }
    try await runAwaiting(begin(.redo, entry, true))
    return true
  }

  /// Undoes a nested group as the other one does, and awaits steps that are `async`. What others record meanwhile is
  /// then a part of the open group.
  @discardableResult
  public nonisolated(nonsending) func undoNestedGroup() async throws(UndoError) -> Bool {
    guard let entry = try nextNested() else { return try await undo() }
    try await runAwaiting(begin(.undo, entry, true))
    return true
  }

  /// Goes to a checkpoint as the other one does, all or none, and awaits steps that are `async`. What others record
  /// meanwhile comes after it: then the targets are not at the checkpoint.
  public nonisolated(nonsending) func go(
    to checkpoint: UndoCheckpoint
  ) async throws(UndoError) {
    guard let performance = try beginGoing(to: checkpoint, true) else { return }
    try await runAwaiting(performance)
  }

  private nonisolated(nonsending) func runAwaiting(
    _ performance: Performance
  ) async throws(UndoError) {
    let failure = await performance.awaiting { await self.performAll(performance) }
    guard let failure else { return finish(performance) }
    putBack(performance, failure)
    throw failure
  }

  private nonisolated(nonsending) func performAll(_ performance: Performance) async -> UndoError? {
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

  /// Takes back what was done, in a task that nobody cancels: steps that end with theirs are performed all the same.
  /// It runs where its caller runs, who waits, and is a part of the undo.
  private func rollBack(
    _ performance: Performance, isolation: isolated (any Actor)? = #isolation
  ) async -> [any Error] {
    beginRollback(performance)
    return await Task {
      _ = isolation
      return await self.performRollback(performance)
    }.value
  }

  private nonisolated(nonsending) func performRollback(
    _ performance: Performance
  ) async -> [any Error] {
    var errors: [any Error] = []
    while let step = performance.next() {
      do { try await perform(step, performance) } catch { errors.append(Self.told(error, step)) }
    }
    return errors
  }

  private nonisolated(nonsending) func perform(
    _ step: Step, _ performance: Performance
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

  /// Records messages of `async` requirements. Otherwise as the other one: nothing is performed before the undo, so
  /// nothing is waited for.
  @discardableResult
  public nonisolated(nonsending) func record<Face: ForwardingFace>(
    on target: Face.__Target, as face: Face.Type, strongly: Bool = false,
    coalescing: UndoCoalescing? = nil,
    _ body: nonisolated(nonsending) (Face) async throws -> Void
  ) async rethrows -> Bool {
    if isIgnoring { return false }
    let object = Face.__prepare(target)
    // One of its own: it may suspend, while others record.
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

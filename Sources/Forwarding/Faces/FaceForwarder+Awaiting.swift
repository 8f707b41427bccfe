public import Invocations

// Requirements that are async. What a face has in its hands stays where its method runs.

/// An `async` requirement on its way to the targets of a face, one after the other.
///
/// Faces are written by `@Forwardable`; nothing else needs this.
///
/// ```swift
/// func close<Face: ForwardingFace>(_ face: Face) async throws {
///   let close = Requirement<Void>("close")
///   var delivery = face.__forwarder.awaiting(0, "close", as: Void.self)
///   while delivery.begins() {
///     do {
///       delivery.answer(try await FaceMessage.sendAwaiting(close, through: &delivery))
///     } catch { delivery.fail(error) }
///   }
///   try delivery.ask()
/// }
/// ```
public struct AwaitedFaceDelivery<Result>: ~Copyable {
  @usableFromInline let selector: Selector
  @usableFromInline var turns: AwaitedTurns
  @usableFromInline var result: Result?

  @inlinable
  init(
    _ forwarder: FaceForwarder, _ place: Int, _ selector: Selector, isOptional: Bool,
    endsWithTask: Bool
  ) {
    self.selector = selector
    turns = AwaitedTurns(
      selector, isOptional: isOptional, hasResult: Result.self != Void.self,
      endsWithTask: endsWithTask, to: forwarder.targets, of: forwarder.proxy, place)
  }

  /// Begins the next turn; false where all are over.
  @inlinable
  public mutating func begins() -> Bool { turns.begin() }

  /// The target whose turn it is, once; nil where a message is sent.
  @inlinable
  public mutating func target<Target>(as type: Target.Type) -> Target? { turns.take(as: type) }

  /// Ends a turn with an answer.
  @inlinable
  public mutating func answer(_ answer: Result) { if turns.end() { result = answer } }

  /// Ends a turn with an error.
  @inlinable
  public mutating func fail(_ error: any Error) { turns.fail(error) }

  /// Tells of an error as others are told of.
  @usableFromInline
  @inline(never)
  func report(_ error: any Error) {
    (turns.receiver as? ForwardingProxy)?.report(unheard: error, selector)
  }

  @inlinable
  func conclude() -> FaceAnswer<Result> {
    switch turns.conclude() {
    case .answered:
      // What has no result wants no answer.
      if let result = result ?? (() as? Result) { return .answered(result) }
      return .unanswered(ForwardingError.nobodyAnswered(selector))
    case .unanswered(let error): return .unanswered(error)
    case .failed(let error): return .failed(error)
    }
  }

  /// What a requirement answers that may throw.
  @inlinable
  public consuming func ask() throws -> Result {
    switch conclude() {
    case .answered(let answer): return answer
    case .unanswered(let error):
      throw error is ForwardingError ? error : ForwardingError.nobodyAnswered(selector)
    case .failed(let error): throw error
    }
  }

  /// What a requirement with a result answers that cannot throw.
  @inlinable
  public consuming func ask(otherwise: () -> Result) -> Result {
    switch conclude() {
    case .answered(let answer): return answer
    case .unanswered: return otherwise()
    case .failed(let error):
      report(error)
      return otherwise()
    }
  }

  /// What a requirement with a result answers that may throw errors of one type. Others are told to the proxy.
  @inlinable
  public consuming func ask<Thrown: Error>(
    orThrow: Thrown.Type, otherwise: () -> Result
  ) throws(Thrown) -> Result {
    switch conclude() {
    case .answered(let answer): return answer
    case .unanswered: return otherwise()
    case .failed(let error):
      if let error = error as? Thrown { throw error }
      report(error)
      return otherwise()
    }
  }
}

extension AwaitedFaceDelivery where Result == Void {
  /// Ends a requirement without a result that cannot throw.
  @inlinable
  public consuming func tell() { ask(otherwise: {}) }

  /// Ends a requirement without a result that may throw errors of one type.
  @inlinable
  public consuming func tell<Thrown: Error>(orThrow type: Thrown.Type) throws(Thrown) {
    try ask(orThrow: type, otherwise: {})
  }
}

extension FaceMessage {
  /// Sends a message and awaits the answer.
  public nonisolated(nonsending) static func sendAwaiting<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, _ arguments: repeat each Argument,
    through delivery: inout AwaitedFaceDelivery<Result>
  ) async throws -> Result {
    let message = try requirement.checked
    let call = try message.invocation(repeat each arguments)
    try await delivery.turns.sendAwaiting(call)
    return try call.call.answer(as: Result.self, message.prepared.result)
  }

  /// Says that a requirement cannot be sent as a message, where a target takes nothing else.
  public static func refuse<Result>(
    _ selector: Selector, because reason: String,
    through delivery: inout AwaitedFaceDelivery<Result>
  ) throws -> Result {
    try delivery.turns.refuse { try refuse(selector, because: reason, through: &$0) }
  }
}

extension FaceForwarder {
  /// Begins the delivery of an `async` requirement.
  ///
  /// - Parameters:
  ///   - place: where the face has the protocol of the requirement.
  ///   - endsWithTask: whether no target is asked once the task is cancelled: the sender gets a `CancellationError`. One
  ///     that cannot throw it asks all, as a class that is no face would.
  @inlinable
  public func awaiting<Result>(
    _ place: Int, _ selector: Selector, isOptional: Bool = false, endsWithTask: Bool = false,
    as type: Result.Type
  ) -> AwaitedFaceDelivery<Result> {
    AwaitedFaceDelivery(
      self, place, selector, isOptional: isOptional, endsWithTask: endsWithTask)
  }
}

/// Sends the message of a requirement, with arguments that are lent from where they are.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// let everyone = MulticastProxy()
/// try FaceMessage.send(close, 5, through: everyone)
/// ```
public enum FaceMessage {
  /// Sends a message of any number of arguments.
  @inlinable
  public static func send<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, _ arguments: repeat each Argument,
    through proxy: ForwardingProxy
  ) throws -> Result {
    try requirement.checked(repeat each arguments, on: proxy)
  }

  /// Sends a message of one argument.
  @inlinable
  public static func send<Result, A>(
    _ requirement: Requirement<Result, A>, _ a: A,
    through proxy: ForwardingProxy
  ) throws -> Result {
    guard let plan = requirement.plan, let layout = requirement.layout,
      let types = requirement.types
    else { return try requirement.checked(a, on: proxy) }
    return try plan.withInvocation { call in
      try call.lend(a, by: layout) {
        try call.send(compared: requirement.selector, to: proxy)
        return try call.fittingAnswer(as: Result.self, types.result)
      }
    }
  }

  /// Sends a message of two arguments.
  @inlinable
  public static func send<Result, A, B>(
    _ requirement: Requirement<Result, A, B>, _ a: A, _ b: B,
    through proxy: ForwardingProxy
  ) throws -> Result {
    guard let plan = requirement.plan, let layout = requirement.layout,
      let types = requirement.types
    else { return try requirement.checked(a, b, on: proxy) }
    return try plan.withInvocation { call in
      try call.lend(a, b, by: layout) {
        try call.send(compared: requirement.selector, to: proxy)
        return try call.fittingAnswer(as: Result.self, types.result)
      }
    }
  }

  /// Sends a message of three arguments.
  @inlinable
  public static func send<Result, A, B, C>(
    _ requirement: Requirement<Result, A, B, C>, _ a: A, _ b: B,
    _ c: C,
    through proxy: ForwardingProxy
  ) throws -> Result {
    guard let plan = requirement.plan, let layout = requirement.layout,
      let types = requirement.types
    else { return try requirement.checked(a, b, c, on: proxy) }
    return try plan.withInvocation { call in
      try call.lend(a, b, c, by: layout) {
        try call.send(compared: requirement.selector, to: proxy)
        return try call.fittingAnswer(as: Result.self, types.result)
      }
    }
  }

  /// Sends a message of four arguments.
  @inlinable
  public static func send<Result, A, B, C, D>(
    _ requirement: Requirement<Result, A, B, C, D>, _ a: A, _ b: B,
    _ c: C, _ d: D,
    through proxy: ForwardingProxy
  ) throws -> Result {
    guard let plan = requirement.plan, let layout = requirement.layout,
      let types = requirement.types
    else { return try requirement.checked(a, b, c, d, on: proxy) }
    return try plan.withInvocation { call in
      try call.lend(a, b, c, d, by: layout) {
        try call.send(compared: requirement.selector, to: proxy)
        return try call.fittingAnswer(as: Result.self, types.result)
      }
    }
  }
}

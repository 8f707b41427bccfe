public import Forwarding
import Invocations

/// A message that a spy gets: what the spy answers, what came, and what is expected.
///
/// ```swift
/// let spy = SpyProxy(reportingTo: Printing())
/// let deposit = try Message<Int32, Int32>("deposit:")
/// spy[deposit].answer(with: 1)
/// spy[deposit].where { $0 < 0 }.answer(throwing: Refused())
/// try deposit(5, on: spy)   // 1
/// try deposit(-5, on: spy)  // throws: Refused()
/// spy[deposit].calls        // 2
/// ```
///
/// One that was narrowed by `where` is about some of the calls alone, in all that it does.
public struct SpiedMessage<Result, each Argument>: Sendable {
  let spy: SpyProxy
  /// The message's name.
  public let selector: Selector
  let prepared: PreparedMessage?
  let matches: SpyMatch?
  /// How far a call is from those that are meant, for a failure.
  let distance: SpyDistance?
  /// What the message is called in a failure.
  let text: String
  var delay = Duration.zero

  init(_ spy: SpyProxy, _ selector: Selector, _ prepared: PreparedMessage?) {
    (self.spy, self.selector, self.prepared) = (spy, selector, prepared)
    (matches, distance) = (nil, nil)
    text = "'\(selector)'"
  }

  private init(
    _ other: SpiedMessage, _ matches: @escaping SpyMatch, _ text: String,
    _ distance: SpyDistance? = nil
  ) {
    (spy, selector, prepared, delay) = (other.spy, other.selector, other.prepared, other.delay)
    let before = other.matches
    self.matches = { call in try before?(call) ?? true && matches(call) }
    self.distance = distance ?? other.distance
    self.text = other.text + text
  }

  /// The arguments of a call, which may have come from a sender of other types.
  static func arguments(
    _ call: Invocation, _ prepared: PreparedMessage?
  ) throws -> (repeat each Argument) {
    guard let prepared else { throw InvocationError.selectorNotSet }
    return try prepared.arguments(of: call, as: repeat (each Argument).self)
  }

  // MARK: Some of the calls

  /// The calls whose arguments a closure says yes to, of types that need not be `Sendable`. The closure runs where
  /// a call is sent and where the test asks; that no other thread uses an argument meanwhile is yours to see to.
  public func uncheckedWhere(
    _ matches: @escaping @Sendable (repeat each Argument) throws -> Bool
  ) -> SpiedMessage {
    SpiedMessage(
      self,
      { [prepared] call in
        let arguments = try Self.arguments(call, prepared)
        return try matches(repeat each arguments)
      }, " where a closure says so")
  }

  /// The calls with an argument of some value, among arguments of types that need not be `Sendable`. That no other
  /// thread uses what the key path reads is yours to see to.
  public func uncheckedWhere<Value: Equatable & Sendable>(
    _ argument: any KeyPath<(repeat each Argument), Value> & Sendable, equals value: Value
  ) -> SpiedMessage {
    SpiedMessage(
      self,
      { [prepared] call in try Self.arguments(call, prepared)[keyPath: argument] == value },
      " with \(String(reflecting: value))")
  }

  // MARK: What came

  /// How many calls there were.
  public var calls: Int { spy.count(selector, where: matches) }

  /// The arguments of all calls, in their order, of types that need not be `Sendable`. That their senders use them
  /// on no other thread meanwhile is yours to see to.
  public var uncheckedReceived: [(repeat each Argument)] {
    var found: [(repeat each Argument)] = []
    for call in spy.kept(selector, where: matches, marking: true) {
      if let arguments = try? Self.arguments(call.invocation, prepared) { found.append(arguments) }
    }
    return found
  }
}

// What the test gets from the thread of a sender, whom the spy does not stop from going on with it.
extension SpiedMessage where repeat each Argument: Sendable {
  /// The arguments of all calls, in their order. Of a variable (`inout`), the value that it had.
  public var received: [(repeat each Argument)] { uncheckedReceived }

  /// The calls whose arguments a closure says yes to. One that throws says no.
  public func `where`(
    _ matches: @escaping @Sendable (repeat each Argument) throws -> Bool
  ) -> SpiedMessage {
    uncheckedWhere(matches)
  }

  /// The calls with an argument of some value, which is named by its position among several: `\.1`.
  public func `where`<Value: Equatable & Sendable>(
    _ argument: any KeyPath<(repeat each Argument), Value> & Sendable, equals value: Value
  ) -> SpiedMessage {
    uncheckedWhere(argument, equals: value)
  }
}

extension SpiedMessage where repeat each Argument: Equatable & Sendable {
  /// The calls with these arguments.
  public func with(_ values: repeat each Argument) -> SpiedMessage {
    let wanted = (repeat each values)
    var texts: [String] = []
    for value in repeat each values { texts.append(String(reflecting: value)) }
    let distance: SpyDistance = { [prepared] call in
      var others = 0
      let given = try Self.arguments(call, prepared)
      for (one, other) in repeat (each given, each wanted) {
        if !isEqual(one, other) { others += 1 }
      }
      return others
    }
    return SpiedMessage(
      self, { try distance($0) == 0 }, "(\(texts.joined(separator: ", ")))", distance)
  }
}

private func isEqual<Value: Equatable>(_ one: Value, _ other: Value) -> Bool { one == other }

extension SpyProxy {
  /// A message that the spy gets.
  public subscript<Result, each Argument>(
    message: Message<Result, repeat each Argument>
  ) -> SpiedMessage<Result, repeat each Argument> {
    SpiedMessage(self, message.selector, message.prepared)
  }
}

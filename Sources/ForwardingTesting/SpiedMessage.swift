// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

/// A message of a spy: its answers, its received calls, and its expectations.
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
/// A message that was narrowed by `where` concerns only the matching calls, in everything that it
/// does.
public struct SpiedMessage<Result, each Argument>: Sendable {
  let spy: SpyProxy
  /// The selector of the message.
  public let selector: Selector
  let prepared: PreparedMessage?
  let matches: SpyMatch?
  /// The number of arguments in which a call differs from the wanted ones, to sort calls in a
  /// failure.
  let distance: SpyDistance?
  /// The description of the message in a failure.
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

  /// The arguments of a call. A caller may have sent it with other types.
  static func arguments(
    _ call: Invocation, _ prepared: PreparedMessage?
  ) throws -> (repeat each Argument) {
    guard let prepared else { throw InvocationError.selectorNotSet }
    return try prepared.arguments(of: call, as: repeat (each Argument).self)
  }

  // MARK: Some of the calls

  /// Narrows the message to calls whose arguments satisfy a closure. The argument types need not be
  /// `Sendable`. The closure runs on the thread of the caller and on the thread of the test. You
  /// must ensure that no other thread uses an argument at the same time.
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

  /// Narrows the message to calls with an argument equal to a value. The argument types need not be
  /// `Sendable`. You must ensure that no other thread uses the value behind the key path at the
  /// same time.
  public func uncheckedWhere<Value: Equatable & Sendable>(
    _ argument: any KeyPath<(repeat each Argument), Value> & Sendable, equals value: Value
  ) -> SpiedMessage {
    SpiedMessage(
      self,
      { [prepared] call in try Self.arguments(call, prepared)[keyPath: argument] == value },
      " with \(String(reflecting: value))")
  }

  // MARK: Received calls

  /// The number of calls.
  public var calls: Int { spy.count(selector, where: matches) }

  /// The arguments of all calls, in the order of the calls. The argument types need not be
  /// `Sendable`. You must ensure that the callers use them on no other thread at the same time.
  public var uncheckedReceived: [(repeat each Argument)] {
    var found: [(repeat each Argument)] = []
    for call in spy.kept(selector, where: matches, marking: true) {
      if let arguments = try? Self.arguments(call.invocation, prepared) { found.append(arguments) }
    }
    return found
  }
}

// Arguments come from the thread of the caller, and the spy cannot stop that thread from using
// them.
extension SpiedMessage where repeat each Argument: Sendable {
  /// The arguments of all calls, in the order of the calls. An `inout` argument has its value at
  /// the call.
  public var received: [(repeat each Argument)] { uncheckedReceived }

  /// Narrows the message to calls whose arguments satisfy a closure. A closure that throws does not
  /// match.
  public func `where`(
    _ matches: @escaping @Sendable (repeat each Argument) throws -> Bool
  ) -> SpiedMessage {
    uncheckedWhere(matches)
  }

  /// Narrows the message to calls with an argument equal to a value. The key path gives the
  /// argument's position if there are several: `\.1`.
  public func `where`<Value: Equatable & Sendable>(
    _ argument: any KeyPath<(repeat each Argument), Value> & Sendable, equals value: Value
  ) -> SpiedMessage {
    uncheckedWhere(argument, equals: value)
  }
}

extension SpiedMessage where repeat each Argument: Equatable & Sendable {
  /// Narrows the message to calls with these arguments.
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
  /// Returns a message of the spy.
  public subscript<Result, each Argument>(
    message: Message<Result, repeat each Argument>
  ) -> SpiedMessage<Result, repeat each Argument> {
    SpiedMessage(self, message.selector, PreparedMessage.of(message))
  }
}

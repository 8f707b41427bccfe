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
  private(set) var step: SpiedStep
  let prepared: PreparedMessage?

  init(_ spy: SpyProxy, _ selector: Selector, _ prepared: PreparedMessage?) {
    step = SpiedStep(spy: spy, selector: selector, text: "'\(selector)'")
    self.prepared = prepared
  }

  /// The selector of the message.
  public var selector: Selector { step.selector }

  /// The number of calls.
  public var calls: Int { step.count }

  /// The same message for arguments that need not be `Sendable`.
  public var unchecked: UncheckedMessage<Result, repeat each Argument> {
    UncheckedMessage(message: self)
  }

  /// The message for those calls that match as well.
  func narrowed(_ text: String, _ matches: @escaping SpyMatch) -> SpiedMessage {
    var message = self
    let before = step.matches
    message.step.matches = { call in try before?(call) ?? true && matches(call) }
    message.step.text += text
    return message
  }

  /// The arguments of a call. A caller may have sent it with other types.
  static func arguments(
    _ call: Invocation, _ prepared: PreparedMessage?
  ) throws -> (repeat each Argument) {
    guard let prepared else { throw InvocationError.selectorNotSet }
    return try prepared.arguments(of: call, as: repeat (each Argument).self)
  }
}

/// A message of a spy without the compiler's check that its arguments are `Sendable`: they come
/// from the thread of the caller, and the spy cannot stop that thread from using them. You must
/// ensure that no other thread uses an argument at the same time.
///
/// ```swift
/// final class Drawer { var total = 5 }
/// let spy = SpyProxy(reportingTo: Printing())
/// let opened = try Message<NoResult, Drawer>("didOpen:")
/// try opened(Drawer(), on: spy)
/// spy[opened].unchecked.received.map(\.total)           // [5]
/// spy[opened].unchecked.where { $0.total == 0 }.calls  // 0
/// ```
public struct UncheckedMessage<Result, each Argument>: Sendable {
  let message: SpiedMessage<Result, repeat each Argument>

  /// The arguments of all calls, in the order of the calls.
  public var received: [(repeat each Argument)] {
    message.step.calls.compactMap {
      try? SpiedMessage<Result, repeat each Argument>.arguments($0.invocation, message.prepared)
    }
  }

  /// Narrows the message to calls whose arguments satisfy a closure, which runs on the thread of
  /// the caller and on the thread of the test. A closure that throws does not match.
  public func `where`(
    _ matches: @escaping @Sendable (repeat each Argument) throws -> Bool
  ) -> SpiedMessage<Result, repeat each Argument> {
    message.narrowed(" that its closure accepts") { [prepared = message.prepared] call in
      let arguments = try SpiedMessage<Result, repeat each Argument>.arguments(call, prepared)
      return try matches(repeat each arguments)
    }
  }
}

extension SpiedMessage where repeat each Argument: Sendable {
  /// The arguments of all calls, in the order of the calls. An `inout` argument has its value at
  /// the call.
  public var received: [(repeat each Argument)] { unchecked.received }

  /// Narrows the message to calls whose arguments satisfy a closure. A closure that throws does not
  /// match.
  public func `where`(
    _ matches: @escaping @Sendable (repeat each Argument) throws -> Bool
  ) -> SpiedMessage {
    unchecked.where(matches)
  }

  /// Narrows the message to calls with an argument equal to a value. The key path gives the
  /// argument's position if there are several: `\.1`.
  public func `where`<Value: Equatable & Sendable>(
    _ argument: any KeyPath<(repeat each Argument), Value> & Sendable, equals value: Value
  ) -> SpiedMessage {
    narrowed(" with \(String(reflecting: value))") { [prepared] call in
      try Self.arguments(call, prepared)[keyPath: argument] == value
    }
  }
}

extension SpiedMessage where repeat each Argument: Equatable & Sendable {
  /// Narrows the message to calls with these arguments.
  public func with(_ values: repeat each Argument) -> SpiedMessage {
    let wanted = (repeat each values)
    var texts: [String] = []
    for value in repeat each values { texts.append(String(reflecting: value)) }
    return narrowed("(\(texts.joined(separator: ", ")))") { [prepared] call in
      let given = try Self.arguments(call, prepared)
      for (one, other) in repeat (each given, each wanted) {
        guard isEqual(one, other) else { return false }
      }
      return true
    }
  }
}

private func isEqual<Value: Equatable>(_ one: Value, _ other: Value) -> Bool { one == other }

extension SpyProxy {
  /// Returns a message of the spy.
  public subscript<Result, each Argument>(
    message: Message<Result, repeat each Argument>
  ) -> SpiedMessage<Result, repeat each Argument> {
    SpiedMessage(self, message.selector, message.prepared)
  }
}

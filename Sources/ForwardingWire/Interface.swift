// SPDX-License-Identifier: Apache-2.0
public import Invocations
public import TypeEncodings
@_exported public import Forwarding

/// The messages that may be sent from one process to another, with the types that this process has
/// for them.
///
/// Messages that are not in the list are refused, in both directions. A list is made by hand, or
/// from a proxy, whose protocol is then the list:
///
/// ```swift
/// let deposit = try Message<Int32, Int32>("deposit:")
/// var bank = Interface("bank")
/// try bank.allow(deposit)
/// let bytes = try bank.encode(deposit.invocation(5))
/// try bank.decode(bytes).invoke(on: account)
/// account.balance  // 105
/// ```
///
/// Numbers, `Bool`, text, `[UInt8]`, structures of numbers, and Swift types that are `Codable` can
/// be sent. All other types are refused when a message is allowed, not when it arrives. Received
/// bytes only select from the list: no part of them is interned or stored, and their types are
/// compared with those of this process.
public struct Interface: Sendable {
  /// The name that both sides know.
  public let name: String
  /// Limits that are checked before memory is allocated.
  public let limits: WireLimits
  package let nameBytes: [UInt8]
  private var bySelector: [Selector: InterfaceMessage] = [:]
  /// The messages by the part of their fingerprint that depends on their names only.
  private var byFingerprint: [UInt32: InterfaceMessage] = [:]

  /// Makes an interface without messages. Its name has at most 255 bytes: with a longer one, no
  /// message can be allowed.
  public init(_ name: String, limits: WireLimits = WireLimits()) {
    self.limits = limits
    self.name = name
    nameBytes = Array(name.utf8)
  }

  /// The messages, in alphabetical order.
  public var messages: [InterfaceMessage] {
    bySelector.values.sorted { $0.selector.name < $1.selector.name }
  }

  /// Allows a message with Swift types.
  ///
  /// - Throws: ``InterfaceError`` if the message cannot be sent, or is there with other types.
  public mutating func allow<Result: Sendable, each Argument: Sendable>(
    _ message: Message<Result, repeat each Argument>
  ) throws(InterfaceError) {
    try allow(message.selector, message.plan)
  }

  /// Allows a message that is awaited, as one that is not.
  public mutating func allow<Result: Sendable, each Argument: Sendable>(
    _ message: AsyncMessage<Result, repeat each Argument>
  ) throws(InterfaceError) {
    try allow(message.message)
  }

  /// Allows a message by its signature.
  ///
  /// - Throws: ``InterfaceError`` if the message cannot be sent, or is there with other types.
  public mutating func allow(
    _ selector: Selector, _ signature: MethodSignature
  ) throws(InterfaceError) {
    let plan: CallPlan
    do { plan = try CallPlan.shared(for: signature) } catch {
      throw .invalid(selector: selector.name, error)
    }
    try allow(selector, plan)
  }

  /// Allows all messages of a proxy's protocol and of the protocols that it inherits.
  ///
  /// - Throws: ``InterfaceError`` if one of the messages cannot be sent, or is there with other
  ///   types, or if the messages are not known. No message is allowed then.
  public mutating func allow<Proxy: GeneratedProxy>(
    _ proxy: Proxy.Type
  ) throws(InterfaceError) where Proxy.__Values: Sendable {
    // A proxy is an object of the protocol, so its class can be prepared as that of any target.
    guard let object = Proxy(forwardingTo: MulticastProxy()) as? Proxy.__Target else {
      throw .noMessages(proxy: SwiftType(proxy))
    }
    Proxy.__prepare(object)
    let table = MethodTable.of(proxy)
    var all = self
    for selector in table.selectors {
      if let method = table.own(selector) { try all.allow(selector, method.plan) }
    }
    guard !table.selectors.isEmpty else { throw .noMessages(proxy: SwiftType(proxy)) }
    self = all
  }

  /// Allows a message by its call plan, whose places may have Swift types.
  package mutating func allow(
    _ selector: Selector, _ plan: CallPlan
  ) throws(InterfaceError) {
    guard nameBytes.count <= WireLimits.interfaceName else {
      throw .limit(
        of: "bytes of the interface's name", WireLimits.interfaceName, given: nameBytes.count)
    }
    let message = try InterfaceMessage(
      selector, plan, index: bySelector.count, of: nameBytes, limits)
    if let known = self.message(selector) {
      guard known.encodingBytes == message.encodingBytes, known.takes(plan) else {
        throw .duplicate(
          selector: selector.name, expected: known.encoding, given: message.encoding)
      }
      return
    }
    if let other = self.message(message.fingerprint) {
      throw .sameFingerprint(selector: selector.name, other: other.selector.name)
    }
    bySelector[selector] = message
    byFingerprint[message.fingerprint.selector] = message
  }

  /// The message of a selector; nil if it is not allowed.
  package func message(_ selector: Selector) -> InterfaceMessage? { bySelector[selector] }

  /// The message of a received fingerprint, whose types may differ; nil if it is not allowed.
  package func message(_ fingerprint: Fingerprint) -> InterfaceMessage? {
    byFingerprint[fingerprint.selector]
  }

  /// The message of a received name, which is only looked up.
  package func message(named name: [UInt8]) -> InterfaceMessage? {
    let message = message(Fingerprint(nameBytes, name, []))
    return message?.name == name ? message : nil
  }
}

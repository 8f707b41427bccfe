// SPDX-License-Identifier: Apache-2.0
public import Invocations
public import TypeEncodings

/// One message of an ``Interface``: its name, its types in this process, and how they are encoded.
///
/// ```swift
/// var bank = Interface("bank")
/// try bank.allow(Message<Int32, Int32, String>("deposit:from:"))
/// bank.messages.map { "\($0.selector) \($0.encoding)" }  // ["deposit:from: i@:i*"]
/// ```
public final class InterfaceMessage: Sendable {
  /// The message's name.
  public let selector: Selector
  /// The types in the canonical spelling, by which processes compare them. It omits the names of
  /// structures.
  public let encoding: String
  /// The number of messages that the interface had before this one.
  package let index: Int
  /// The call plan of the message.
  package let plan: CallPlan
  package let name: [UInt8]
  package let encodingBytes: [UInt8]
  package let fingerprint: Fingerprint
  private let arguments: [WirePlace]
  let result: WirePlace

  init(
    _ selector: Selector, _ plan: CallPlan, index: Int, of interface: [UInt8],
    _ limits: WireLimits
  ) throws(InterfaceError) {
    self.index = index
    let signature = plan.signature
    guard signature.shape == .method else {
      throw .invalid(selector: selector.name, .notAMethod(signature))
    }
    // A string literal may be longer than a name that can be interned.
    guard selector.name.utf8.count <= Selector.maximumLength else {
      throw .invalid(
        selector: String(selector.name.prefix(64)), .invalidSelector(selector.name))
    }
    let (count, expected) = (signature.numberOfDeclaredArguments, selector.numberOfArguments)
    guard count == expected else {
      throw .invalid(
        selector: selector.name, .argumentCount(expected: expected, given: count))
    }
    guard count <= WireLimits.arguments else {
      throw .limit(of: "arguments of '\(selector)'", WireLimits.arguments, given: count)
    }
    func place(_ index: Int, _ type: TypeEncoding) throws(InterfaceError) -> WirePlace {
      do {
        return try WirePlace(type, at: index, of: plan, limits)
      } catch {
        throw .refused(
          selector: selector.name, index: index == 0 ? nil : index - 1, type: "\(type)", error)
      }
    }
    result = try place(0, signature.resultType)
    var arguments: [WirePlace] = []
    for (index, type) in signature.argumentTypes.enumerated().dropFirst(2) {
      arguments.append(try place(index + 1, type))
    }
    self.arguments = arguments
    self.selector = selector
    self.plan = plan
    encoding = result.spelling + "@:" + arguments.map(\.spelling).joined()
    name = Array(selector.name.utf8)
    encodingBytes = Array(encoding.utf8)
    guard encodingBytes.count <= WireLimits.encoding else {
      throw .limit(
        of: "bytes of the encoding of '\(selector)'", WireLimits.encoding,
        given: encodingBytes.count)
    }
    fingerprint = Fingerprint(interface, name, encodingBytes)
  }

  /// The signature of the message in this process.
  public var signature: MethodSignature { plan.signature }

  /// Whether calls of another plan are calls of this message, when text is converted.
  package func takes(_ other: CallPlan) -> Bool {
    other.isInterchangeable(with: plan) || other.differsInText(from: plan)
  }
}

// The values of a message, one behind the other in the order of the encoding.
extension InterfaceMessage {
  /// Encodes the arguments of a call that the message takes.
  package func writeArguments(
    of call: Invocation, to writer: inout WireWriter
  ) throws(WireError) {
    for place in arguments { try place.write(call, to: &writer) }
  }

  /// Decodes the arguments of a call of this message's plan.
  package func readArguments(
    of call: Invocation, from reader: inout WireReader
  ) throws(WireError) {
    for place in arguments { try place.read(call, from: &reader) }
  }
}

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
  let arguments: [WirePlace]
  /// See ``WirePlace/wholeSize``.
  private let wholeSizes: [Int]
  let result: WirePlace
  private let wholeResult: Int
  let limits: WireLimits

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
    guard signature.numberOfDeclaredArguments == selector.numberOfArguments else {
      throw .invalid(
        selector: selector.name,
        .argumentCount(
          expected: selector.numberOfArguments, given: signature.numberOfDeclaredArguments))
    }
    guard signature.numberOfDeclaredArguments <= WireLimits.arguments else {
      throw .tooManyArguments(
        selector: selector.name, limit: WireLimits.arguments,
        given: signature.numberOfDeclaredArguments)
    }
    func place(_ index: Int, _ type: TypeEncoding) throws(InterfaceError) -> WirePlace {
      do {
        return try WirePlace(type, PlaceContent(of: plan, place: index), limits)
      } catch {
        throw .refused(
          selector: selector.name, index: index == 0 ? nil : index - 1, type: "\(type)", error)
      }
    }
    result = try place(0, signature.resultType)
    wholeResult = result.wholeSize
    var arguments: [WirePlace] = []
    for (index, type) in signature.argumentTypes.enumerated().dropFirst(2) {
      arguments.append(try place(index + 1, type))
    }
    self.arguments = arguments
    wholeSizes = arguments.map(\.wholeSize)
    self.selector = selector
    self.plan = plan
    self.limits = limits
    encoding = result.spelling + "@:" + arguments.map(\.spelling).joined()
    name = Array(selector.name.utf8)
    encodingBytes = Array(encoding.utf8)
    guard encodingBytes.count <= WireLimits.encoding else {
      throw .encodingTooLong(
        selector: selector.name, limit: WireLimits.encoding, given: encodingBytes.count)
    }
    fingerprint = Fingerprint(interface, name, encodingBytes)
  }

  /// The signature of the message in this process.
  public var signature: MethodSignature { plan.signature }

  /// Whether calls of another plan are calls of this message, when text is converted.
  package func takes(_ other: CallPlan) -> Bool {
    PlaceContent.isEqual(of: other, and: plan)
  }
}

// The values of a message, one behind the other in the order of the encoding.
extension InterfaceMessage {
  /// Encodes the arguments of a call that the message takes.
  package func writeArguments(
    of call: Invocation, to writer: inout WireWriter
  ) throws(WireError) {
    for index in wholeSizes.indices {
      let size = wholeSizes[index]
      if size > 0 {
        try writer.append(index + 3, of: call, whole: size)
      } else if size < 0 {
        try writer.append(index + 3, flagOf: call)
      } else {
        try write(arguments[index], index + 3, of: call, to: &writer)
      }
    }
  }

  /// Encodes the result of a call.
  package func writeResult(of call: Invocation, to writer: inout WireWriter) throws(WireError) {
    if case .nothing = result.way { return }
    guard call.call.hasReadableResult else { throw WireError(.noResult, at: writer.count) }
    if wholeResult > 0 { return try writer.append(0, of: call, whole: wholeResult) }
    try write(result, 0, of: call, to: &writer)
  }

  /// Decodes the arguments of a call of this message's plan.
  package func readArguments(
    of call: Invocation, from reader: inout WireReader
  ) throws(WireError) {
    for index in wholeSizes.indices {
      let size = wholeSizes[index]
      if size > 0 {
        try reader.set(index + 3, of: call, whole: size)
      } else if size < 0 {
        try reader.set(index + 3, flagOf: call)
      } else {
        try read(arguments[index], index + 3, of: call, from: &reader)
      }
    }
  }

  /// Decodes the result of a call of this message's plan.
  package func readResult(of call: Invocation, from reader: inout WireReader) throws(WireError) {
    if wholeResult > 0 { return try reader.set(0, of: call, whole: wholeResult) }
    try read(result, 0, of: call, from: &reader)
  }

  private func write(
    _ place: WirePlace, _ index: Int, of call: Invocation, to writer: inout WireWriter
  ) throws(WireError) {
    let start = writer.count
    do {
      switch place.way {
      case .nothing: return
      case .numbers(let layout): try writer.append(index, of: call, layout)
      case .text:
        let text =
          index == 0
          ? try call.result(as: String?.self) : try call.argument(at: index - 1, as: String?.self)
        guard let text else { return try writer.append(UInt32.max) }
        try writer.append(counted: text, limit: limits.text)
      case .bytes:
        let bytes =
          index == 0
          ? try call.result(as: [UInt8].self) : try call.argument(at: index - 1, as: [UInt8].self)
        try writer.append(counted: bytes, limit: limits.text)
      case .value(let type):
        let bytes = try ValueJSON.text(ofPlace: index, of: call, type, limits, at: start)
        try writer.append(counted: bytes, limit: limits.text)
      }
    } catch {
      throw Self.wrapped(error, place, at: start)
    }
  }

  private func read(
    _ place: WirePlace, _ index: Int, of call: Invocation, from reader: inout WireReader
  ) throws(WireError) {
    let start = reader.offset
    do {
      switch place.way {
      case .nothing: return
      case .numbers(let layout): try reader.set(index, of: call, layout)
      case .text(let isOfC):
        let text = try reader.optionalText(limits)
        if isOfC, text?.utf8.contains(0) == true { throw WireError(.embeddedNUL, at: start) }
        if index == 0 {
          try call.setResult(text)
        } else {
          try call.setArgument(text, at: index - 1)
        }
      case .bytes:
        let bytes = try reader.countedBytes(limits)
        if index == 0 {
          try call.setResult(bytes)
        } else {
          try call.setArgument(bytes, at: index - 1)
        }
      case .value(let type):
        let json = try reader.countedBytes(limits)
        try ValueJSON.set(index, of: call, to: json, type, limits, at: start)
      }
    } catch {
      throw Self.wrapped(error, place, at: start)
    }
  }

  private static func wrapped(_ error: any Error, _ place: WirePlace, at offset: Int) -> WireError {
    switch error {
    case let error as WireError: error
    case let error as InvocationError: WireError(.refused(error), at: offset)
    default: WireError(.value(type: place.spelling, ValueJSON.reason(error)), at: offset)
    }
  }
}

extension WireWriter {
  /// Appends the number of bytes, and the bytes.
  package mutating func append(counted bytes: [UInt8], limit: Int) throws(WireError) {
    guard bytes.count <= limit else {
      throw WireError(.limit(limit, given: bytes.count), at: count)
    }
    try append(UInt32(bytes.count))
    try append(bytes)
  }
}

extension WireReader {
  /// Reads the number of bytes that follow, and checks that they are there and within the limit.
  private mutating func count(_ limits: WireLimits) throws(WireError) -> Int {
    let start = offset
    let count = Int(try uint32())
    guard count <= limits.text else {
      throw WireError(.limit(limits.text, given: count), at: start)
    }
    guard count <= left else {
      throw WireError(.tooShort(expected: count, given: left), at: offset)
    }
    return count
  }

  /// Reads a number of bytes, and the bytes.
  package mutating func countedBytes(_ limits: WireLimits) throws(WireError) -> [UInt8] {
    try bytes(count(limits))
  }

  /// Reads text; nil if the value is nil.
  mutating func optionalText(_ limits: WireLimits) throws(WireError) -> String? {
    var ahead = self
    if try ahead.uint32() == .max {
      self = ahead
      return nil
    }
    return try text(count(limits))
  }
}

// SPDX-License-Identifier: Apache-2.0
public import Invocations

// A call between two processes: the fingerprint of its message, and the arguments. Integers are
// little-endian.
//
//   0  4  fingerprint of interface and selector
//   4  4  fingerprint of interface, selector and encoding
//   8     the arguments
extension Interface {
  /// Encodes a call of one of the messages, for a process that has the message with the same types.
  ///
  /// - Throws: ``WireError`` if the interface does not have the message with these types, a value
  ///   cannot be encoded, or a limit is exceeded.
  public func encode(_ call: Invocation) throws(WireError) -> [UInt8] { try encodeSent(call) }

  /// Decodes a call. It has a selector and arguments, and no target.
  ///
  /// - Throws: ``WireError`` if the bytes are not a call of one of the messages, with these types.
  public func decode(_ bytes: [UInt8]) throws(WireError) -> Invocation {
    let given = try fingerprint(of: bytes[...])
    guard let message = message(given) else { throw WireError(.unknownSelector("\(given)"), at: 0) }
    guard message.fingerprint == given else {
      throw WireError(
        .encoding(
          selector: message.selector.name, expected: message.encoding, given: "\(given)"), at: 4)
    }
    let call = Invocation(message.plan)
    try decodeSent(bytes[...], as: message, into: call)
    return call
  }

  /// Encodes a call behind `room` zeros, which the caller overwrites with a header.
  package func encodeSent(_ call: Invocation, behind room: Int = 0) throws(WireError) -> [UInt8] {
    let message = try message(of: call)
    return try WireWriter.bytes(behind: room, limit: limits.message) {
      (writer) throws(WireError) in
      try writer.append(message.fingerprint.selector)
      try writer.append(message.fingerprint.types)
      try message.writeArguments(of: call, to: &writer)
    }
  }

  /// The fingerprint of a received call.
  package func fingerprint(of bytes: ArraySlice<UInt8>) throws(WireError) -> Fingerprint {
    guard bytes.count <= limits.message else {
      throw WireError(.limit(limits.message, given: bytes.count), at: 0)
    }
    return try WireReader.over(bytes) { (reader) throws(WireError) in
      try Fingerprint(selector: reader.uint32(), types: reader.uint32())
    }
  }

  /// Decodes a received call, whose fingerprint is that of the message, into a call of its plan.
  package func decodeSent(
    _ bytes: ArraySlice<UInt8>, as message: InterfaceMessage, into call: Invocation
  ) throws(WireError) {
    try WireReader.over(bytes) { (reader) throws(WireError) in
      try reader.skip(Fingerprint.size)
      do throws(InvocationError) { try call.setSelector(message.selector) } catch {
        throw WireError(.refused(error), at: reader.offset)
      }
      try message.readArguments(of: call, from: &reader)
      try reader.finish()
    }
  }

  /// Encodes the result of a call of a message's plan, behind `room` zeros, which the caller
  /// overwrites with a header.
  package func encodeResult(
    of call: Invocation, as message: InterfaceMessage, behind room: Int = 0
  ) throws(WireError) -> [UInt8] {
    try WireWriter.bytes(behind: room, limit: limits.message) { (writer) throws(WireError) in
      if message.result.isNothing { return }
      guard call.call.hasReadableResult else { throw WireError(.noResult, at: 0) }
      try message.result.write(call, to: &writer)
    }
  }

  /// Decodes a result of another process, and sets that of the call to it.
  package func decodeResult(
    _ bytes: ArraySlice<UInt8>, into call: Invocation
  ) throws(WireError) {
    let message = try message(of: call)
    try WireReader.over(bytes) { (reader) throws(WireError) in
      try message.result.read(call, from: &reader)
      try reader.finish()
    }
  }

  /// The message of a call, after comparing its types.
  package func message(of call: Invocation) throws(WireError) -> InterfaceMessage {
    guard let selector = call.selector else { throw WireError(.noSelector, at: 0) }
    guard let message = message(selector) else {
      throw WireError(.unknownSelector(selector.name), at: 0)
    }
    guard message.takes(call.plan) else {
      throw WireError(
        .encoding(
          selector: selector.name, expected: message.encoding, given: "\(call.methodSignature)"),
        at: 0)
    }
    return message
  }
}

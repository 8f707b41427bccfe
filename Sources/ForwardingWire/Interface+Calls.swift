// SPDX-License-Identifier: Apache-2.0
// An encoded call that is kept contains all that another process needs to find its message, in any
// later version. Integers are little-endian. Calls between processes that both run are shorter: see
// Interface+Sending.
//
//   0  2  version, 1
//   2  2  bytes of the interface's name
//   4  2  bytes of the selector's name
//   6  2  bytes of the encoding
//   8  4  bytes of the arguments
//  12     the three texts, then the arguments
extension Interface {
  /// The version of the format.
  static let version: UInt16 = 1

  /// Encodes a call of one of the messages.
  ///
  /// - Throws: ``WireError`` if the interface does not have the message with these types, a value
  ///   cannot be encoded, or a limit is exceeded.
  public func encode(_ call: Invocation) throws(WireError) -> [UInt8] {
    let message = try message(of: call)
    return try WireWriter.bytes(limit: limits.message) { writer throws(WireError) in
      try writer.append(Self.version)
      let texts = [nameBytes, message.name, message.encodingBytes]
      for text in texts { try writer.append(UInt16(text.count)) }
      try writer.append(UInt32(0))
      for text in texts { try writer.append(text) }
      let start = writer.count
      try message.writeArguments(of: call, to: &writer)
      writer.set(UInt32(writer.count - start), at: 8)
    }
  }

  /// Decodes a call. It has a selector and arguments, and no target.
  ///
  /// - Throws: ``WireError`` if the bytes are not a call of one of the messages, with these types.
  public func decode(_ bytes: [UInt8]) throws(WireError) -> Invocation {
    try WireReader.over(bytes[...]) { (reader) throws(WireError) in
      let names = try names(at: &reader)
      let message = try message(names.interface, names.selector, names.encoding)
      let call = Invocation(message.plan)
      try read(call, as: message, from: &reader)
      return call
    }
  }

  /// Reads the arguments of a message, up to the end.
  func read(
    _ call: Invocation, as message: InterfaceMessage, from reader: inout WireReader
  ) throws(WireError) {
    do throws(InvocationError) { try call.setSelector(message.selector) } catch {
      throw WireError(.refused(error), at: reader.offset)
    }
    try message.readArguments(of: call, from: &reader)
    try reader.finish()
  }

  private func names(
    at reader: inout WireReader
  ) throws(WireError) -> (interface: [UInt8], selector: [UInt8], encoding: [UInt8]) {
    guard reader.left <= limits.message else {
      throw WireError(.limit(limits.message, given: reader.left), at: 0)
    }
    let version = try reader.uint16()
    guard version == Self.version else {
      throw WireError(.version(expected: Int(Self.version), given: Int(version)), at: 0)
    }
    let counts = try (reader.uint16(), reader.uint16(), reader.uint16())
    let size = try Int(reader.uint32())
    let expected = Int(counts.0) + Int(counts.1) + Int(counts.2) + size
    guard expected == reader.left else {
      throw WireError(
        expected > reader.left
          ? .tooShort(expected: expected, given: reader.left)
          : .tooLong(expected: expected, given: reader.left), at: reader.offset)
    }
    return try (
      reader.bytes(Int(counts.0)), reader.bytes(Int(counts.1)), reader.bytes(Int(counts.2))
    )
  }

  /// Encodes the result of a call of a message's plan, behind `room` zeros, which the caller
  /// overwrites with a header.
  package func encodeResult(
    of call: Invocation, as message: InterfaceMessage, behind room: Int = 0
  ) throws(WireError) -> [UInt8] {
    try WireWriter.bytes(behind: room, limit: limits.message) {
      (writer) throws(WireError) in try message.writeResult(of: call, to: &writer)
    }
  }

  /// Decodes a result of another process, and sets that of the call to it.
  package func decodeResult(
    _ bytes: ArraySlice<UInt8>, into call: Invocation
  ) throws(WireError) {
    let message = try message(of: call)
    try WireReader.over(bytes) { (reader) throws(WireError) in
      try message.readResult(of: call, from: &reader)
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

  /// The message that the names in an encoded call select.
  package func message(
    _ interface: [UInt8], _ selector: [UInt8], _ encoding: [UInt8]
  ) throws(WireError) -> InterfaceMessage {
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(400), as: UTF8.self) }
    guard interface == nameBytes else {
      throw WireError(.interface(expected: name, given: text(interface)), at: 0)
    }
    guard let message = message(named: selector) else {
      throw WireError(.unknownSelector(text(selector)), at: interface.count)
    }
    guard encoding == message.encodingBytes else {
      throw WireError(
        .encoding(selector: text(selector), expected: message.encoding, given: text(encoding)),
        at: interface.count + selector.count)
    }
    return message
  }
}

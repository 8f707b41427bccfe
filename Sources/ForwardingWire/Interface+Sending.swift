// SPDX-License-Identifier: Apache-2.0
// A call between two processes that both run: the fingerprint of its message, and the arguments.
// Integers are little-endian.
//
//   0  4  fingerprint of interface and selector
//   4  4  fingerprint of interface, selector and encoding
//   8     the arguments
extension Interface {
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
      try read(call, as: message, from: &reader)
    }
  }
}

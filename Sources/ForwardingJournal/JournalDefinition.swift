// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The definition of a message in a file. All records of the message share its bytes. They are
/// compared as bytes, because two names may have equal characters.
struct Definition: Hashable, Sendable {
  let interface: [UInt8]
  let selector: [UInt8]
  let encoding: [UInt8]

  init(_ interface: Interface, _ message: InterfaceMessage) {
    self.interface = interface.nameBytes
    selector = message.name
    encoding = message.encodingBytes
  }

  init(from reader: inout WireReader) throws(WireError) {
    let counts = try (reader.uint16(), reader.uint16(), reader.uint16())
    interface = try reader.bytes(Int(counts.0))
    selector = try reader.bytes(Int(counts.1))
    encoding = try reader.bytes(Int(counts.2))
  }

  func write(to writer: inout WireWriter) throws(WireError) {
    for part in [interface, selector, encoding] { try writer.append(UInt16(part.count)) }
    for part in [interface, selector, encoding] { try writer.append(part) }
  }
}

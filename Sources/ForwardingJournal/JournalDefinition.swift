// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The definition of a message in a file: interface, selector and encoding. All records of the
/// message share it, and so its strings.
final class Definition: Sendable {
  let interface: [UInt8]
  let selector: [UInt8]
  let encoding: [UInt8]
  /// The same three values as strings, made once.
  let texts: (interface: String, selector: String, encoding: String)

  init(_ interface: Interface, _ message: InterfaceMessage) {
    self.interface = interface.nameBytes
    selector = message.name
    encoding = message.encodingBytes
    texts = Self.texts(self.interface, selector, encoding)
  }

  init(from reader: inout WireReader) throws(WireError) {
    let counts = try (
      reader.uint16(), reader.uint16(), reader.uint16()
    )
    interface = try reader.bytes(Int(counts.0))
    selector = try reader.bytes(Int(counts.1))
    encoding = try reader.bytes(Int(counts.2))
    texts = Self.texts(interface, selector, encoding)
  }

  private static func texts(
    _ interface: [UInt8], _ selector: [UInt8], _ encoding: [UInt8]
  ) -> (String, String, String) {
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    return (text(interface), text(selector), text(encoding))
  }

  func write(to writer: inout WireWriter) throws(WireError) {
    for part in [interface, selector, encoding] { try writer.append(UInt16(part.count)) }
    for part in [interface, selector, encoding] { try writer.append(part) }
  }
}

extension Definition: Hashable {
  static func == (one: Definition, other: Definition) -> Bool {
    one === other
      || one.selector == other.selector && one.encoding == other.encoding
        && one.interface == other.interface
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(selector)
    hasher.combine(encoding)
    hasher.combine(interface)
  }
}

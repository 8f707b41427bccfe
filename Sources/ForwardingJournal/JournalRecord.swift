// SPDX-License-Identifier: Apache-2.0
public import ForwardingWire

/// One recorded call of a journal: data from a file, independent of the types of this process.
///
/// ```swift
/// func show(_ reader: JournalReader) throws {
///   while let record = try reader.next() { print(record.sequence, record.selector) }
/// }
/// ```
public struct JournalRecord: Hashable, Sendable {
  /// The sequence number, one more than that of the record before.
  public let sequence: UInt64
  /// When it was written, in nanoseconds since 1970.
  public let time: Int64
  /// Its offset in its file.
  public let offset: Int
  /// The definition that all records of the message in a file share.
  let definition: Definition
  /// The name of the interface.
  public var interface: String { String(decoding: definition.interface, as: UTF8.self) }
  /// The name of the message.
  public var selector: String { String(decoding: definition.selector, as: UTF8.self) }
  /// The type encoding of the message.
  public var encoding: String { String(decoding: definition.encoding, as: UTF8.self) }
  /// The encoded arguments.
  public let arguments: [UInt8]

  init(_ frame: JournalFrame, in scanner: JournalScanner) throws(JournalError) {
    arguments = try scanner.arguments(of: frame) { (reader) throws(WireError) in
      try reader.bytes(reader.left)
    }
    definition = scanner.definition(of: frame)
    sequence = frame.header.sequence
    time = frame.header.time
    offset = frame.offset
  }

  /// The arguments, decoded by the encoding of the message. Pass the interface's limits if they
  /// differ from the default.
  ///
  /// - Throws: `WireError` if the bytes do not match the encoding or exceed the limits.
  public func values(limits: WireLimits = WireLimits()) throws(WireError) -> [String] {
    try WireTypes(encoding, limits: limits).arguments(arguments)
  }
}

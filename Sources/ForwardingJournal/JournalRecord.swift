// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// One recorded call of a journal.
///
/// ```swift
/// func show(_ reader: JournalReader) throws {
///   while let record = try reader.next() { print(record.sequence, record.selector) }
/// }
/// ```
///
/// A record is data from a file, independent of the types of this process.
public struct JournalRecord: Hashable, Sendable {
  /// The sequence number, one more than that of the record before.
  public let sequence: UInt64
  /// When it was written, in nanoseconds since 1970.
  public let time: Int64
  /// Its offset in its file.
  public let offset: Int
  /// The definition that all records of the message in a file share.
  private let definition: Definition
  /// The name of the interface.
  public var interface: String { definition.texts.interface }
  /// The name of the message.
  public var selector: String { definition.texts.selector }
  /// The type encoding of the message.
  public var encoding: String { definition.texts.encoding }
  /// The encoded arguments.
  public let arguments: [UInt8]
  /// The outcome of the call, if it was recorded after the call was made.
  public let outcome: Outcome?

  /// The outcome of a call.
  public enum Outcome: Hashable, Sendable {
    /// The call returned, with these bytes as its result.
    case returned([UInt8])
    /// The call threw an error with this text.
    case threw(String)
  }

  init(_ frame: JournalFrame, in scanner: JournalScanner) throws(JournalError) {
    // Everything is read before a property is set: initializing and then failing costs a copy of
    // the whole.
    let (arguments, outcome) = try scanner.contents(of: frame) {
      (reader) throws(WireError) -> ([UInt8], Outcome?) in
      guard frame.kind == .outcome else { return (try reader.bytes(reader.left), nil) }
      let arguments = try reader.bytes(Int(reader.uint32()))
      let status = try reader.byte()
      switch status {
      case 0: return (arguments, .returned(try reader.bytes(reader.left)))
      case 1: return (arguments, .threw(try reader.text(reader.left)))
      default: throw WireError(.notBool(status), at: reader.offset - 1)
      }
    }
    definition = scanner.definitions[Int(frame.header.message)]
    sequence = frame.header.sequence
    time = frame.header.time
    offset = frame.offset
    self.arguments = arguments
    self.outcome = outcome
  }
}

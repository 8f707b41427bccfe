import ForwardingWire

/// One call of a journal, as it was written.
///
/// ```swift
/// func show(_ reader: JournalReader) throws {
///   while let record = try reader.next() { print(record.sequence, record.selector) }
/// }
/// ```
///
/// It is data from a file, and knows nothing of the types of this process.
public struct JournalRecord: Hashable, Sendable {
  /// Its number, one more than that of the record before.
  public let sequence: UInt64
  /// When it was written, in nanoseconds since 1970 began.
  public let time: Int64
  /// Where it begins in its file.
  public let offset: Int
  /// The name of the interface.
  public let interface: String
  /// The name of the message.
  public let selector: String
  /// The types of the message.
  public let encoding: String
  /// The arguments, as the encoding says.
  public let arguments: [UInt8]
  /// What became of the call, if it was written after it was made.
  public let outcome: Outcome?

  /// What became of a call.
  public enum Outcome: Hashable, Sendable {
    /// It returned, with these bytes as its result.
    case returned([UInt8])
    /// It threw an error of this text.
    case threw(String)
  }

  init(_ frame: JournalFrame, in scanner: JournalScanner) throws(JournalError) {
    let definition = scanner.definitions[Int(frame.header.message)]
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    sequence = frame.header.sequence
    time = frame.header.time
    offset = frame.offset
    interface = text(definition.interface)
    selector = text(definition.selector)
    encoding = text(definition.encoding)
    (arguments, outcome) = try scanner.contents(of: frame) {
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
  }
}

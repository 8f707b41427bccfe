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
  /// What all records of its message in a file have in common.
  private let definition: Definition
  /// The name of the interface.
  public var interface: String { definition.texts.interface }
  /// The name of the message.
  public var selector: String { definition.texts.selector }
  /// The types of the message.
  public var encoding: String { definition.texts.encoding }
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
    // All is read before anything is kept: what is begun and may still fail costs a copy of the whole.
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

// SPDX-License-Identifier: Apache-2.0
import ForwardingRemote
import ForwardingWire

/// The envelope of calls and answers, as Documentation/Wire.md describes it; shared by the targets
/// for other processes.
enum FuzzEnvelope {
  static let head = 12
  static let answerHead = 20
  /// Forty minutes, more than any wait of a target: 293 milliseconds, thirteen times doubled.
  static let time: [UInt8] = [0x25, 0x69]
  static let answered: UInt8 = 0x81

  static func number(_ number: UInt8) -> [UInt8] { little(UInt64(number)) }

  /// The header of a call.
  static func request(_ kind: UInt8, _ number: UInt8) -> [UInt8] {
    [2, kind] + time + self.number(number)
  }

  /// The subject for cancels of calls that were sent to a subject.
  static func cancels(_ subject: String) -> RemoteSubject { RemoteSubject(subject + ".cancel") }

  /// The kind of a request's header, whatever follows it; nil for other bytes.
  static func kind(of bytes: [UInt8]) -> UInt8? {
    bytes.count >= head && bytes[0] == 2 ? bytes[1] : nil
  }

  /// The kind and the refusal of an answer; nil for other bytes.
  static func read(_ answer: [UInt8]) -> (kind: UInt8, refusal: RemoteRefusal?)? {
    guard answer.count >= answerHead, answer[0] == 2, answer[3] == 0,
      (answered...0x84).contains(answer[1])
    else { return nil }
    return (answer[1], RemoteRefusal(rawValue: answer[2]))
  }

  /// The fingerprint of a message.
  static func head(_ message: InterfaceMessage) -> [UInt8] {
    [message.fingerprint.selector, message.fingerprint.types].flatMap { little($0) }
  }

  static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

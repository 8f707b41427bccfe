// SPDX-License-Identifier: Apache-2.0
import ForwardingRemote
import ForwardingWire

/// The headers of calls and answers, as in Documentation/Wire.md. No other test encodes them.
enum Envelope {
  static let asked: UInt8 = 1
  static let told: UInt8 = 2
  static let cancel: UInt8 = 4
  static let answered: UInt8 = 0x81
  static let failed: UInt8 = 0x82
  static let refused: UInt8 = 0x83

  static func bytes<Number: FixedWidthInteger>(of number: Number) -> [UInt8] {
    (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  static func bytes(of fingerprint: Fingerprint) -> [UInt8] {
    bytes(of: fingerprint.selector) + bytes(of: fingerprint.types)
  }

  /// 300,032 milliseconds: 293, ten times doubled.
  static let farAway: UInt16 = 10 << 11 | 293

  /// A request with a deadline that is far away.
  static func request(
    _ kind: UInt8, number: UInt64, time: UInt16 = farAway, _ call: [UInt8] = []
  ) -> [UInt8] {
    [2, kind] + bytes(of: time) + bytes(of: number) + call
  }

  /// The subject for cancelling calls that were sent to a subject.
  static func cancels(of subject: RemoteSubject) -> RemoteSubject {
    RemoteSubject(known: subject.name + ".cancel")
  }

  /// The number of a request that is too short to have one.
  static let none = [UInt8](repeating: 0, count: 8)[...]

  /// An answer of a host to a request.
  static func answer(
    _ kind: UInt8, refusal: UInt8 = 0, host: UInt64, to request: [UInt8], _ body: [UInt8] = []
  ) -> [UInt8] {
    [2, kind, refusal, 0] + request[4..<12] + bytes(of: host) + body
  }

  /// Why an answer refuses a call; nil if it does not.
  static func refusal(of answer: [UInt8]) -> RemoteRefusal? {
    answer.count >= 20 && answer[0] == 2 && answer[1] == refused
      ? RemoteRefusal(rawValue: answer[2]) : nil
  }
}

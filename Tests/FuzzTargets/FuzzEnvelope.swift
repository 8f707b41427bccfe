// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingRemote
import Invocations

/// The envelope of calls and answers, as Documentation/Wire.md describes it; shared by the targets
/// for other processes.
enum FuzzEnvelope {
  static let head = 24
  static let answerHead = 28
  static let sender = [UInt8](repeating: 9, count: 8)
  /// Five minutes.
  static let time: [UInt8] = [0xE0, 0x93, 4, 0]

  static func number(_ number: UInt8) -> [UInt8] { [number, 0, 0, 0, 0, 0, 0, 0] }

  /// The header of a call.
  static func request(_ kind: UInt8, _ number: UInt8) -> [UInt8] {
    [1, 0, kind, 0] + sender + self.number(number) + time
  }

  /// An answer to a request, with the request's sender and number.
  static func answer(_ kind: UInt8, host: [UInt8], to request: [UInt8], _ body: [UInt8]) -> [UInt8]
  {
    let zero = [UInt8](repeating: 0, count: 16)
    return [1, 0, kind, 0] + (request.count >= 20 ? Array(request[4..<20]) : zero) + host + body
  }

  /// The subject for cancels of calls that were sent to a subject.
  static func cancels(_ subject: String) -> RemoteSubject { RemoteSubject(subject + ".cancel") }

  /// The kind of a request's header, whatever follows it; nil for other bytes.
  static func kind(of bytes: [UInt8]) -> UInt8? {
    bytes.count >= head && bytes[0] == 1 && bytes[1] == 0 && bytes[3] == 0 ? bytes[2] : nil
  }

  /// Sends a request, and waits for the first answer; without one in time, it throws.
  static func ask(
    _ payload: [UInt8], _ subject: RemoteSubject, _ transport: any Transport
  ) throws -> [UInt8] {
    let answers = Guarded<[[UInt8]]>([])
    let isThere = DispatchSemaphore(value: 0)
    let request = try transport.request(payload, to: subject) { answer in
      answers.withLock { $0.append((try? answer.get()) ?? []) }
      isThere.signal()
    }
    defer { request.end() }
    try wait(for: isThere, "a request")
    let all = answers.read { $0 }
    try demand(all.count == 1, "a request has \(all.count) answers")
    try demand(
      all[0].count >= answerHead && all[0][0] == 1 && all[0][1] == 0
        && (0x81...0x84).contains(all[0][2]), "an answer is none: \(all[0])")
    return all[0]
  }
}

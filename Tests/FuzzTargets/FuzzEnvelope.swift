// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingRemote
import Invocations

/// The envelope of calls and answers, as Documentation/Wire.md describes it; shared by the targets
/// for other processes.
enum FuzzEnvelope {
  static let head = 12
  static let answerHead = 20
  /// Forty minutes, more than any wait of a target: 293 milliseconds, thirteen times doubled.
  static let time: [UInt8] = [0x25, 0x69]
  static let answered: UInt8 = 0x81

  static func number(_ number: UInt8) -> [UInt8] { [number, 0, 0, 0, 0, 0, 0, 0] }

  /// The header of a call.
  static func request(_ kind: UInt8, _ number: UInt8) -> [UInt8] {
    [2, kind] + time + self.number(number)
  }

  /// An answer to a request, with the request's number.
  static func answer(_ kind: UInt8, host: [UInt8], to request: [UInt8], _ body: [UInt8]) -> [UInt8]
  {
    let number = request.count >= head ? Array(request[4..<12]) : self.number(0)
    return [2, kind, 0, 0] + number + host + body
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
    try demand(read(all[0]) != nil, "an answer is none: \(all[0])")
    return all[0]
  }
}

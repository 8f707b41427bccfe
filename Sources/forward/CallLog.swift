// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Prints the calls that arrive. It decodes the bytes on the wire as Documentation/Wire.md
/// describes them.
final class CallLog: Sendable {
  private let interface: Interface
  private let types: [Selector: WireTypes]
  private let isJSON: Bool
  private let limit: Int
  private let state = Guarded((begun: 0, ended: 0, awaited: 0))
  /// Entered until calls may be shown.
  private let isOpen = DispatchGroup()
  /// Called after `limit` calls, and when the output cannot be written any more.
  private let enough: @Sendable () -> Void

  init(
    _ interface: Interface, limit: Int, isJSON: Bool, _ enough: @escaping @Sendable () -> Void
  ) throws {
    self.interface = interface
    (self.limit, self.isJSON, self.enough) = (limit, isJSON, enough)
    types = try Dictionary(
      uniqueKeysWithValues: interface.messages.map { ($0.selector, try WireTypes($0.encoding)) })
    isOpen.enter()
  }

  /// Prints the header, and then the calls that have arrived before it and those that follow.
  func begin(_ header: String) {
    print(header)
    if fflush(nil) != 0 { enough() }
    isOpen.leave()
  }

  /// A call that arrived.
  struct Entry: Sendable {
    let number: Int
    let isAsked: Bool
    let sender: TransportPeer
    /// Nil if the interface has no such message, or if the bytes are not a valid call.
    let selector: Selector?
    let arguments: [WireValue]?
    let begin = ContinuousClock.now
  }

  /// Records a message. Returns nil for a ping and for a cancel.
  func begin(_ message: TransportMessage) -> Entry? {
    let bytes = message.payload
    let kind = bytes.count > 1 ? bytes[1] : 0
    if kind == 3 || kind == 4 { return nil }
    let isAsked = message.answer != nil && kind != 2
    let call = bytes.dropFirst(RemoteRequest.head)
    let fingerprint = try? interface.fingerprint(of: call)
    let known = fingerprint.flatMap { interface.message($0) }
    let selector = known?.fingerprint == fingerprint ? known?.selector : nil
    let number = state.withLockInPlace { state in
      state.begun += 1
      if isAsked { state.awaited += 1 }
      return state.begun
    }
    return Entry(
      number: number, isAsked: isAsked, sender: message.sender, selector: selector,
      arguments: selector.flatMap { try? types[$0]?.arguments(Array(call.dropFirst(8))) })
  }

  /// Prints a call with its answer; the answer is nil for a call that expects none.
  func end(_ entry: Entry, _ answer: [UInt8]?) {
    isOpen.wait()
    let became = answer.map { self.answer($0, to: entry) }
    if isJSON { print(json(entry, became)) } else { print(line(entry, became)) }
    // After the flush, a reader has the line; if the flush fails, the reader is gone.
    let isUnread = fflush(nil) != 0
    let ended = state.withLockInPlace { state in
      state.ended += 1
      if entry.isAsked { state.awaited -= 1 }
      return state.ended
    }
    if isUnread || ended == limit { enough() }
  }

  /// Whether a call has no answer yet, or one that is not printed yet.
  var isAwaited: Bool { state.read { $0.awaited > 0 } }

  /// The outcome of a call.
  private enum Became {
    case answered(WireValue)
    case failed(RemoteError)
  }

  private func answer(_ answer: [UInt8], to entry: Entry) -> Became {
    let body = Array(answer.dropFirst(RemoteAnswer.head))
    switch answer.count > 3 ? answer[1] : 0 {
    case 0x81:
      guard let types = entry.selector.flatMap({ types[$0] }), let value = try? types.result(body)
      else { break }
      return .answered(value)
    case 0x82 where body.count >= 4:
      let code = Int32(bitPattern: Self.word(body[...]))
      return .failed(
        .failed(code: code, text: String(decoding: body.dropFirst(4), as: UTF8.self)))
    case 0x83:
      let refusal = RemoteRefusal(rawValue: answer[2]) ?? .other
      return .failed(.refused(refusal, String(decoding: body, as: UTF8.self)))
    default: break
    }
    return .failed(.refused(.other, ""))
  }

  /// Four bytes, little-endian.
  private static func word(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  // MARK: Lines

  private func line(_ entry: Entry, _ became: Became?) -> String {
    let number = "\(entry.number)"
    let padding = String(repeating: " ", count: max(0, 6 - number.count))
    let name = entry.selector.map { WireValue.visible($0.name) } ?? "?"
    let arguments = entry.arguments.map {
      $0.map(\.description).joined(separator: ", ")
    }
    var call = "\(padding)\(number)  \(entry.isAsked ? "asked" : "told ")  "
    call += Terminal.styled("\(entry.sender)", .dim) + "  \(name)"
    if let arguments, !arguments.isEmpty { call += " \(arguments)" }
    switch became {
    case nil: break
    case .answered(.none): call += "  " + Terminal.styled("done", .green)
    case .answered(let value): call += "  " + Terminal.styled("→", .green) + " \(value)"
    case .failed(let error):
      call += "  " + Terminal.styled(WireValue.visible("\(error)"), .red)
    }
    return call
  }

  private func json(_ entry: Entry, _ became: Became?) -> String {
    var members = [
      "\"number\":\(entry.number)", "\"kind\":\"\(entry.isAsked ? "asked" : "told")\"",
    ]
    members.append("\"sender\":\(WireValue.quoted("\(entry.sender)"))")
    members.append("\"selector\":\(entry.selector.map { WireValue.quoted($0.name) } ?? "null")")
    let arguments = entry.arguments.map { $0.map(\.description).joined(separator: ",") }
    members.append("\"arguments\":\(arguments.map { "[\($0)]" } ?? "null")")
    switch became {
    case nil: break
    case .answered(let value): members.append("\"result\":\(value)")
    case .failed(let error):
      members.append("\"error\":\(WireValue.quoted("\(error)"))")
      if case .failed(let code, _) = error { members.append("\"code\":\(code)") }
    }
    if became != nil {
      members.append("\"milliseconds\":\((ContinuousClock.now - entry.begin).inMilliseconds)")
    }
    return "{" + members.joined(separator: ",") + "}"
  }
}

/// A transport that reports each call and its answer to a log.
final class WatchedTransport: Transport {
  private let transport: any Transport
  private let log: CallLog

  init(_ transport: any Transport, _ log: CallLog) {
    (self.transport, self.log) = (transport, log)
  }

  func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    try transport.subscribe(to: subject, group: group) { [log] message in
      guard let entry = log.begin(message) else { return receive(message) }
      guard let answer = message.answer, entry.isAsked else {
        receive(message)
        return log.end(entry, nil)
      }
      receive(
        TransportMessage(payload: message.payload, sender: message.sender) { bytes in
          // The answer is sent before the call is printed, so that the caller does not wait for the
          // output.
          answer(bytes)
          log.end(entry, bytes)
        })
    }
  }

  var maximumPayload: Int { transport.maximumPayload }

  func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
    try transport.publish(payload, to: subject)
  }

  func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportRequest {
    try transport.request(payload, to: subject, answered)
  }

  /// Also waits for answers: when the host has finished its calls, the last answers may still be on
  /// their way to this transport.
  func flush(within limit: Duration) async throws(TransportError) {
    let end = ContinuousClock.now + limit
    while log.isAwaited {
      guard ContinuousClock.now < end else { throw .timedOut }
      do { try await Task.sleep(for: .milliseconds(1)) } catch { throw .timedOut }
    }
    try await transport.flush(within: limit)
  }

  func onChange(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription {
    transport.onChange(changed)
  }

  func close() { transport.close() }
}

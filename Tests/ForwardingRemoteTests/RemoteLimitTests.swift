// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization
import Testing
import TypeEncodings

/// The target of calls with many or long arguments.
private final class Desk: Sendable {
  struct Wordy: RemoteFailure {
    let count: Int
    var remoteCode: Int32 { 1 }
    var remoteText: String { String(repeating: "x", count: count) }
  }
  struct Nest: Codable, Sendable {
    var inner: [Nest] = []
    init(_ depth: Int) { if depth > 2 { inner = [Nest(depth - 2)] } }
  }

  static let count = try! AsyncMessage<Int, String>("deskCount:")
  static let write = try! AsyncMessage<String, Int>("deskWrite:")
  static let fail = try! AsyncMessage<NoResult, Int>("deskFail:")
  static let nest = try! AsyncMessage<Bool, Nest>("deskNest:")

  private static let isReady: Void = {
    let table = MethodTable.of(Desk.self)
    do {
      try table.register("deskCount:") { (_: Desk, text: String) in text.utf8.count }
      try table.register("deskWrite:") { (_: Desk, count: Int) in
        String(repeating: "x", count: count)
      }
      try table.register("deskFail:") { (_: Desk, count: Int) throws in throw Wordy(count: count) }
      try table.register("deskNest:") { (_: Desk, nest: Nest) in true }
    } catch { fatalError("\(error)") }
  }()

  init() { Self.isReady }

  static func interface(_ limits: WireLimits = WireLimits()) throws -> Interface {
    var interface = Interface("desk", limits: limits)
    try interface.allow(count)
    try interface.allow(write)
    try interface.allow(fail)
    try interface.allow(nest)
    return interface
  }
}

/// Each row of "Limits" in Documentation/Wire.md: a value at the limit is accepted, and one beyond
/// it is refused.
@Suite("Limits of encoded calls from other processes", .timeLimit(.minutes(60)))
struct RemoteLimitTests {
  /// A host of a desk, and two proxies: one with the same limits, and one without limits.
  private struct Office {
    let host: RemoteHost
    let fair: RemoteProxy
    let greedy: RemoteProxy

    init(_ transport: InProcessTransport) throws {
      host = RemoteHost(transport, as: "office")
      try host.expose(Desk(), Desk.interface())
      var wide = WireLimits()
      wide.message = 8 << 20
      wide.text = 8 << 20
      wide.depth = 100
      func proxy(_ limits: WireLimits) throws -> RemoteProxy {
        RemoteProxy(
          try Desk.interface(limits), transport, at: "office", deadline: .seconds(3000))
      }
      fair = try proxy(WireLimits())
      greedy = try proxy(wide)
    }

    /// Whether the host still answers.
    func lives() async throws -> Bool { try await Desk.count("abc", on: fair) == 3 }
  }

  private func refusal(
    _ call: () async throws -> Void
  ) async -> (RemoteRefusal, String)? {
    do { try await call() } catch RemoteError.refused(let refusal, let text) {
      return (refusal, text)
    } catch { Issue.record("\(error)") }
    return nil
  }

  private func wire(_ call: () async throws -> Void) async -> WireError.Reason? {
    do { try await call() } catch RemoteError.wire(let error) { return error.reason } catch {
      Issue.record("\(error)")
    }
    return nil
  }

  @Test("a call has at most 1 MB, and so has a text: both sides refuse more")
  func message() async throws {
    let office = try Office(InProcessTransport(maximumPayload: 16 << 20))
    defer { office.host.close() }
    // Without the header of a call, and the length of the text.
    let empty = try Desk.interface().encodeSent(Desk.count.message.invocation("")).count
    let most = (1 << 20) - empty
    let text = String(repeating: "x", count: most)
    #expect(try await Desk.count(text, on: office.fair) == most)
    let reason = await wire { _ = try await Desk.count(text + "x", on: office.fair) }
    #expect(reason == .limit(1 << 20, given: (1 << 20) + 1))
    let refused = await refusal { _ = try await Desk.count(text + "x", on: office.greedy) }
    #expect(refused?.0 == .malformed)
    #expect(refused?.1.contains("the limit is 1048576") == true)
    #expect(try await office.lives())
    // A result has no header: it is limited by the message, with its length in front.
    #expect(try await Desk.write((1 << 20) - 4, on: office.fair).utf8.count == (1 << 20) - 4)
    let result = await refusal { _ = try await Desk.write((1 << 20) - 3, on: office.greedy) }
    #expect(result?.0 == .unsendableResult)
    #expect(try await office.lives())
  }

  @Test("a text has at most as many bytes as its limit, on both sides and in answers")
  func text() async throws {
    let transport = InProcessTransport()
    var limits = WireLimits()
    limits.text = 1000
    let host = RemoteHost(transport, as: "office")
    defer { host.close() }
    try host.expose(Desk(), Desk.interface(limits))
    let fair = RemoteProxy(
      try Desk.interface(limits), transport, at: "office", deadline: .seconds(3000))
    let greedy = RemoteProxy(
      try Desk.interface(), transport, at: "office", deadline: .seconds(3000))
    let text = String(repeating: "x", count: 1000)
    #expect(try await Desk.count(text, on: fair) == 1000)
    #expect(try await Desk.count(text, on: greedy) == 1000)
    #expect(
      await wire { _ = try await Desk.count(text + "x", on: fair) } == .limit(1000, given: 1001))
    #expect(await refusal { _ = try await Desk.count(text + "x", on: greedy) }?.0 == .malformed)
    #expect(try await Desk.write(1000, on: greedy).utf8.count == 1000)
    #expect(await refusal { _ = try await Desk.write(1001, on: greedy) }?.0 == .unsendableResult)
    #expect(try await Desk.count("abc", on: fair) == 3)
    // A host without limits.
    let other = RemoteHost(transport, as: "wide")
    defer { other.close() }
    try other.expose(Desk(), Desk.interface())
    let careful = RemoteProxy(
      try Desk.interface(limits), transport, at: "wide", deadline: .seconds(3000))
    #expect(try await Desk.write(1000, on: careful).utf8.count == 1000)
    #expect(
      await wire { _ = try await Desk.write(1001, on: careful) } == .limit(1000, given: 1001))
  }

  @Test("lists nest at most 16 deep in a value")
  func depth() async throws {
    let office = try Office(InProcessTransport())
    defer { office.host.close() }
    // Each is an object with a list, which makes two levels.
    #expect(try await Desk.nest(Desk.Nest(16), on: office.fair))
    let reason = await wire { _ = try await Desk.nest(Desk.Nest(18), on: office.fair) }
    #expect(reason == .nestedTooDeeply(limit: 16))
    let refused = await refusal { _ = try await Desk.nest(Desk.Nest(18), on: office.greedy) }
    #expect(refused?.0 == .malformed)
    #expect(try await office.lives())
  }

  @Test("a message has at most 64 arguments, and an encoding of at most 16,384 bytes")
  func messages() throws {
    var interface = Interface("many")
    func allow(arguments count: Int) throws {
      let name = "many" + String(repeating: "a:", count: count)
      let encoding = "i@:" + String(repeating: "i", count: count)
      try interface.allow(Selector(interning: name), MethodSignature(parsing: encoding))
    }
    try allow(arguments: 64)
    let name = "many" + String(repeating: "a:", count: 65)
    #expect(throws: InterfaceError.limit(of: "arguments of '\(name)'", 64, given: 65)) {
      try allow(arguments: 65)
    }
    func allow(bytes: Int) throws {
      // A result, the receiver, the selector, and a structure of bytes.
      let encoding = "i@:{=" + String(repeating: "c", count: bytes - 6) + "}"
      try interface.allow("take:", MethodSignature(parsing: encoding))
    }
    try allow(bytes: 16_384)
    #expect(interface.messages[1].encoding.utf8.count == 16_384)
    let error = InterfaceError.limit(of: "bytes of the encoding of 'take:'", 16_384, given: 16_385)
    #expect(throws: error) { try allow(bytes: 16_385) }
  }

  @Test("both sides cut the text of an error to 4,096 bytes")
  func errorText() async throws {
    let transport = InProcessTransport()
    let office = try Office(transport)
    defer { office.host.close() }
    for (count, length) in [(4096, 4096), (4097, 4096), (100_000, 4096)] {
      await #expect(
        throws: RemoteError.failed(code: 1, text: String(repeating: "x", count: length))
      ) { try await Desk.fail(count, on: office.fair) }
    }
    // The answer of a host that does not cut the text.
    let subject = RemoteSubject(parts: "forwarding", "wordy", "desk")
    for (kind, code) in [(Envelope.failed, [1, 0, 0, 0]), (Envelope.refused, [])]
      as [(UInt8, [UInt8])]
    {
      for (count, length) in [(4096, 4096), (4097, 4096)] {
        let body = code + [UInt8](repeating: UInt8(ascii: "y"), count: count)
        let wordy = try transport.subscribe(to: subject, group: nil) {
          $0.answer?(Envelope.answer(kind, refusal: 6, host: 1, to: $0.payload, body))
        }
        defer { wordy.end() }
        let remote = RemoteProxy(
          try Desk.interface(), transport, at: "wordy", deadline: .seconds(3000))
        let text = String(repeating: "y", count: length)
        let expected =
          kind == Envelope.failed ? .failed(code: 1, text: text) : RemoteError.refused(.busy, text)
        await #expect(throws: expected) { try await Desk.fail(1, on: remote) }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations

/// For any request, a host sends one answer and keeps working. For any answer of a host, a call
/// ends.
enum RemoteFuzz {
  private final class Shop: MethodDeclaring {
    private(set) var sold = 0

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("fuzzSell:") { (shop: Shop, count: Int) -> Int in
        shop.sold &+= count
        return shop.sold
      }
      methods.register("fuzzName:") { (_: Shop, name: String?) -> String? in name }
      methods.register("fuzzList:") { (_: Shop, list: [Int]) throws -> [Int] in
        if list.isEmpty { throw Empty() }
        return list
      }
    }
  }

  private struct Empty: RemoteFailure {
    let remoteCode: Int32 = 7
    let remoteText = "nothing is there"
  }

  private static let sell = made { try Message<Int, Int>("fuzzSell:") }

  private static let interface = made {
    var interface = Interface("fuzz")
    try interface.allow(sell)
    try interface.allow(Message<String?, String?>("fuzzName:"))
    try interface.allow(Message<[Int], [Int]>("fuzzList:"))
    return interface
  }

  private static let subject: RemoteSubject = "forwarding.shop.fuzz"

  static func run(_ bytes: [UInt8]) throws {
    try host(bytes)
    try answer(bytes)
  }

  // MARK: A host

  /// Sends the bytes as a request: alone, after a header of the envelope, and also after a header
  /// of a call.
  private static func host(_ bytes: [UInt8]) throws {
    let transport = InProcessTransport()
    let shop = Shop()
    let host = RemoteHost(transport, as: "shop")
    defer { host.close() }
    try host.expose(shop, interface)
    let message = interface.messages[Int(bytes.first ?? 0) % 3]
    let framed = FuzzEnvelope.head(message) + bytes
    for payload in [
      bytes, FuzzEnvelope.request(1, 1) + bytes, FuzzEnvelope.request(1, 2) + framed,
    ] {
      let answers = try request(payload, transport)
      let isTold = FuzzEnvelope.kind(of: payload) == 2
      // A cancel is sent without waiting for an answer.
      let isCancel = FuzzEnvelope.kind(of: payload) == 4
      try demand(
        isCancel ? answers.count <= 1 : answers.count == (isTold ? 0 : 1),
        "a request has \(answers.count) answers")
      for answer in answers { try check(answer) }
      try transport.publish(payload, to: subject)
    }
    // The host keeps working.
    let before = shop.sold
    let asked = try FuzzEnvelope.request(1, 3) + interface.encodeSent(sell.invocation(5))
    let answers = try request(asked, transport)
    try demand(shop.sold == before &+ 5, "a call was not performed")
    try demand(
      answers.count == 1 && answers[0][1] == FuzzEnvelope.answered,
      "a host does not answer any more: \(answers)")
    let counts = host.statistics
    try demand(counts.asked + counts.told + counts.strange > 0, "nothing was counted")
  }

  private static func request(
    _ payload: [UInt8], _ transport: InProcessTransport
  ) throws -> [[UInt8]] {
    let answers = Guarded<[[UInt8]]>([])
    let request = try transport.request(payload, to: subject) { answer in
      if case .success(let bytes) = answer { answers.withLock { $0.append(bytes) } }
    }
    request.end()
    return answers.read { $0 }
  }

  private static func check(_ answer: [UInt8]) throws {
    try demand(
      answer.count < 8192 && FuzzEnvelope.read(answer) != nil, "an answer is none: \(answer)")
  }

  // MARK: An answer

  /// Answers a request with the bytes: with the number of the request in them, and after each
  /// header.
  private static func answer(_ bytes: [UInt8]) throws {
    let kind = 0x81 + (bytes.first ?? 0) & 3
    let framed = [2, kind, bytes.last ?? 0, 0] + [UInt8](repeating: 3, count: 8) + bytes
    for payload in [bytes, framed] {
      let transport = InProcessTransport()
      let listener = try transport.subscribe(to: subject, group: nil) { message in
        var answer = Array(payload.prefix(4))
        answer += message.payload[4..<12]
        answer += payload.dropFirst(4)
        message.answer?(answer)
      }
      defer { listener.end() }
      let proxy = RemoteProxy(interface, transport, at: "shop", deadline: .milliseconds(1))
      let message = interface.messages[Int(bytes.last ?? 0) % 3]
      let found: String? = try awaited("a call") {
        do {
          let call = Invocation(try CallPlan.shared(for: message.signature))
          try call.setSelector(message.selector)
          try await call.invokeAwaiting(on: proxy)
        } catch let error as RemoteError {
          if error.description.utf8.count > 8192 { return "an error of long bytes is long" }
        } catch is InvocationError {
          // A call without a target, which this target does not test.
        } catch {
          return "an error of another kind: \(error)"
        }
        return nil
      }
      try demand(found == nil, found ?? "")
      let counts = proxy.statistics
      try demand(
        counts.asked == counts.answered + counts.failed + counts.refused,
        "the counts do not add up: \(counts)")
    }
  }
}

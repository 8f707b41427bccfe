// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingRemote
import Invocations
import Testing

@Suite("The example in Documentation/Wire.md", .timeLimit(.minutes(60)))
struct WirePageTests {
  private final class Account: MethodDeclaring {
    var balance: Int32 = 100
    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("deposit:") { (account: Account, amount: Int32) -> Int32 in
        account.balance += amount
        return account.balance
      }
    }
  }

  private static let deposit = try! AsyncMessage<Int32, Int32>("deposit:")
  private static let subject: RemoteSubject = "forwarding.bank-1.bank"

  private func interface() throws -> Interface {
    var interface = Interface("bank")
    try interface.allow(Self.deposit)
    return interface
  }

  /// The bytes after a mark of the page. Each line has an offset in front of its bytes, and words
  /// behind them.
  private func page(_ mark: String) throws -> [UInt8] {
    let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appendingPathComponent("Documentation/Wire.md"), encoding: .utf8)
    let example = try #require(text.components(separatedBy: "<!-- \(mark) -->\n").last)
    let block = try #require(example.components(separatedBy: "```").dropFirst().first)
    var bytes: [UInt8] = []
    for line in block.split(separator: "\n").dropFirst() {
      #expect(Int(line.prefix(4), radix: 16) == bytes.count, "\(line)")
      bytes += line.dropFirst(6).prefix(23).split(separator: " ").compactMap {
        UInt8($0, radix: 16)
      }
    }
    return bytes
  }

  @Test("a host answers the request of the page with the answer of the page")
  func host() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank-1")
    defer { host.close() }
    try host.expose(Account(), interface())
    var answer = try await ask(transport, page("request"), Self.subject).get()
    #expect(answer[12..<20].elementsEqual(Envelope.bytes(of: host.number)))
    answer.replaceSubrange(12..<20, with: [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80])
    #expect(try answer == page("answer"))
  }

  @Test("a sender encodes the request of the page, and accepts the answer of the page")
  func sender() async throws {
    let transport = InProcessTransport()
    let sent = Guarded<[UInt8]>([])
    let answer = Guarded(try page("answer"))
    let listener = try transport.subscribe(to: Self.subject, group: nil) { message in
      sent.withLock { $0 = message.payload }
      // The answer is for this request, not for that of the page.
      answer.withLock { $0.replaceSubrange(4..<12, with: message.payload[4..<12]) }
      message.answer?(answer.read { $0 })
    }
    let proxy = RemoteProxy(
      try interface(), transport, at: "bank-1", deadline: .seconds(2_000_000))
    #expect(try await Self.deposit(50, on: proxy) == 150)
    listener.end()
    var request = sent.read { $0 }
    // The time left and the number of the call differ from those of the page.
    let time = Int(request[2]) | Int(request[3]) << 8
    #expect((1_999_000_000...2_001_000_000).contains((time & 0x7FF) << (time >> 11)))
    request.replaceSubrange(2..<12, with: try page("request")[2..<12])
    #expect(try request == page("request"))
  }
}

// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingTesting

/// Collects the failures of spies, so that tests can compare them.
final class Failures: SpyReporter {
  private let list = LockedValue<[SpyFailure]>([])

  func report(_ failure: SpyFailure) { list.withLock { $0.append(failure) } }

  var all: [SpyFailure] { list.withLock { $0 } }
  var texts: [String] { all.map(\.description) }
}

#if Macros
  final class Chat: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }

  struct ChatMessage: Equatable, Sendable, CustomDebugStringConvertible {
    var text: String
    init(_ text: String) { self.text = text }
    var debugDescription: String { "ChatMessage(\(text.debugDescription))" }
  }

  struct Offline: Error, Equatable {}

  @Forwardable
  protocol ChatDelegate: AnyObject {
    func chat(_ chat: Chat, didReceive message: ChatMessage)
    @Otherwise(true) func chat(_ chat: Chat, shouldSend text: String) -> Bool
    func titleOfChat(_ chat: Chat) -> String?
    func chat(_ chat: Chat, upload file: [UInt8]) throws -> Int
    func chat(_ chat: Chat, edit text: inout String)
    func chat(_ chat: Chat, move row: Int, to other: Int)
    func rows(_ first: Int, _ last: Int)
    func download(_ name: String) async throws -> Int
    @Optional func chatDidBecomeIdle(_ chat: Chat)
    var draft: String? { get set }
  }

  @Forwardable
  protocol GateDelegate: AnyObject, Sendable {
    @Otherwise(throw: Offline()) func pass(_ name: String) throws(Offline)
    @Otherwise(5) func count(_ name: String) throws(Offline) -> Int
    func call(_ name: String, then: @escaping @Sendable (Int) -> Void)
    func load(_ name: String) async throws -> Int
    func none() async -> Int?
    func one(_ a: Int) async -> Int?
    func two(_ a: Int, _ b: Int) async -> Int?
    func six(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int) async -> Int?
  }
#endif

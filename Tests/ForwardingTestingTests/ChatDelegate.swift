// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding

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
#endif

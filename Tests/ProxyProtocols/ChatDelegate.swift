// SPDX-License-Identifier: Apache-2.0
#if Macros
  public import Forwarding

  public final class Chat: Sendable {
    public let name: String
    public init(_ name: String) { self.name = name }
  }

  public struct ChatMessage: Sendable, Equatable {
    public var text: String
    public var marks: [Int]
    public init(_ text: String, marks: [Int] = []) { (self.text, self.marks) = (text, marks) }
  }

  @Forwardable
  public protocol ChatDelegate: AnyObject {
    /// Called when a message has arrived.
    func chat(_ chat: Chat, didReceive message: ChatMessage)
    @Otherwise(true) func chat(_ chat: Chat, shouldSend text: String) -> Bool
    @Optional func chatDidBecomeIdle(_ chat: Chat)
    @Optional func titleOfChat(_ chat: Chat) -> String?
    func chat(_ chat: Chat, upload file: [UInt8]) throws -> Int
    func chat(_ chat: Chat, perform action: @escaping () -> String)
    func chat(_ chat: Chat, isBeside other: any ChatDelegate) -> String?
    var draft: String? { get set }
    @Otherwise(0) var unread: Int { get }
  }
#endif

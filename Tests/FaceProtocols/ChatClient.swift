// SPDX-License-Identifier: Apache-2.0
#if Macros
  public import Forwarding

  // The delegate and data source of a chat client: a requirement of each kind that a protocol may
  // have.

  public struct Room: Hashable, Sendable {
    public let name: String
    public init(_ name: String) { self.name = name }
  }

  public enum Mood: Equatable, Sendable {
    case calm
    case typing(since: Double)
  }

  /// A page of results, as a cursor of a database returns it.
  public struct Page<Element: Sendable>: Sendable {
    public var elements: [Element]
    public var next: Int?
    public init(_ elements: [Element], next: Int? = nil) {
      (self.elements, self.next) = (elements, next)
    }
  }

  public struct Credential: Equatable, Sendable {
    public var user: String
    public var token: [UInt8]
    public init(_ user: String, _ token: [UInt8]) { (self.user, self.token) = (user, token) }
  }

  public enum ClientError: Error, Equatable { case refused(Room), offline }

  @Forwardable
  public protocol ChatClientDelegate: AnyObject {
    func clientDidConnect(_ client: ChatClient)
    func client(_ client: ChatClient, didReceive messages: [ChatMessage], in room: Room)
    func client(_ client: ChatClient, didLoad page: Page<ChatMessage>)
    func client(_ client: ChatClient, didFailWith error: any Error)
    func client(_ client: ChatClient, move row: Int, to other: Int)
    func client(_ client: ChatClient, move rows: ClosedRange<Int>, to other: Int)
    /// A result of nil sends the message unchanged.
    func client(_ client: ChatClient, willSend message: ChatMessage) -> ChatMessage?
    @Otherwise(true) func client(_ client: ChatClient, shouldJoin room: Room) -> Bool
    @Otherwise(Mood.calm) func client(_ client: ChatClient, moodIn room: Room) -> Mood
    @discardableResult @Otherwise(0) func client(_ client: ChatClient, mark ids: Set<Int>) -> Int
    func client(_ client: ChatClient, credentialFor room: Room) throws -> Credential
    func client(_ client: ChatClient, open room: Room) throws(ClientError)
    func client(_ client: ChatClient, confirm text: String, then: @escaping (Bool) -> Void)
    @Optional func clientDidBecomeIdle(_ client: ChatClient, after seconds: Double)
    @Optional func client(_ client: ChatClient, titleOf room: Room) -> String?
    var nickname: String? { get set }
    @Otherwise(0) var unread: Int { get }
  }

  /// A class with a delegate that knows nothing of forwarding.
  public final class ChatClient {
    public weak var delegate: (any ChatClientDelegate)?
    public private(set) var sent: [ChatMessage] = []
    public private(set) var rooms: [Room] = []

    public init() {}

    public func join(_ room: Room) throws -> Credential? {
      guard let delegate, delegate.client(self, shouldJoin: room) else { return nil }
      try delegate.client(self, open: room)
      let credential = try delegate.client(self, credentialFor: room)
      rooms.append(room)
      delegate.clientDidConnect(self)
      return credential
    }

    public func send(_ message: ChatMessage) {
      sent.append(delegate?.client(self, willSend: message) ?? message)
    }

    public func receive(_ texts: String..., in room: Room) {
      delegate?.client(self, didReceive: texts.map { ChatMessage($0) }, in: room)
    }
  }
#endif

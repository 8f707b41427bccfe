// SPDX-License-Identifier: Apache-2.0
#if Macros
  import FaceProtocols

  /// Implements all requirements of the protocol.
  final class ChatWindow: ChatClientDelegate {
    let name: String
    var seen: [String] = []
    var closed: Set<Room> = []
    var nickname: String?
    var unread: Int { seen.count }

    init(_ name: String = "window") { self.name = name }

    func clientDidConnect(_ client: ChatClient) { seen.append("connected") }
    func client(_ client: ChatClient, didReceive messages: [ChatMessage], in room: Room) {
      seen.append("\(room.name): \(messages.map(\.text).joined(separator: ", "))")
    }
    func client(_ client: ChatClient, didLoad page: Page<ChatMessage>) {
      seen.append("page of \(page.elements.count), next \(page.next ?? -1)")
    }
    func client(_ client: ChatClient, didFailWith error: any Error) { seen.append("\(error)") }
    func client(_ client: ChatClient, move row: Int, to other: Int) {
      seen.append("row \(row) to \(other)")
    }
    func client(_ client: ChatClient, move rows: ClosedRange<Int>, to other: Int) {
      seen.append("rows \(rows) to \(other)")
    }
    func client(_ client: ChatClient, willSend message: ChatMessage) -> ChatMessage? {
      message.text.isEmpty ? nil : ChatMessage(message.text + "!", marks: message.marks)
    }
    func client(_ client: ChatClient, shouldJoin room: Room) -> Bool { room.name != "attic" }
    func client(_ client: ChatClient, moodIn room: Room) -> Mood { .typing(since: 1.5) }
    func client(_ client: ChatClient, mark ids: Set<Int>) -> Int { ids.count }
    func client(_ client: ChatClient, credentialFor room: Room) throws -> Credential {
      if closed.contains(room) { throw ClientError.offline }
      return Credential(name, [1, 2])
    }
    func client(_ client: ChatClient, open room: Room) throws(ClientError) {
      if room.name == "cellar" { throw .refused(room) }
    }
    func client(_ client: ChatClient, confirm text: String, then: @escaping (Bool) -> Void) {
      then(text.hasSuffix("?"))
    }
    func clientDidBecomeIdle(_ client: ChatClient, after seconds: Double) {
      seen.append("idle after \(seconds)")
    }
    func client(_ client: ChatClient, titleOf room: Room) -> String? { "\(name) of \(room.name)" }
  }

  /// Implements only the required ones, and counts.
  final class ChatLog: ChatClientDelegate {
    var lines = 0
    var nickname: String?
    let unread = 0

    func clientDidConnect(_ client: ChatClient) { lines += 1 }
    func client(_ client: ChatClient, didReceive messages: [ChatMessage], in room: Room) {
      lines += messages.count
    }
    func client(_ client: ChatClient, didLoad page: Page<ChatMessage>) { lines += 1 }
    func client(_ client: ChatClient, didFailWith error: any Error) { lines += 1 }
    func client(_ client: ChatClient, move row: Int, to other: Int) { lines += 1 }
    func client(_ client: ChatClient, move rows: ClosedRange<Int>, to other: Int) { lines += 1 }
    func client(_ client: ChatClient, willSend message: ChatMessage) -> ChatMessage? { nil }
    func client(_ client: ChatClient, shouldJoin room: Room) -> Bool { true }
    func client(_ client: ChatClient, moodIn room: Room) -> Mood { .calm }
    func client(_ client: ChatClient, mark ids: Set<Int>) -> Int { 0 }
    func client(_ client: ChatClient, credentialFor room: Room) throws -> Credential {
      Credential("log", [])
    }
    func client(_ client: ChatClient, open room: Room) throws(ClientError) {}
    func client(_ client: ChatClient, confirm text: String, then: @escaping (Bool) -> Void) {}
  }
#endif

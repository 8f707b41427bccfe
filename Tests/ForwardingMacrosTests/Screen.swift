// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ProxyProtocols
  import Forwarding

  struct Refusal: Error {}

  /// Uses only its protocol, and omits the optional requirements.
  class Screen: ChatDelegate {
    let name: String
    private(set) var seen: [String] = []
    private let onMessage: (String) -> Void
    var allows = true
    var draft: String?
    var unread: Int { 3 }

    init(_ name: String = "screen", _ onMessage: @escaping (String) -> Void = { _ in }) {
      self.name = name
      self.onMessage = onMessage
    }

    func chat(_ chat: Chat, didReceive message: ChatMessage) {
      seen.append("\(chat.name): \(message.text)")
      onMessage(name)
    }
    func chat(_ chat: Chat, shouldSend text: String) -> Bool { allows }
    func chat(_ chat: Chat, upload file: [UInt8]) throws -> Int {
      if file.isEmpty { throw Refusal() }
      return file.count
    }
    func chat(_ chat: Chat, perform action: @escaping () -> String) { seen.append(action()) }
    func chat(_ chat: Chat, isBeside other: any ChatDelegate) -> String? {
      (other as? Screen)?.name
    }
  }

  /// Implements the optional requirements.
  final class Titles: ChatDelegate {
    private(set) var idle = 0
    var draft: String?
    let unread = 1
    func chat(_ chat: Chat, didReceive message: ChatMessage) {}
    func chat(_ chat: Chat, shouldSend text: String) -> Bool { true }
    func chat(_ chat: Chat, upload file: [UInt8]) throws -> Int { 0 }
    func chat(_ chat: Chat, perform action: @escaping () -> String) {}
    func chat(_ chat: Chat, isBeside other: any ChatDelegate) -> String? { nil }
    func chatDidBecomeIdle(_ chat: Chat) { idle += 1 }
    func titleOfChat(_ chat: Chat) -> String? { "title" }
  }
#endif

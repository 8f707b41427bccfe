import BenchmarkSubjects
import Forwarding

// Messages that carry Swift values, beside what people write by hand.
extension CoreRows {
  /// What a delegate of a chat is told of.
  final class Chat: Sendable {}

  struct ChatMessage: Sendable {
    var text: String
    var number: Int
    var parts: [Int]
  }

  final class Listener: ChatListening, @unchecked Sendable {
    var last = 0

    @inline(never)
    func chat(_ chat: Chat, didReceive message: ChatMessage) { last = message.number }
  }

  static func values() throws -> [Benchmark] {
    try MethodTable.of(Listener.self).register("chat:didReceive:", replacing: true) {
      (listener: Listener, chat: Chat, message: ChatMessage) in
      listener.chat(chat, didReceive: message)
    }
    try MethodTable.of(Listener.self).register("text:", replacing: true) {
      (listener: Listener, text: String) in
      listener.last = text.utf8.count
    }
    try MethodTable.of(Listener.self).register("chat:", replacing: true) {
      (listener: Listener, chat: Chat) in
      listener.last = 1
    }
    try MethodTable.of(Listener.self).register("name", replacing: true) {
      (listener: Listener) -> ChatMessage in
      ChatMessage(text: "a name that is long enough", number: 1, parts: [])
    }
    let received = try Message<Void, Chat, ChatMessage>("chat:didReceive:")
    let chat = Chat()
    let message = ChatMessage(text: "a text that is long enough", number: 3, parts: [1, 2, 3])
    var rows: [Benchmark] = []
    for number in [1, 16] {
      // A weak variable makes each count of its object slower: the others have targets of their own.
      let boxed = (0..<number).map { _ in Listener() }
      let listeners = (0..<number).map { _ in Listener() }
      let boxes = boxed.map { WeakBox($0) }
      rows.append(
        Benchmark("value/weak-boxes/\(number)") { count in
          withExtendedLifetime(boxed) {
            for _ in 0..<count {
              for box in boxes { box.target?.chat(chat, didReceive: message) }
            }
          }
        })
      for strongly in [false, true] {
        let proxy = MulticastProxy()
        for listener in listeners { proxy.add(listener, strongly: strongly) }
        let name = "value/\(strongly ? "strong" : "weak")/\(number)"
        rows.append(
          Benchmark(name, over: "value/weak-boxes/\(number)") { count in
            try withExtendedLifetime(listeners) {
              for _ in 0..<count { try received(chat, message, on: proxy) }
            }
          })
      }
    }
    #if Macros
      for number in [1, 16] {
        for strongly in [false, true] {
          let delegates = Multicast<ChatListeningProxy>()
          let listeners = (0..<number).map { _ in Listener() }
          for listener in listeners { delegates.add(listener, strongly: strongly) }
          let face = delegates.face
          rows.append(
            Benchmark(
              "value/face-\(strongly ? "strong" : "weak")/\(number)",
              over: "value/weak-boxes/\(number)"
            ) { count in
              withExtendedLifetime(listeners) {
                for _ in 0..<count { face.chat(chat, didReceive: message) }
              }
            })
        }
      }
    #endif
    let listener = Listener()
    let (object, text) = (try Message<Void, Chat>("chat:"), try Message<NoResult, String>("text:"))
    let name = try Message<ChatMessage>("name")
    rows += [
      Benchmark("value/send/message", over: "send/message/closure") { count in
        for _ in 0..<count { try received(chat, message, on: listener) }
      },
      Benchmark("value/send/object", over: "send/message/closure") { count in
        for _ in 0..<count { try object(chat, on: listener) }
      },
      Benchmark("value/send/text", over: "send/message/closure") { count in
        for _ in 0..<count { try text("a text that is long enough", on: listener) }
      },
      Benchmark("value/send/result", over: "send/message/closure") { count in
        for _ in 0..<count { _ = try name(on: listener) }
      },
    ]
    return rows
  }
}

/// The protocol of a delegate, as anybody writes it.
#if Macros
  @Forwardable
#endif
protocol ChatListening: AnyObject {
  func chat(_ chat: CoreRows.Chat, didReceive message: CoreRows.ChatMessage)
}

/// What an array of delegates is usually made of.
final class WeakBox {
  weak var target: (any ChatListening)?
  init(_ target: any ChatListening) { self.target = target }
}

// SPDX-License-Identifier: Apache-2.0
import Forwarding

// Messages that carry Swift values, in comparison with hand-written code.
extension CoreRows {
  /// The object of a delegate message: a chat.
  final class Chat: Sendable {}

  struct ChatMessage: Sendable {
    var text: String
    var number: Int
    var parts: [Int]
  }

  /// Receives messages by registered methods. Faces have targets of other classes, because they
  /// would use these methods.
  final class Listener: @unchecked Sendable {
    var last = 0

    @inline(never)
    func chat(_ chat: Chat, didReceive message: ChatMessage) { last = message.number }
  }

  static func values() throws -> [Benchmark] {
    try registerValues()
    return try deliveredValues() + numbers() + sentValues()
  }

  static let chat = Chat()
  static let message = ChatMessage(
    text: "a text that is long enough", number: 3, parts: [1, 2, 3])

  private static func registerValues() throws {
    let table = MethodTable.of(Listener.self)
    try table.register("chat:didReceive:", replacing: true) {
      (listener: Listener, chat: Chat, message: ChatMessage) in
      listener.chat(chat, didReceive: message)
    }
    try table.register("text:", replacing: true) { (listener: Listener, text: String) in
      listener.last = text.utf8.count
    }
    try table.register("chat:", replacing: true) { (listener: Listener, chat: Chat) in
      listener.last = 1
    }
    try table.register("number:", replacing: true) { (listener: Listener, number: Int) in
      listener.last = number
    }
    try table.register("count", replacing: true) { (listener: Listener) in Int32(listener.last) }
    try table.register("name", replacing: true) { (listener: Listener) -> ChatMessage in
      ChatMessage(text: "a name that is long enough", number: 1, parts: [])
    }
    try table.register("title", replacing: true) { (listener: Listener) in
      "a title that is long enough"
    }
  }

  /// Messages to many targets, with the weak boxes of the rows of faces as baseline.
  private static func deliveredValues() throws -> [Benchmark] {
    let received = try Message<Void, Chat, ChatMessage>("chat:didReceive:")
    var rows: [Benchmark] = []
    for (number, strongly) in [(1, false), (1, true), (16, false), (16, true)] {
      let listeners = (0..<number).map { _ in Listener() }
      let proxy = MulticastProxy()
      for listener in listeners { proxy.add(listener, strongly: strongly) }
      let how = strongly ? "strong" : "weak"
      rows.append(
        Benchmark("value/\(how)/\(number)", over: "value/weak-boxes/\(number)") { count in
          try withExtendedLifetime(listeners) {
            for _ in 0..<count { try received(chat, message, on: proxy) }
          }
        })
    }
    return rows
  }

  /// A generic target, with one class for each `Kind`.
  private final class Numbered<Kind> {
    var last = 0
  }

  /// A number to sixteen weak targets of one class and of several, in turns.
  private static func numbers() throws -> [Benchmark] {
    let number = try Message<Void, Int>("number:")
    func make<Kind>(_ kind: Kind.Type) throws -> AnyObject {
      try MethodTable.of(Numbered<Kind>.self).register("number:", replacing: true) {
        (target: Numbered<Kind>, number: Int) in target.last = number
      }
      return Numbered<Kind>()
    }
    return try [1, 2, 4, 16].map { classes in
      let targets = try (0..<16).map { index in
        let kind: Any.Type = Kinds.all[index % classes]
        return try make(kind)
      }
      let proxy = MulticastProxy()
      for target in targets { proxy.add(target) }
      return Benchmark(
        Kinds.row("value/number-weak", 16, classes), over: "value/number-weak/16"
      ) { count in
        try withExtendedLifetime(targets) {
          for index in 0..<count { try number(index, on: proxy) }
        }
      }
    }
  }

  /// Messages to one target, with a message that carries a number as baseline.
  private static func sentValues() throws -> [Benchmark] {
    let listener = Listener()
    let received = try Message<Void, Chat, ChatMessage>("chat:didReceive:")
    let number = try Message<Void, Int>("number:")
    let (object, text) = (try Message<Void, Chat>("chat:"), try Message<Void, String>("text:"))
    let (name, title) = (try Message<ChatMessage>("name"), try Message<String>("title"))
    let counted = try Message<Int32>("count")
    return [
      Benchmark("value/send/number") { count in
        for index in 0..<count { try number(index, on: listener) }
      },
      Benchmark("value/send/message", over: "value/send/number") { count in
        for _ in 0..<count { try received(chat, message, on: listener) }
      },
      Benchmark("value/send/object", over: "value/send/number") { count in
        for _ in 0..<count { try object(chat, on: listener) }
      },
      Benchmark("value/send/text", over: "value/send/number") { count in
        for _ in 0..<count { try text("a text that is long enough", on: listener) }
      },
      Benchmark("value/answer/number") { count in
        for _ in 0..<count { _ = try counted(on: listener) }
      },
      Benchmark("value/answer/structure", over: "value/answer/number") { count in
        for _ in 0..<count { _ = try name(on: listener) }
      },
      Benchmark("value/answer/text", over: "value/answer/number") { count in
        for _ in 0..<count { _ = try title(on: listener) }
      },
    ]
  }
}

/// Types that turn generic classes into distinct ones.
enum Kinds {
  static let all: [Any.Type] = [
    Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
    UInt32.self, UInt64.self, Float.self, Double.self, Bool.self, String.self, Character.self,
    Substring.self,
  ]

  /// The name of a row with `number` targets of `classes` classes.
  static func row(_ name: String, _ number: Int, _ classes: Int) -> String {
    classes == 1 ? "\(name)/\(number)" : "\(name)/\(number)-of-\(classes)"
  }
}

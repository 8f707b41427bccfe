import BenchmarkSubjects
import Dispatch
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

    @inline(never)
    func count(_ number: Int) { last = number }

    @inline(never)
    func upload(_ number: Int) async -> Int { number }
  }

  static func values() throws -> [Benchmark] {
    try registerValues()
    return try deliveredValues() + sentValues()
  }

  private static let chat = Chat()
  private static let message = ChatMessage(
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

  /// To many, beside an array of weak boxes and one of closures.
  private static func deliveredValues() throws -> [Benchmark] {
    let received = try Message<Void, Chat, ChatMessage>("chat:didReceive:")
    var rows: [Benchmark] = []
    for number in [1, 16] {
      // A weak variable makes each count of its object slower: the others have targets of their own.
      let boxed = (0..<number).map { _ in Listener() }
      let boxes = boxed.map { WeakBox($0) }
      let boxesName = "value/weak-boxes/\(number)"
      rows.append(
        Benchmark(boxesName) { count in
          withExtendedLifetime(boxed) {
            for _ in 0..<count {
              for box in boxes { box.target?.chat(chat, didReceive: message) }
            }
          }
        })
      let closures = boxed.map { target in
        { [weak target] (chat: Chat, message: ChatMessage) -> Void in
          target?.chat(chat, didReceive: message)
        }
      }
      rows.append(
        Benchmark("value/weak-closures/\(number)", over: boxesName) { count in
          withExtendedLifetime(boxed) {
            for _ in 0..<count {
              for closure in closures { closure(chat, message) }
            }
          }
        })
      for strongly in [false, true] {
        let how = strongly ? "strong" : "weak"
        let listeners = (0..<number).map { _ in Listener() }
        let proxy = MulticastProxy()
        for listener in listeners { proxy.add(listener, strongly: strongly) }
        rows.append(
          Benchmark("value/\(how)/\(number)", over: boxesName) { count in
            try withExtendedLifetime(listeners) {
              for _ in 0..<count { try received(chat, message, on: proxy) }
            }
          })
        #if Macros
          rows += faces(number, strongly: strongly, how)
        #endif
      }
    }
    #if Macros
      rows += queued() + awaited()
    #endif
    return rows
  }

  #if Macros
    private static func faces(_ number: Int, strongly: Bool, _ how: String) -> [Benchmark] {
      let listeners = (0..<number).map { _ in Listener() }
      let delegates = Multicast<ChatListeningProxy>()
      for listener in listeners { delegates.add(listener, strongly: strongly) }
      let face = delegates.face
      return [
        Benchmark("value/face-number-\(how)/\(number)") { count in
          withExtendedLifetime(listeners) { for index in 0..<count { face.count(index) } }
        },
        Benchmark("value/face-\(how)/\(number)", over: "value/weak-boxes/\(number)") { count in
          withExtendedLifetime(listeners) {
            for _ in 0..<count { face.chat(chat, didReceive: message) }
          }
        },
      ]
    }

    /// A hundred to a target on a queue, beside closures that capture the same. The queue begins when all are
    /// there: how long it takes to wake is not what is measured.
    private static func queued() -> [Benchmark] {
      let queue = DispatchQueue(label: "listener")
      let listener = Listener()
      let delegates = Multicast<ChatListeningProxy>()
      delegates.add(listener, strongly: true, on: .queue(queue))
      let face = delegates.face
      return [
        Benchmark("value/queue-100/async") { count in
          // Of its own: a constant of the program would not be captured.
          let (chat, message) = (Chat(), CoreRows.message)
          for _ in 0..<count {
            queue.suspend()
            for _ in 0..<100 {
              queue.async { listener.chat(chat, didReceive: message) }
            }
            queue.resume()
            queue.sync {}
          }
        },
        Benchmark("value/queue-100/face", over: "value/queue-100/async") { count in
          for _ in 0..<count {
            queue.suspend()
            for _ in 0..<100 { face.chat(chat, didReceive: message) }
            queue.resume()
            queue.sync {}
          }
        },
      ]
    }
  #endif

  #if Macros
    /// A hundred to a target that is awaited, beside awaiting its method through the protocol, in one task.
    private static func awaited() -> [Benchmark] {
      let listener = Listener()
      let delegates = Multicast<UploadingProxy>()
      delegates.add(listener, strongly: true)
      func waiting(for target: any Uploading, _ count: Int) {
        let isDone = DispatchSemaphore(value: 0)
        Task {
          var sum = 0
          for index in 0..<100 * count { sum &+= await target.upload(index) }
          precondition(sum == 50 * count * (100 * count - 1), "the target was not asked")
          isDone.signal()
        }
        isDone.wait()
      }
      let face = delegates.face
      return [
        Benchmark("value/await-100/method") { waiting(for: listener, $0) },
        Benchmark("value/await-100/face", over: "value/await-100/method") {
          waiting(for: face, $0)
        },
      ]
    }
  #endif

  /// To one, beside a message with a number.
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

/// The protocol of a delegate, as anybody writes it.
#if Macros
  @Forwardable
#endif
protocol ChatListening: AnyObject {
  func chat(_ chat: CoreRows.Chat, didReceive message: CoreRows.ChatMessage)
  func count(_ number: Int)
}

#if Macros
  @Forwardable
  protocol Uploading: AnyObject, Sendable {
    @Otherwise(0) func upload(_ number: Int) async -> Int
  }

  extension CoreRows.Listener: Uploading {}
#endif

/// What an array of delegates is usually made of.
final class WeakBox {
  weak var target: (any ChatListening)?
  init(_ target: any ChatListening) { self.target = target }
}

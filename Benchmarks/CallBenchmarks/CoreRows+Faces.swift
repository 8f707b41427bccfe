// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding

// Faces of many targets, whose methods the faces register, in comparison with hand-written code.

/// A typical protocol of a delegate.
#if Macros
  @Forwardable
#endif
protocol ChatListening: AnyObject {
  func chat(_ chat: CoreRows.Chat, didReceive message: CoreRows.ChatMessage)
  func count(_ number: Int)
}

/// A delegate with one class for each `Kind`, because the delegates of a program have different
/// classes.
final class Delegate<Kind>: ChatListening, @unchecked Sendable {
  // SAFETY: one thread at a time uses it.
  var last = 0

  @inline(never)
  func chat(_ chat: CoreRows.Chat, didReceive message: CoreRows.ChatMessage) {
    last = message.number
  }

  @inline(never)
  func count(_ number: Int) { last = number }
}

/// The usual element of an array of delegates.
final class WeakBox {
  weak var target: (any ChatListening)?
  init(_ target: any ChatListening) { self.target = target }
}

extension CoreRows {
  static func faces() throws -> [Benchmark] {
    var rows: [Benchmark] = []
    for (number, classes) in [(1, 1), (16, 1), (16, 2), (16, 16)] {
      rows += boxes(number, classes)
      #if Macros
        for strongly in [false, true] { rows += try faces(number, classes, strongly) }
      #endif
    }
    #if Macros
      return try rows + queued(100) + queued(400) + blocking() + awaited() + asked() + firstAdd()
    #else
      return rows
    #endif
  }

  /// Delegates of the given number of classes, in turns.
  private static func delegates(_ number: Int, _ classes: Int) -> [any ChatListening] {
    func make<Kind>(_ kind: Kind.Type) -> any ChatListening { Delegate<Kind>() }
    return (0..<number).map { index in
      let kind: Any.Type = Kinds.all[index % classes]
      return make(kind)
    }
  }

  /// An array of weak boxes, and one of closures.
  private static func boxes(_ number: Int, _ classes: Int) -> [Benchmark] {
    // A weak reference makes reference counting of its object slower, so the other rows have their
    // own targets.
    let boxed = delegates(number, classes)
    let boxes = boxed.map { WeakBox($0) }
    let boxesName = Kinds.row("value/weak-boxes", number, classes)
    let closures = boxed.map { target in
      { [weak target] (chat: Chat, message: ChatMessage) -> Void in
        target?.chat(chat, didReceive: message)
      }
    }
    return [
      Benchmark(boxesName) { count in
        withExtendedLifetime(boxed) {
          for _ in 0..<count {
            for box in boxes { box.target?.chat(chat, didReceive: message) }
          }
        }
      },
      Benchmark(Kinds.row("value/weak-closures", number, classes), over: boxesName) { count in
        withExtendedLifetime(boxed) {
          for _ in 0..<count {
            for closure in closures { closure(chat, message) }
          }
        }
      },
    ]
  }

  #if Macros
    private static func faces(_ number: Int, _ classes: Int, _ strongly: Bool) throws -> [Benchmark]
    {
      let targets = try TargetsOfFace<ChatListeningProxy>(delegates(number, classes))
      let many = Multicast<ChatListeningProxy>()
      for target in targets.all { many.add(target, strongly: strongly) }
      let face = many.face
      let how = strongly ? "strong" : "weak"
      return [
        Benchmark(Kinds.row("value/face-number-\(how)", number, classes), behind: targets) {
          count in
          for index in 0..<count { face.count(index) }
        },
        Benchmark(
          Kinds.row("value/face-\(how)", number, classes),
          over: Kinds.row("value/weak-boxes", number, classes), behind: targets
        ) { count in
          for _ in 0..<count { face.chat(chat, didReceive: message) }
        },
      ]
    }

    /// Many calls to a target on a queue, and closures with the same captures. The queue starts
    /// when all calls are enqueued, so that the time for it to wake is not measured.
    private static func queued(_ number: Int) throws -> [Benchmark] {
      let queue = DispatchQueue(label: "listener")
      let listener = Delegate<Int>()
      let targets = try TargetsOfFace<ChatListeningProxy>([listener])
      let many = Multicast<ChatListeningProxy>()
      many.add(unchecked: listener, on: .queue(queue))
      let face = many.face
      func inBatches(_ count: Int, _ send: () -> Void) {
        for _ in 0..<count {
          queue.suspend()
          for _ in 0..<number { send() }
          queue.resume()
          queue.sync {}
        }
      }
      return [
        Benchmark("value/queue-\(number)/async") { count in
          // Local variables, because a closure does not capture a constant of the program.
          let (chat, message) = (Chat(), CoreRows.message)
          inBatches(count) { queue.async { listener.chat(chat, didReceive: message) } }
        },
        Benchmark(
          "value/queue-\(number)/face", over: "value/queue-\(number)/async", behind: targets
        ) {
          inBatches($0) { face.chat(chat, didReceive: message) }
        },
      ]
    }

    /// A target on a queue that the caller waits for.
    private static func blocking() throws -> [Benchmark] {
      let queue = DispatchQueue(label: "blocking listener")
      let listener = Delegate<Int>()
      let targets = try TargetsOfFace<ChatListeningProxy>([listener])
      let many = Multicast<ChatListeningProxy>()
      many.add(unchecked: listener, on: .blocking(queue))
      let face = many.face
      return [
        Benchmark("value/blocking/sync") { count in
          for _ in 0..<count { queue.sync { listener.chat(chat, didReceive: message) } }
        },
        Benchmark("value/blocking/face", over: "value/blocking/sync", behind: targets) { count in
          for _ in 0..<count { face.chat(chat, didReceive: message) }
        },
      ]
    }
  #endif
}

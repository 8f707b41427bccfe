import Forwarding
import ForwardingUndo

// Undo: a change records a call, where a program without this package would keep a closure.
extension CoreRows {
  /// A number that records what sets it back.
  final class Counter: MethodDeclaring {
    let undo = UndoStack()
    var value = 0

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("set:") { (counter: Counter, value: Int) in counter.set(value) }
    }

    func set(_ new: Int) {
      let old = value
      undo.record(on: self, as: CountingFace.self) { $0.set(old) }
      value = new
    }
  }

  /// What `@Forwardable` writes for a protocol with one requirement.
  final class CountingFace: ForwardingFace, @unchecked Sendable {
    // SAFETY: the proxy is all that it has.
    typealias Target = Counter
    typealias SendableTarget = Counter
    typealias Values = (Int)
    struct Messages: FaceMessages {}

    static let set = Requirement<Void, Int>("set:")
    let __forwarder: FaceForwarder
    init(forwardingTo proxy: any ForwardingProxy & Sendable) {
      __forwarder = FaceForwarder(proxy, for: CountingFace.self)
    }
    static func target(_ target: Counter) -> Counter { target }
    static func object(of target: Counter) -> AnyObject { target }
    static func prepare(_ target: Counter) {}

    func set(_ value: Int) {
      __forwarder.tell(
        0, Self.set.selector,
        { (target: borrowing FaceTarget<Counter>) in target.value.set(value) },
        { delivery in try FaceMessage.send(Self.set, value, through: &delivery) })
    }
  }

  static func undo() throws -> [Benchmark] {
    let closures = "undo/record/closures"
    let set = try Message<Void, Int>("set:")
    let (byFace, byMessage, byClosure, there) = (Counter(), Counter(), Counter(), Counter())
    let target = Counter()
    for counter in [byFace, byMessage, byClosure, there] { counter.undo.onDiagnostic = { _ in } }
    there.set(1)
    return [
      // One thousand are kept, and then all are dropped: the time is that of a record and of its end.
      Benchmark(closures) { count in
        var kept: [() -> Void] = []
        for index in 0..<count {
          if index % 1000 == 0 { kept.removeAll(keepingCapacity: true) }
          kept.append { [weak target] in target?.value = index }
        }
      },
      Benchmark("undo/record/face", over: closures) { count in
        for index in 0..<count {
          if index % 1000 == 0 { byFace.undo.removeAll() }
          byFace.undo.record(on: byFace, as: CountingFace.self) { $0.set(index) }
        }
      },
      Benchmark("undo/record/message", over: closures) { count in
        for index in 0..<count {
          if index % 1000 == 0 { byMessage.undo.removeAll() }
          try byMessage.undo.record(on: byMessage, set, index)
        }
      },
      Benchmark("undo/record/closure", over: closures) { count in
        for index in 0..<count {
          if index % 1000 == 0 { byClosure.undo.removeAll() }
          byClosure.undo.record(on: byClosure) { $0.value = index }
        }
      },
      Benchmark("undo/undo-redo/face", over: closures) { count in
        for _ in 0..<count {
          try there.undo.undo()
          try there.undo.redo()
        }
      },
    ]
  }
}

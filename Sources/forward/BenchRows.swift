// SPDX-License-Identifier: Apache-2.0
import Forwarding

/// The rows of `forward bench`: each kind of call beside the closures that a program would have
/// instead. The package in Benchmarks measures many more, and other libraries.
enum BenchRows {
  final class Listener: Listening, CallObject, @unchecked Sendable {
    // SAFETY: one thread uses it.
    var last = 0

    @inline(never)
    func heard(_ number: Int) { last = number }
  }

  private final class WeakBox {
    weak var target: (any Listening)?
    init(_ target: any Listening) { self.target = target }
  }

  private static let counts = [1, 16]

  static func all() throws -> [Benchmark] {
    try MethodTable.of(Listener.self).register("keep:") { (listener: Listener, number: Int) in
      listener.heard(number)
    }
    return closures() + (try messages()) + (try multicasts()) + faces()
  }

  private static func closures() -> [Benchmark] {
    let listener = Listener()
    let closure: (Int) -> Void = { listener.heard($0) }
    var rows = [
      Benchmark("closure/call/stored") { count in for index in 0..<count { closure(index) } }
    ]
    for number in counts {
      let targets = (0..<number).map { _ in Listener() }
      // Not with `map`, which would wrap each closure in another one.
      var closures: [(Int) -> Void] = []
      for target in targets { closures.append { [weak target] in target?.heard($0) } }
      rows.append(
        Benchmark("closure/array-weak/\(number)") { [closures] count in
          withExtendedLifetime(targets) {
            for index in 0..<count { for closure in closures { closure(index) } }
          }
        })
    }
    return rows
  }

  private static func messages() throws -> [Benchmark] {
    let keep = try Message<NoResult, Int>("keep:")
    let (listener, called) = (Listener(), Listener())
    let call = try keep.invocation(0)
    let callback = try Callback { (number: Int) in called.heard(number) }
    let function = try unsafe callback.function(as: (@convention(c) (Int) -> Void).self)
    return [
      Benchmark("send/message/closure", over: "closure/call/stored") { count in
        for index in 0..<count { try keep(index, on: listener) }
      },
      Benchmark("send/invocation/closure", over: "closure/call/stored") { count in
        for index in 0..<count {
          try call.setArgument(index, at: 2)
          try call.invoke(on: listener)
        }
      },
      Benchmark("callback/number/call", over: "closure/call/stored") { count in
        withExtendedLifetime(callback) { for index in 0..<count { function(index) } }
      },
    ]
  }

  private static func multicasts() throws -> [Benchmark] {
    let keep = try Message<NoResult, Int>("keep:")
    return counts.map { number in
      let targets = (0..<number).map { _ in Listener() }
      let proxy = MulticastProxy()
      for target in targets { proxy.add(target) }
      return Benchmark(
        "multicast/closures-weak/\(number)", over: "closure/array-weak/\(number)"
      ) { count in
        try withExtendedLifetime(targets) {
          for index in 0..<count { try keep(index, on: proxy) }
        }
      }
    }
  }

  /// Arrays of weak boxes, the usual delegates by hand, and the face that replaces them.
  private static func faces() -> [Benchmark] {
    counts.flatMap { number -> [Benchmark] in
      let targets = (0..<number).map { _ in Listener() }
      let boxes = targets.map { WeakBox($0) }
      var rows = [
        Benchmark("value/weak-boxes/\(number)") { count in
          withExtendedLifetime(targets) {
            for index in 0..<count { for box in boxes { box.target?.heard(index) } }
          }
        }
      ]
      #if Macros
        let many = Multicast<ListeningProxy>()
        let listeners = (0..<number).map { _ in Listener() }
        for listener in listeners { many.add(listener) }
        let face = many.face
        rows.append(
          Benchmark("value/face-weak/\(number)", over: "value/weak-boxes/\(number)") { count in
            withExtendedLifetime((many, listeners)) {
              for index in 0..<count { face.heard(index) }
            }
          })
      #endif
      return rows
    }
  }
}

/// A delegate's protocol.
#if Macros
  @Forwardable
#endif
protocol Listening: AnyObject {
  func heard(_ number: Int)
}

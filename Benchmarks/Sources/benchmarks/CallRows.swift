// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTesting
import ForwardingUndo
import Invocations
import PeerC
import Synchronization
import TypeEncodings

#if HAS_GNUSTEP
  import PeerGNUstep
#endif

/// Calls that are made anew, answered by several objects, kept for undo, or recorded by a spy.
enum CallRows {
  static func all() throws -> [Benchmark] { try made() + answered() + undone() + spied() }

  private static func made() throws -> [Benchmark] {
    let account = BenchRows.Account()
    let signature = try MethodSignature("q@:q")
    var rows = [
      Benchmark(
        "invoke/new", "a new `Invocation`: argument set, invoked, result read",
        over: BenchRows.property
      ) { count in
        for index in 0..<count {
          let call = try Invocation(signature, selector: "deposit:")
          try call.setArgument(index, at: 2)
          try call.invoke(on: account)
          _ = try call.result(as: Int.self)
        }
      }
    ]
    #if HAS_GNUSTEP
      rows.append(
        Benchmark(
          "gnustep/new", "GNUstep's `NSInvocation`: argument set, invoked, result read",
          over: "invoke/new"
        ) { peer_gnustep_new($0) })
    #endif
    return rows
  }

  /// What a program would write for several objects that may die, in order, and on any thread: weak
  /// closures behind a lock.
  private final class Answering: Sendable {
    private let closures = Mutex<[@Sendable (Int) -> Int?]>([])

    func add(_ account: BenchRows.Account) {
      closures.withLock { $0.append { [weak account] in account?.deposit($0) } }
    }

    @inline(never)
    func answers(_ number: Int) -> [Int] {
      closures.withLock { $0 }.compactMap { $0(number) }
    }
  }

  private static func answered() throws -> [Benchmark] {
    let (list, proxy) = (Answering(), MulticastProxy())
    let closed = (0..<3).map { _ in BenchRows.Account() }
    let targets = (0..<3).map { _ in BenchRows.Account() }
    for account in closed { list.add(account) }
    for account in targets { proxy.add(account) }
    let deposit = try Message<Int, Int>("deposit:").invocation(50)
    return [
      Benchmark("answers/by-hand", "the answers of 3 weak closures behind a lock, by hand") {
        count in
        withExtendedLifetime(closed) {
          for index in 0..<count { precondition(list.answers(index).count == 3) }
        }
      },
      Benchmark(
        "answers/three", "the answers of 3 weak targets: `answers(to:as:)`", over: "answers/by-hand"
      ) { count in
        try withExtendedLifetime(targets) {
          for _ in 0..<count {
            let answers = try proxy.answers(to: deposit, as: Int.self)
            precondition(answers.count == 3)
          }
        }
      },
    ]
  }

  // MARK: Kept calls

  final class Counter: Counting {
    let undo = UndoStack()
    var value = 0
    func set(_ value: Int) { self.value = value }
  }

  /// A thousand steps are recorded and then dropped together: the time is that of recording one and
  /// releasing it.
  private static func undone() throws -> [Benchmark] {
    let (target, counter) = (Counter(), Counter())
    return [
      Benchmark("undo/by-hand", "a weak closure that undoes a change, kept in an array, by hand") {
        count in
        var steps: [() -> Void] = []
        for index in 0..<count {
          if index % 1000 == 0 { steps.removeAll(keepingCapacity: true) }
          steps.append { [weak target] in target?.value = index }
        }
      },
      Benchmark("undo/record", "a step that undoes a change, recorded", over: "undo/by-hand") {
        count in
        for index in 0..<count {
          if index % 1000 == 0 { counter.undo.removeAll() }
          counter.undo.record(on: counter, as: CountingProxy.self) { $0.set(index) }
        }
      },
    ]
  }

  private static func spied() throws -> [Benchmark] {
    let ask = try Message<Int, Int>("ask:")
    let spy = SpyProxy()
    spy[ask].answer { $0 }
    return [
      Benchmark("spy/call", "a spy that keeps a call and answers it", over: BenchRows.property) {
        count in
        for index in 0..<count {
          if index % 1000 == 0 { spy.forgetCalls() }
          _ = try ask(index, on: spy)
        }
      }
    ]
  }
}

@Forwardable
protocol Counting: AnyObject {
  func set(_ value: Int)
}

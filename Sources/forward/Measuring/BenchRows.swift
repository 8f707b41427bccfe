// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

/// The rows of `forward bench`, with which the table of the package in Benchmarks begins: the two
/// closures that everything is compared with, delegates, and calls.
enum BenchRows {
  /// The names of the two closures.
  static let local = "closure/local"
  static let property = "closure/property"

  static func all() throws -> [Benchmark] { try closuresAndCalls() + informed() }

  // MARK: Calls

  /// An object with one method, which every call of this group ends in.
  final class Account: @unchecked Sendable {
    // SAFETY: one thread uses it.
    private var balance = 0

    @inline(never)
    func deposit(_ amount: Int) -> Int {
      balance &+= amount
      return balance
    }
  }

  /// An object that holds a closure for later, as an observer or a button does.
  private final class Button {
    var action: (Int) -> Int
    init(_ action: @escaping (Int) -> Int) { self.action = action }
  }

  /// Not inlined: a closure that the compiler sees being made is called like a function, and no
  /// program that has to store one gets that.
  @inline(never)
  static func closure(_ account: Account) -> (Int) -> Int { { account.deposit($0) } }

  private static func closuresAndCalls() throws -> [Benchmark] {
    try MethodTable.of(Account.self).register("deposit:", replacing: true, Account.deposit)
    let deposit = try Message<Int, Int>("deposit:")
    let (account, other) = (Account(), Account())
    let action = closure(account)
    let button = Button(closure(account))
    let call = try deposit.invocation(50)
    return [
      Benchmark(local, "a closure in a local variable") { count in
        for index in 0..<count { _ = action(index) }
      },
      Benchmark(property, "a closure in a property of a class") { count in
        for index in 0..<count { _ = button.action(index) }
      },
      Benchmark("invoke/recorded", "a recorded call, made again: `invoke(on:)`", over: property) {
        count in
        for _ in 0..<count { try call.invoke(on: other) }
      },
      Benchmark("message/one", "a `Message` to one object", over: property) { count in
        for index in 0..<count { _ = try deposit(index, on: other) }
      },
    ]
  }

  // MARK: Delegates

  /// The usual element of an array of delegates.
  final class WeakBox {
    weak var target: (any InboxDelegate)?
    init(_ target: any InboxDelegate) { self.target = target }
  }

  /// Delegates of two classes, in turns: the delegates of a program have different ones.
  static func delegates(_ number: Int) -> [any InboxDelegate] {
    (0..<number).map { index in if index % 2 == 0 { Window() } else { Badge() } }
  }

  private static func informed() -> [Benchmark] {
    let (inbox, letter) = (Inbox(), Letter())
    var rows: [Benchmark] = []
    for number in [1, 16] {
      // Every row has targets of its own: to retain an object is slower once there has been a weak
      // reference to it.
      let boxed = delegates(number)
      let boxes = boxed.map { WeakBox($0) }
      let many = number == 1 ? "1 delegate" : "\(number) delegates"
      rows.append(
        Benchmark("boxes/\(number)", "\(many) in an array of weak boxes, by hand") { count in
          withExtendedLifetime(boxed) {
            for _ in 0..<count {
              for box in boxes { box.target?.inbox(inbox, didReceive: letter) }
            }
          }
        })
    }
    #if Macros
      let nobody = Multicast<InboxDelegateProxy>()
      let none = nobody.proxy
      rows.append(
        Benchmark("proxy/none", "a proxy of no delegates", over: property) { count in
          withExtendedLifetime(nobody) {
            for _ in 0..<count { none.inbox(inbox, didReceive: letter) }
          }
        })
      for (how, number) in [("weak", 1), ("weak", 16), ("strong", 1), ("strong", 16)] {
        let targets = delegates(number)
        let many = Multicast<InboxDelegateProxy>()
        for target in targets { many.add(target, strongly: how == "strong") }
        let proxy = many.proxy
        rows.append(
          Benchmark(
            "proxy/\(how)-\(number)",
            "a proxy of \(number) \(how) \(number == 1 ? "delegate" : "delegates")",
            over: "boxes/\(number)"
          ) { count in
            withExtendedLifetime((many, targets)) {
              for _ in 0..<count { proxy.inbox(inbox, didReceive: letter) }
            }
          })
      }
    #endif
    return rows
  }
}

/// What a delegate is told about, and the structure that it gets.
final class Inbox: Sendable {}

struct Letter: Sendable {
  var text = "a text that is long enough"
  var number = 3
  var parts = [1, 2, 3]
}

#if Macros
  @Forwardable
#endif
protocol InboxDelegate: AnyObject {
  func inbox(_ inbox: Inbox, didReceive letter: Letter)
}

final class Window: InboxDelegate, @unchecked Sendable {
  // SAFETY: one thread at a time uses it.
  private var last = 0

  @inline(never)
  func inbox(_ inbox: Inbox, didReceive letter: Letter) { last = letter.number }
}

final class Badge: InboxDelegate {
  private var count = 0

  @inline(never)
  func inbox(_ inbox: Inbox, didReceive letter: Letter) { count &+= letter.number }
}

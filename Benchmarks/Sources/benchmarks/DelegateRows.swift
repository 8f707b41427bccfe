// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Foundation
import Invocations

/// Messages and notifications to sixteen objects; delegates that are asked; and the first `add`.
enum DelegateRows {
  static func all() throws -> [Benchmark] { try sixteen() + asked() + added() }

  // MARK: Sixteen objects

  /// A delegate that is reached by a selector, and not by its protocol.
  private final class Listener<Kind>: @unchecked Sendable {
    // SAFETY: one thread uses it.
    private var last = 0

    @inline(never)
    func inbox(_ inbox: Inbox, didReceive letter: Letter) { last = letter.number }
  }

  private static func listener<Kind>(_ kind: Kind.Type) throws -> AnyObject {
    try MethodTable.of(Listener<Kind>.self).register("inbox:didReceive:", replacing: true) {
      (listener: Listener<Kind>, inbox: Inbox, letter: Letter) in
      listener.inbox(inbox, didReceive: letter)
    }
    return Listener<Kind>()
  }

  /// Sixteen classes, each by its name, so that the compiler specializes their methods as it does
  /// those of any class.
  private static let classes: [@Sendable () throws -> AnyObject] = [
    { try listener(Int.self) }, { try listener(Int8.self) }, { try listener(Int16.self) },
    { try listener(Int32.self) }, { try listener(Int64.self) }, { try listener(UInt.self) },
    { try listener(UInt8.self) }, { try listener(UInt16.self) }, { try listener(UInt32.self) },
    { try listener(UInt64.self) }, { try listener(Float.self) }, { try listener(Double.self) },
    { try listener(Bool.self) }, { try listener(String.self) }, { try listener(Character.self) },
    { try listener(Substring.self) },
  ]

  /// The weak boxes that these rows are compared with hold two classes. The number of classes
  /// changes their time by less than a hundredth.
  private static func sixteen() throws -> [Benchmark] {
    let received = try Message<Void, Inbox, Letter>("inbox:didReceive:")
    let (inbox, letter) = (Inbox(), Letter())
    var rows: [Benchmark] = []
    for number in [1, 16] {
      let targets = try (0..<16).map { try classes[$0 % number]() }
      let untyped = MulticastProxy()
      for target in targets { untyped.add(target) }
      rows.append(
        Benchmark(
          "message/16-of-\(number)",
          "a `Message` to 16 weak targets of \(number) \(number == 1 ? "class" : "classes")",
          over: "boxes/16"
        ) { count in
          try withExtendedLifetime(targets) {
            for _ in 0..<count { try received(inbox, letter, on: untyped) }
          }
        })
    }
    let center = NotificationCenter()
    let name = Notification.Name("received")
    let observers = BenchRows.delegates(16)
    let tokens = observers.map { observer in
      // SAFETY: the notification is posted on the thread of the row.
      nonisolated(unsafe) weak let observer = observer
      return center.addObserver(forName: name, object: nil, queue: nil) { note in
        guard let inbox = note.object as? Inbox, let letter = note.userInfo?["letter"] as? Letter
        else { return }
        unsafe observer?.inbox(inbox, didReceive: letter)
      }
    }
    rows.append(
      Benchmark("notification/16", "`NotificationCenter`, 16 weak observers", over: "boxes/16") {
        count in
        withExtendedLifetime((observers, tokens)) {
          for _ in 0..<count {
            center.post(name: name, object: inbox, userInfo: ["letter": letter])
          }
        }
      })
    return rows
  }

  // MARK: Asked delegates

  private final class Writer: Describing {
    @inline(never)
    func describe(_ number: Int) -> Letter { Letter(number: number) }
  }

  private final class Property {
    weak var target: (any Describing)?
    init(_ target: any Describing) { self.target = target }
  }

  private static func asked() throws -> [Benchmark] {
    let (referred, targets) = ([Writer(), Writer()], [Writer(), Writer()])
    let properties = referred.map { Property($0) }
    let property = properties[0]
    let single = SingleTarget<DescribingProxy>(targets[0])
    let (source, many) = (DataSource<DescribingProxy>(), Multicast<DescribingProxy>())
    for target in targets {
      source.add(target)
      many.add(target)
    }
    let (one, first) = (single.proxy, source.proxy)
    return [
      Benchmark("ask/by-hand", "a weak delegate that answers a structure, by hand") { count in
        withExtendedLifetime(referred) {
          for index in 0..<count { precondition(property.target?.describe(index).number == index) }
        }
      },
      Benchmark("ask/single", "the proxy of a `SingleTarget`, the same", over: "ask/by-hand") {
        count in
        withExtendedLifetime((single, targets)) {
          for index in 0..<count { precondition(one.describe(index).number == index) }
        }
      },
      Benchmark("ask/source", "the proxy of a `DataSource` of 2", over: "ask/by-hand") { count in
        withExtendedLifetime((source, targets)) {
          for index in 0..<count { precondition(first.describe(index).number == index) }
        }
      },
      Benchmark("ask-all/by-hand", "the answers of 2 weak delegates, by hand") { count in
        withExtendedLifetime(referred) {
          for index in 0..<count {
            let answers = properties.compactMap { $0.target?.describe(index) }
            precondition(answers.count == 2)
          }
        }
      },
      Benchmark("ask-all/map", "all answers of 2 weak delegates: `map`", over: "ask-all/by-hand") {
        count in
        withExtendedLifetime(targets) {
          for index in 0..<count {
            let answers = many.map { $0.describe(index) }
            precondition(answers.count == 2)
          }
        }
      },
    ]
  }

  // MARK: The first of a class

  private final class Table<Kind>: TableDelegate {}
  private enum One<Kind> {}
  private enum Two<Kind> {}

  /// Makes an object whose class depends on the digits of a number.
  private static func table<Kind>(_ number: Int, _ kind: Kind.Type) -> any TableDelegate {
    if number == 0 { return Table<Kind>() }
    return number % 2 == 1 ? table(number / 2, One<Kind>.self) : table(number / 2, Two<Kind>.self)
  }

  /// Each object has a class that no proxy has seen. The time for the class itself does not count.
  private static func added() -> [Benchmark] {
    var made = 0
    return [
      .timed("add/first", "the first `add` of a class, for a protocol of 13 requirements") {
        count in
        let tables = (0..<count).map { table(made + $0 + 1, Void.self) }
        made += count
        let many = Multicast<TableDelegateProxy>()
        let start = SuspendingClock.now
        for table in tables { many.add(table) }
        return start.nanoseconds
      }
    ]
  }
}

@Forwardable
protocol Describing: AnyObject {
  @Otherwise(Letter()) func describe(_ number: Int) -> Letter
}

/// As many requirements as the delegate of a table view has.
@Forwardable
protocol TableDelegate: AnyObject {
  func one(_ inbox: Inbox)
  func two(_ inbox: Inbox, _ text: String)
  func three(_ number: Int)
  func four(_ letter: Letter)
  func five(_ inbox: Inbox, didReceive letter: Letter)
  @Otherwise(true) func six(_ text: String) -> Bool
  @Otherwise(0) func seven(_ number: Int) -> Int
  func eight(_ inbox: Inbox) -> String?
  func nine(_ numbers: [Int]) throws
  func ten(_ any: any Sendable)
  func eleven(_ one: Int, _ other: Int, _ text: String)
  func twelve()
  func thirteen(_ inbox: Inbox, _ number: Double)
}

/// What every delegate of the table does.
extension TableDelegate {
  func one(_ inbox: Inbox) {}
  func two(_ inbox: Inbox, _ text: String) {}
  func three(_ number: Int) {}
  func four(_ letter: Letter) {}
  func five(_ inbox: Inbox, didReceive letter: Letter) {}
  func six(_ text: String) -> Bool { true }
  func seven(_ number: Int) -> Int { number }
  func eight(_ inbox: Inbox) -> String? { nil }
  func nine(_ numbers: [Int]) throws {}
  func ten(_ any: any Sendable) {}
  func eleven(_ one: Int, _ other: Int, _ text: String) {}
  func twelve() {}
  func thirteen(_ inbox: Inbox, _ number: Double) {}
}

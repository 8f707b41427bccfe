// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import CForwardingShims
import Forwarding

// Operations on lists of targets: changes, reports, and targets that Swift also refers to weakly.
extension CoreRows {
  static func targets() throws -> [Benchmark] {
    try [100, 10_000, 1_000_000].flatMap(changes) + [16, 10_000].map(rounds) + reports()
      + [lives()] + sideTables()
  }

  // MARK: Changes

  /// A proxy with many targets, made when its rows run: the large ones take a second.
  private final class Crowd {
    private let number: Int
    private(set) lazy var targets = (0..<number).map { _ in QuietSubject() }
    var tokens: [MulticastProxy.Token] = []
    let proxy = MulticastProxy()
    private var last = 0

    init(_ number: Int) { self.number = number }

    func prepare() { if tokens.isEmpty { tokens = targets.map { proxy.add($0) } } }

    /// Returns positions from all over the list, and so from all over the memory.
    func next() -> Int {
      last = (last &+ 611_953) % number
      return last
    }
  }

  static func changes(_ number: Int) -> [Benchmark] {
    let crowd = Crowd(number)
    let base = "dictionary/remove-add/\(number)"
    func row(_ what: String, _ body: @escaping (Int) -> Void) -> Benchmark {
      Benchmark("targets/\(what)/\(number)", over: base) { count in
        crowd.prepare()
        for _ in 0..<count { body(crowd.next()) }
      }
    }
    return [
      dictionary(number),
      row("remove-add-token") { index in
        crowd.proxy.remove(crowd.tokens[index])
        crowd.tokens[index] = crowd.proxy.add(crowd.targets[index])
      },
      row("remove-add-target") { index in
        crowd.proxy.remove(crowd.targets[index])
        crowd.tokens[index] = crowd.proxy.add(crowd.targets[index])
      },
      row("contains") { index in
        if !crowd.proxy.contains(crowd.targets[index]) { subject_use(1) }
      },
      row("block-unblock") { index in
        crowd.proxy.block(crowd.tokens[index])
        crowd.proxy.unblock(crowd.tokens[index])
      },
    ]
  }

  /// The alternative to a proxy: a dictionary of targets, with one removed and added.
  private static func dictionary(_ number: Int) -> Benchmark {
    let crowd = Crowd(number)
    var kept: [ObjectIdentifier: QuietSubject] = [:]
    return Benchmark("dictionary/remove-add/\(number)") { count in
      if kept.isEmpty { for target in crowd.targets { kept[ObjectIdentifier(target)] = target } }
      for _ in 0..<count {
        let target = crowd.targets[crowd.next()]
        kept[ObjectIdentifier(target)] = nil
        kept[ObjectIdentifier(target)] = target
      }
    }
  }

  /// A change, and a message that the first target answers: the time is almost only that of the
  /// change.
  static func rounds(_ number: Int) throws -> Benchmark {
    let first = try Message<Int>("first")
    let targets = (0..<number).map { _ in NativeSubject() }
    let other = NativeSubject()
    let proxy = MulticastProxy()
    proxy.resultRule = .first
    for target in targets { proxy.add(target) }
    return Benchmark("targets/add-send-remove/\(number)", over: "closure/call/stored") { count in
      try withExtendedLifetime(targets) {
        for _ in 0..<count {
          let token = proxy.add(other)
          _ = try first(on: proxy)
          proxy.remove(token)
        }
      }
    }
  }

  // MARK: Reports

  static func reports() throws -> [Benchmark] {
    let keep = try Message<NoResult, Int>("keep:")
    func row(
      _ how: String, over base: String, _ make: () -> AnyObject
    ) -> Benchmark {
      let targets = (0..<16).map { _ in make() }
      let proxy = MulticastProxy()
      for target in targets { proxy.add(target) }
      return Benchmark("report/\(how)/16", over: base) { count in
        try withExtendedLifetime(targets) {
          for index in 0..<count {
            subject_use(Int64(try keep.deliver(index, on: proxy).entries.count))
          }
        }
      }
    }
    return [
      row("c-functions", over: "multicast/weak/16") { NativeSubject() },
      row("closures", over: "multicast/closures-weak/16") { Subject() },
    ]
  }

  /// The life of a proxy: init, add, send and deinit.
  static func lives() throws -> Benchmark {
    let keep = try Message<NoResult, Int>("keep:")
    let target = NativeSubject()
    return Benchmark("proxy/new-add-send/1", over: "closure/call/stored") { count in
      for index in 0..<count {
        let proxy = MulticastProxy()
        proxy.add(target)
        try keep(index, on: proxy)
      }
    }
  }

  // MARK: Side tables

  /// Swift moves the reference counts of objects that it refers to weakly to a side table, for
  /// good. Each retain and release then costs more, in the runtime; a delivery needs one of each.
  static func sideTables() throws -> [Benchmark] {
    let keep = try Message<NoResult, Int>("keep:")
    let targets = (0..<16).map { _ in NativeSubject() }
    let others = targets.map { WeakBox(object: $0) }
    let proxy = MulticastProxy()
    for target in targets { proxy.add(target) }
    let objects = unsafe targets.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    return [
      Benchmark("retain/side-table/16", over: "multicast/weak/16") { count in
        for _ in 0..<count {
          for index in 0..<16 {
            if let held = unsafe swift_tryRetain(objects[index]) { unsafe swift_release(held) }
          }
        }
      },
      Benchmark("multicast/weak-side-table/16", over: "multicast/weak/16") { count in
        try withExtendedLifetime((targets, others)) {
          for index in 0..<count { try keep(index, on: proxy) }
        }
      },
    ]
  }

  private struct WeakBox {
    weak let object: NativeSubject?
  }
}

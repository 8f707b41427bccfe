// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import Forwarding
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The cost of a target that runs for long to all other code: a target may run an event loop, so
/// there should be none.
///
/// Rows `held/…/n` send while n threads are inside a target, and another thread changes lists and
/// classes all the time; `held/…/0` has no threads inside. Rows `threads/change/…` change and
/// deliver to a list before and after 3,000 threads have come and gone. All other `threads/…` send
/// from many at once.
public enum LongRunning {
  static let counts = [0, 1, 8, 64]

  /// The prefixes of the names of all its rows.
  public static let folders = ["held/", "threads/"]

  /// Measures all rows. Needs a process of its own, in which no thread has ended yet.
  public static func measure() throws -> [Measurement] {
    try CoreRows.register()
    return try threads() + held() + senders()
  }

  // MARK: Threads that send at once

  /// Rows `threads/…/n` are the time for one send, of n threads together.
  static func senders() throws -> [Measurement] {
    try Senders.ways.flatMap { way in
      let name = "threads/\(way.name)/"
      let alone = try Senders.time(1, way)
      let more = try [2, 4, 8].map { number in
        row("\(name)\(number)", name + "1", try Senders.time(number, way), over: alone)
      }
      return [row(name + "1", nil, alone, over: nil)] + more
    }
  }

  // MARK: Ended threads

  static func threads() throws -> [Measurement] {
    let keep = try Message<NoResult, Int>("keep:")
    let subject = NativeSubject()
    let proxy = MulticastProxy()
    func change(_ count: Int) throws {
      for index in 0..<count {
        let token = proxy.add(subject, strongly: true)
        try keep(index, on: proxy)
        proxy.remove(token)
      }
    }
    let fresh = try patientBest(150, expected: .infinity, change)
    for _ in 0..<30 {
      let batch = (0..<100).map { _ in
        BenchmarkThread { for index in 0..<10 { _ = try? keep(index, on: NativeSubject()) } }
      }
      for thread in batch { thread.join() }
    }
    let after = try patientBest(150, expected: 1.05 * fresh, change)
    return [
      row("threads/change/fresh", nil, fresh, over: nil),
      row("threads/change/after-3000", "threads/change/fresh", after, over: fresh),
    ]
  }

  // MARK: Running targets

  static func held() throws -> [Measurement] {
    let keep = try Message<NoResult, Int>("keep:")
    let subject = NativeSubject()
    let targets = (0..<16).map { _ in NativeSubject() }
    let proxy = MulticastProxy()
    for target in targets { proxy.add(target, strongly: true) }
    let kinds: [(name: String, count: Int, body: (Int) throws -> Void)] = [
      ("send", 30_000, { for index in 0..<$0 { try keep(index, on: subject) } }),
      ("multicast", 6000, { for index in 0..<$0 { try keep(index, on: proxy) } }),
    ]
    var times: [String: Double] = [:]
    // In turns, so that other load on the machine affects all rows alike.
    for _ in 0..<8 {
      for number in counts {
        let crowd = try Crowd(number)
        for kind in kinds {
          let outside = "\(kind.name)/\(number)"
          times[outside] = min(times[outside] ?? .infinity, try best(kind.count, kind.body))
          let inside = "\(kind.name)-inside/\(number)"
          let time = TimeBox()
          try Holder.inside { time.value = try best(kind.count, kind.body) }
          times[inside] = min(times[inside] ?? .infinity, time.value)
        }
        crowd.dismiss()
      }
    }
    return kinds.flatMap { kind in
      [kind.name, kind.name + "-inside"].flatMap { name in
        counts.map { number in
          let base = times["\(kind.name)/0"]
          return row(
            "held/\(name)/\(number)", "held/\(kind.name)/0", times["\(name)/\(number)"] ?? .nan,
            over: base)
        }
      }
    }
  }

  private static func row(
    _ name: String, _ baseline: String?, _ time: Double, over base: Double?
  ) -> Measurement {
    Measurement(
      name: name, baseline: name == baseline ? nil : baseline, minimum: time, median: time,
      ratio: base.map { time / $0 }, allocations: nil)
  }

  /// The best of many rounds with pauses between them. On some machines the kernel's part of a
  /// change runs at one of two speeds, and stays at one for seconds. A time worse than `expected`
  /// is therefore measured for ten seconds before it is accepted.
  private static func patientBest(
    _ count: Int, expected: Double, _ body: (Int) throws -> Void
  ) rethrows -> Double {
    var best = Double.infinity
    for round in 0..<100 where round < 20 || best > expected {
      best = min(best, try Self.best(count, body))
      usleep(100_000)
    }
    return best
  }

  /// The best of 15 rounds, in nanoseconds for one repetition.
  private static func best(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
    try body(count)
    var best = Double.infinity
    for _ in 0..<15 {
      let start = Runner.now()
      try body(count)
      best = min(best, (Runner.now() - start) / Double(count))
    }
    return best
  }
}

private final class TimeBox {
  var value = Double.infinity
}

/// A target that runs a closure inside its own delivery.
private final class Holder: CallObject, @unchecked Sendable {
  // SAFETY: set before the one delivery that runs it.
  private let body: () throws -> Void
  private(set) var failure: (any Error)?

  private init(_ body: @escaping () throws -> Void) { self.body = body }

  private static let run: Message<NoResult> = {
    do {
      // Not registered by types: another closure with arguments would change how the closures of
      // the rows are compiled.
      let method = try Implementation(MethodSignature("v@:")) { call in
        guard let holder = call.target as? Holder else { return }
        do { try holder.body() } catch { holder.failure = error }
      }
      try MethodTable.of(Holder.self).register("run", method)
      return try Message("run")
    } catch { fatalError("a signature and a selector of this file are refused: \(error)") }
  }()

  /// Runs `body` in a target whose list has been replaced, so that only this delivery retains the
  /// list.
  static func inside(_ body: @escaping () throws -> Void) throws {
    let proxy = MulticastProxy()
    let other = NativeSubject()
    let holder = Holder {
      proxy.add(other)
      proxy.remove(other)
      try body()
    }
    proxy.add(holder, strongly: true)
    try run(on: proxy)
    if let failure = holder.failure { throw failure }
  }
}

/// Threads that are each inside a target, and one thread that changes lists and classes.
private final class Crowd: Sendable {
  private let gate = Gate()
  private let threads: [BenchmarkThread]
  private let changer: BenchmarkThread

  init(_ number: Int) throws {
    let gate = gate
    threads = (0..<number).map { _ in
      BenchmarkThread { try? Holder.inside { gate.enterAndWait() } }
    }
    while gate.inside.load(ordering: .acquiring) < number { usleep(100) }
    changer = BenchmarkThread {
      let proxy = MulticastProxy()
      let target = NativeSubject()
      let table = MethodTable.of(QuietSubject.self)
      while !gate.isOpen.load(ordering: .acquiring) {
        proxy.add(target)
        _ = try? Message<NoResult, Int>("keep:")(1, on: proxy)
        proxy.remove(target)
        try? table.exchangeForMeasuring()
        usleep(200)
      }
    }
  }

  func dismiss() {
    gate.isOpen.store(true, ordering: .releasing)
    for thread in threads { thread.join() }
    changer.join()
  }

  final class Gate: Sendable {
    let inside = Atomic(0)
    let isOpen = Atomic(false)

    func enterAndWait() {
      inside.add(1, ordering: .acquiringAndReleasing)
      while !isOpen.load(ordering: .acquiring) { usleep(1000) }
    }
  }
}

extension MethodTable {
  /// Replaces a method of a class, and sends its selector.
  fileprivate func exchangeForMeasuring() throws {
    let selector = Selector("changing:")
    replace(
      selector,
      try unsafe Implementation(
        methodEncoding: "v@:q", unsafeFunction: subject_address(.keepNothing)))
    try Message<NoResult, Int>("changing:")(1, on: QuietSubject())
  }
}

/// A thread of the system, not of a pool, so that all threads run at once.
final class BenchmarkThread: @unchecked Sendable {
  // SAFETY: made in `init`, joined once.
  private let thread: pthread_t

  private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  init(_ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    var thread = pthread_t()
    let status = unsafe pthread_create(
      &thread, nil,
      { work in
        guard let work = unsafe work else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
        return nil
      }, work)
    guard status == 0 else { fatalError("no thread can be made: \(status)") }
    self.thread = thread
  }

  func join() { pthread_join(thread, nil) }
}

import CForwardingFixtures
import CForwardingShims
import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing

@testable import Invocations

// What threads, forks, jumps, sandboxes and signals do to a process that uses the library. Each test
// has a process of its own.

/// A target whose methods are C functions and Swift closures.
private final class Counter: CallObject, @unchecked Sendable {
  let count = Atomic(0)
}

/// Ends the process with a line of text unless something is so: `precondition` needs seconds for that.
private func require(
  _ isSo: Bool, _ text: @autoclosure () -> String = "not so", line: Int = #line
) {
  if isSo { return }
  FileHandle.standardError.write(Data("line \(line): \(text())\n".utf8))
  _exit(Int32(1 + line % 100))
}

private final class Box {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}

/// Runs a Swift closure where C wants a function and a context.
private func withContext(
  _ body: @escaping () -> Void,
  _ call: (@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?) -> Int32
) -> Int32 {
  let box = Box(body)
  return withExtendedLifetime(box) {
    call(
      { Unmanaged<Box>.fromOpaque($0!).takeUnretainedValue().body() },
      Unmanaged.passUnretained(box).toOpaque())
  }
}

private func runChild(_ body: @escaping () -> Void) -> Int32 {
  withContext(body) { fixture_run_child($0, $1, 20) }
}

private func catchJump(_ body: @escaping () -> Void) -> Bool {
  withContext(body) { fixture_catch_jump($0, $1) } != 0
}

private func residentKilobytes() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4
}

/// Everything that takes a lock or a hold, once.
private func useEverything(_ proxy: MulticastProxy, _ index: Int) throws {
  let tick = try Message<NoResult, Int32>("tick:")
  let target = Counter()
  let token = proxy.add(target, strongly: index % 2 == 0)
  try tick(1, on: target)
  try tick(1, on: proxy)
  proxy.block(token)
  try tick(1, on: proxy)
  proxy.remove(token)
  try MethodTable.of(Counter.self).replace(
    Selector("other:"), Implementation(method: { (_: Counter, _: Int32) in }))
  try Message<NoResult, Int32>("other:")(1, on: target)
  let callback = try Callback { (value: Int32) in value + 1 }
  let function = try callback.function(as: (@convention(c) (Int32) -> Int32).self)
  require(function(1) == 2)
  // Others may send through the same proxy.
  require(target.count.load(ordering: .relaxed) >= 2)
}

private func registerTick() throws {
  try MethodTable.of(Counter.self).replace(
    Selector("tick:"),
    Implementation(method: { (counter: Counter, step: Int32) in
      counter.count.add(Int(step), ordering: .relaxed)
    }))
}

/// Classes whose methods a thread is about to tell when the process forks. Only the child has time to
/// get to the end.
private enum Slowly {
  static let hasBegun = DispatchSemaphore(value: 0)
  static let isChild = Atomic(false)

  static func begin() {
    if isChild.load(ordering: .relaxed) { return }
    hasBegun.signal()
    sleep(60)
  }

  class Declaring: CallObject, MethodDeclaring, @unchecked Sendable {
    class func declareMethods(_ methods: MethodDeclarations) {
      methods.register("first") { (_: Declaring) -> Int32 in 1 }
      begin()
      methods.register("value") { (_: Declaring) -> Int32 in 6 }
    }
  }

  class Resolving: CallObject, MessageForwarding, @unchecked Sendable {
    static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
      begin()
      return (try? table.add(selector, MethodTableTests.answering(6))) ?? false
    }
  }

  /// Forks while one thread is about to tell a class's methods and others wait for it. The child must
  /// be answered.
  static func fork(_ object: any CallObject & Sendable) {
    for _ in 0..<3 { Thread { _ = try? Messages.value(on: object) }.start() }
    hasBegun.wait()
    // The others have come to wait.
    usleep(20_000)
    let status = runChild {
      isChild.store(true, ordering: .relaxed)
      let answers = Atomic(0)
      onThreads(2) { _ in
        if (try? Messages.value(on: object)) == 6 { answers.add(1, ordering: .relaxed) }
      }
      require((try? Messages.value(on: object)) == 6)
      require(answers.load(ordering: .relaxed) == 2)
    }
    require(status == 0, "the child ended with \(status)")
    _exit(0)
  }
}

@Suite("A process that forks while its threads use the library")
struct ForkTests {
  @Test(
    "a class that was in the middle of declaring its methods has them all in the child",
    .enabled(if: fixture_is_thread_sanitized() == 0, "ThreadSanitizer cannot follow it"))
  func declaring() async {
    await #expect(processExitsWith: .success) { Slowly.fork(Slowly.Declaring()) }
  }

  @Test(
    "a class that was in the middle of resolving a method has it in the child",
    .enabled(if: fixture_is_thread_sanitized() == 0, "ThreadSanitizer cannot follow it"))
  func resolving() async {
    await #expect(processExitsWith: .success) { Slowly.fork(Slowly.Resolving()) }
  }

  @Test(
    "every child can use everything",
    .enabled(
      if: fixture_is_thread_sanitized() == 0, "ThreadSanitizer cannot follow a fork of many threads"
    ))
  func children() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      let isOver = Atomic(false)
      let threads = (0..<4).map { number in
        let thread = Thread {
          while !isOver.load(ordering: .relaxed) {
            try? useEverything(proxy, number)
          }
        }
        thread.start()
        return thread
      }
      try useEverything(MulticastProxy(), 0)
      var failed = 0
      for _ in 0..<60 {
        usleep(2000)
        let status = runChild {
          do {
            for index in 0..<20 { try useEverything(MulticastProxy(), index) }
            try useEverything(proxy, 0)
          } catch {
            _exit(1)
          }
        }
        if status != 0 { failed += 1 }
      }
      isOver.store(true, ordering: .relaxed)
      require(threads.count == 4)
      require(failed == 0, "\(failed) of 60 children failed")
      _exit(0)
    }
  }

  @Test("a child knows no thread but its own")
  func records() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      let isInside = DispatchSemaphore(value: 0)
      proxy.add(Counter(), strongly: true)
      for _ in 0..<8 {
        Thread {
          _ = try? Message<NoResult, Int32>("tick:")(1, on: proxy)
          isInside.signal()
          sleep(60)
        }.start()
        isInside.wait()
      }
      require(fwd_thread_count() >= 8)
      // The thread that forks is known by then.
      try Message<NoResult, Int32>("tick:")(1, on: proxy)
      let status = runChild { _exit(Int32(fwd_thread_count())) }
      require(status == 1, "the child knows \(status)")
      _exit(0)
    }
  }
}

@Suite("Threads that come and go")
struct EndedThreadTests {
  @Test("leave no record behind")
  func records() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let tick = try Message<NoResult, Int32>("tick:")
      try tick(1, on: Counter())
      let before = fwd_thread_count()
      for _ in 0..<50 { onThreads(20) { _ in _ = try? tick(1, on: Counter()) } }
      for _ in 0..<500 where fwd_thread_count() > before { usleep(10_000) }
      require(fwd_thread_count() <= before)
    }
  }
}

/// Tells whether it is alive.
private final class Watched: Sendable {
  private final class Flag: Sendable { let isAlive = Atomic(true) }
  private let flag = Flag()
  var isAlive: @Sendable () -> Bool { { [flag] in flag.isAlive.load(ordering: .acquiring) } }
  deinit { flag.isAlive.store(false, ordering: .releasing) }
}

@Suite("A C method that jumps out of its call")
struct JumpTests {
  private static func jumper() throws -> Counter {
    try unsafe MethodTable.of(Counter.self).register(
      "jump", encoding: "v@:",
      unsafeFunction: unsafeBitCast(
        fixture_jump as @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void,
        to: UnsafeRawPointer.self))
    return Counter()
  }

  @Test("a thousand jumps out of a plain send leave room for the next one")
  func sends() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let target = try Self.jumper()
      let jump = try Message<NoResult>("jump")
      for _ in 0..<1000 { require(catchJump { _ = try? jump(on: target) }) }
      try useEverything(MulticastProxy(), 0)
    }
  }

  @Test("a thousand jumps out of a multicast leave it able to deliver")
  func multicasts() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let target = try Self.jumper()
      let proxy = MulticastProxy()
      proxy.add(target, strongly: true)
      let jump = try Message<NoResult>("jump")
      for _ in 0..<1000 { require(catchJump { _ = try? jump(on: proxy) }) }
      try useEverything(proxy, 0)
      try Message<NoResult, Int32>("tick:")(1, on: proxy)
      let count = target.count.load(ordering: .relaxed)
      require(count == 3, "count \(count)")
    }
  }

  @Test("the same invocation goes through the same proxy again after a jump")
  func again() async {
    await #expect(processExitsWith: .success) {
      let target = try Self.jumper()
      let proxy = MulticastProxy()
      proxy.add(target, strongly: true)
      let call = try Message<NoResult>("jump").invocation()
      try call.setTarget(proxy)
      for _ in 0..<3 { require(catchJump { try? call.invoke() }) }
    }
  }

  @Test("a callback whose body catches a jump dies like any other", arguments: [0, 1])
  func caught(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let target = try Self.jumper()
      let jump = try Message<NoResult>("jump")
      func call() throws -> @Sendable () -> Bool {
        let watched = Watched()
        let callback = try Callback { [watched] (value: Int32) -> Int32 in
          require(watched.isAlive())
          // Only the second send knows its method, and holds it.
          for _ in 0..<2 { require(catchJump { _ = try? jump(on: target) }) }
          return value + 1
        }
        require(try callback.function(as: (@convention(c) (Int32) -> Int32).self)(1) == 2)
        return watched.isAlive
      }
      let isAlive = try call()
      require(!isAlive())
    }
  }

  @Test(
    "what was replaced during a call that a jump left dies after a while all the same",
    .enabled(
      if: fixture_is_address_sanitized() == 0,
      "with AddressSanitizer dead holds are not told; why was not found out"))
  func replaced() async {
    await #expect(processExitsWith: .success) {
      let target = try Self.jumper()
      let proxy = MulticastProxy()
      proxy.add(target, strongly: true)
      let jump = try Message<NoResult>("jump")
      let isAlive = try Self.register(Watched())
      for index in 0..<200 where isAlive() {
        require(catchJump { _ = try? jump(on: proxy) })
        if index > 0 { continue }
        try MethodTable.of(Counter.self).replace(
          Selector("tick:"), Implementation(method: { (_: Counter, _: Int32) in }))
      }
      require(!isAlive())
    }
  }

  private static func register(_ watched: Watched) throws -> @Sendable () -> Bool {
    try MethodTable.of(Counter.self).replace(
      Selector("tick:"),
      Implementation(method: { [watched] (_: Counter, _: Int32) in _ = watched.isAlive() }))
    try Message<NoResult, Int32>("tick:")(1, on: Counter())
    return watched.isAlive
  }
}

@Suite("A process that gives up a system call after its first use")
struct SandboxTests {
  @Test(
    "without membarrier, what is replaced is still disposed of",
    .enabled(
      if: fixture_is_thread_sanitized() == 0, "ThreadSanitizer makes system calls of its own"))
  func withoutMembarrier() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      try useEverything(proxy, 0)
      require(fixture_deny_membarrier() == 0)
      for index in 0..<1000 { try useEverything(proxy, index) }
      let before = residentKilobytes()
      let target = Counter()
      let tick = try Message<NoResult, Int32>("tick:")
      for _ in 0..<50_000 {
        let token = proxy.add(target, strongly: true)
        try tick(1, on: proxy)
        proxy.remove(token)
      }
      require(target.count.load(ordering: .relaxed) == 50_000)
      let growth = residentKilobytes() - before
      // AddressSanitizer keeps what is freed for a while.
      let limit = fixture_is_address_sanitized() == 0 ? 4000 : 400_000
      require(growth < limit, "50,000 changes left \(growth) KB behind")
    }
  }

  @Test("and other threads go on while it happens")
  func withThreads() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      let isOver = Atomic(false)
      let threads = (0..<3).map { number in
        let thread = Thread {
          while !isOver.load(ordering: .relaxed) { try? useEverything(proxy, number) }
        }
        thread.start()
        return thread
      }
      usleep(50_000)
      require(fixture_deny_membarrier() == 0)
      for index in 0..<500 { try useEverything(proxy, index) }
      isOver.store(true, ordering: .relaxed)
      require(threads.count == 3)
      usleep(100_000)
      _exit(0)
    }
  }
}

@Suite("A storm of signals")
struct SignalTests {
  @Test("disturbs no send, no change and no callback")
  func storm() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      require(fixture_begin_signals(200) == 0)
      let proxy = MulticastProxy()
      let end = Date() + 1
      var index = 0
      while Date() < end {
        try useEverything(proxy, index)
        index += 1
      }
      let signals = fixture_end_signals()
      require(signals > 100, "only \(signals) signals came")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs `body` on a new thread after `seconds`. A global queue may have no thread for it: on one
/// processor, tasks that wait or do not end occupy the only thread.
public func beginThread(after seconds: Double = 0, _ body: @escaping @Sendable () -> Void) {
  let thread = Thread {
    if seconds > 0 { Thread.sleep(forTimeInterval: seconds) }
    body()
  }
  thread.stackSize = 4 << 20
  thread.start()
}

/// Runs `body` on `count` new threads at once, and waits for all of them. A concurrent queue would
/// use no more threads than there are cores.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    beginThread {
      body(index)
      group.leave()
    }
  }
  group.wait()
}

/// Runs `body` on a new thread, and returns whether it ends within `seconds`. A body that hangs is
/// left running: its test fails, and the others go on. A thrown error is an end as well.
public func ends(within seconds: Double = 60, _ body: @escaping @Sendable () throws -> Void) -> Bool
{
  let end = DispatchSemaphore(value: 0)
  beginThread {
    try? body()
    end.signal()
  }
  return end.wait(timeout: .now() + seconds) == .success
}

/// Runs `body` on a thread with `size` bytes of stack, and waits for it. A sanitizer multiplies the
/// size by ``Sanitizer/stackFactor``; where threads must have more, the rest is used up before. An
/// error ends the process, so this is for exit tests.
public func onSmallStack(_ size: Int = 64 << 10, _ body: @escaping @Sendable () throws -> Void) {
  let size = size * Sanitizer.stackFactor
  let used = max(0, TestMachine.smallestStack - size)
  do {
    try onStack(of: size + used) { try withUsedStack(used, from: nil, body) }
  } catch {
    fatalError("\(error)")
  }
}

/// Runs `body` in a call so deep that `count` bytes of the stack lie between it and `start`.
@inline(never)
private func withUsedStack(_ count: Int, from start: UInt?, _ body: () throws -> Void) throws {
  try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { room in
    let here = UInt(bitPattern: room.baseAddress!)
    let start = start ?? here
    if start - here >= count { return try body() }
    try withUsedStack(count, from: start, body)
  }
}

/// Runs `body` on a thread with a stack of `size` bytes, and waits for it. Tests of recursion need
/// it: threads of the pool have 512 KiB, too little for deep calls with a sanitizer's stack frames.
public func onStack(of size: Int, _ body: @escaping @Sendable () throws -> Void) throws {
  final class Work {
    let body: @Sendable () throws -> Void
    var result: Result<Void, any Error> = .success(())
    init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }
  }
  let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
  defer { attributes.deallocate() }
  pthread_attr_init(attributes)
  precondition(pthread_attr_setstacksize(attributes, size) == 0, "no such stack")
  var thread = pthread_t()
  let work = Work(body)
  let status = withExtendedLifetime(work) {
    let status = pthread_create(
      &thread, attributes,
      { context in
        let work = Unmanaged<Work>.fromOpaque(context!).takeUnretainedValue()
        work.result = Result { try work.body() }
        return nil
      }, Unmanaged.passUnretained(work).toOpaque())
    if status == 0 { pthread_join(thread, nil) }
    return status
  }
  precondition(status == 0, "no thread")
  try work.result.get()
}

/// Tasks wait until another one has opened it.
public actor Latch {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  public init() {}

  public func open() {
    isOpen = true
    for one in waiting { one.resume() }
    waiting = []
  }

  public func wait() async {
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }
}

/// A value behind a lock, for tests.
///
/// The lock is a pthread mutex: ThreadSanitizer on Linux reports races behind `Synchronization.Mutex` that do not
/// exist.
public final class LockedValue<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  public init(_ value: Value) { self.value = value }

  /// Reads or changes the value.
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

import Foundation

/// Runs `body` on threads of their own, all at a time, and waits for all of them. A concurrent
/// queue would use no more threads than there are cores.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    let thread = Thread {
      body(index)
      group.leave()
    }
    thread.stackSize = 4 << 20
    thread.start()
  }
  group.wait()
}

/// Whether `body` comes to its end on a thread of its own in `seconds`. A body that hangs is left
/// alone: its test fails, and the others go on. An error is an end as well.
public func ends(within seconds: Double = 10, _ body: @escaping @Sendable () throws -> Void) -> Bool
{
  let end = DispatchSemaphore(value: 0)
  let thread = Thread {
    try? body()
    end.signal()
  }
  thread.stackSize = 4 << 20
  thread.start()
  return end.wait(timeout: .now() + seconds) == .success
}

/// Runs `body` on a thread with a stack of `size` bytes, all of it, and waits for it. An error ends
/// the process: for exit tests.
public func onSmallStack(_ size: Int = 64 << 10, _ body: @escaping @Sendable () throws -> Void) {
  final class Box {
    let body: @Sendable () throws -> Void
    init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }
  }
  let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
  defer { attributes.deallocate() }
  pthread_attr_init(attributes)
  precondition(pthread_attr_setstacksize(attributes, size) == 0, "no such stack")
  var thread = pthread_t()
  let box = Unmanaged.passRetained(Box(body)).toOpaque()
  let status = pthread_create(
    &thread, attributes,
    { context in
      let box = Unmanaged<Box>.fromOpaque(context!).takeRetainedValue()
      do { try box.body() } catch { fatalError("\(error)") }
      return nil
    }, box)
  precondition(status == 0, "no thread")
  pthread_join(thread, nil)
}

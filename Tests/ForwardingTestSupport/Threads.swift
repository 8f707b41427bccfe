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
/// alone: its test fails, and the others go on.
public func ends(within seconds: Double = 10, _ body: @escaping @Sendable () -> Void) -> Bool {
  let end = DispatchSemaphore(value: 0)
  let thread = Thread {
    body()
    end.signal()
  }
  thread.stackSize = 4 << 20
  thread.start()
  return end.wait(timeout: .now() + seconds) == .success
}

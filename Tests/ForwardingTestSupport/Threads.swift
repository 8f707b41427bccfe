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

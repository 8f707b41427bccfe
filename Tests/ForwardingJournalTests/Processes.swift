// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// Numbers that a process shares with its children and threads.
final class SharedNumbers {
  private let memory: UnsafeMutablePointer<Atomic<UInt64>>

  init(count: Int) {
    let map = mmap(
      nil, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    memory = map!.bindMemory(to: Atomic<UInt64>.self, capacity: count)
  }

  subscript(index: Int) -> UInt64 {
    get { memory[index].load(ordering: .sequentiallyConsistent) }
    set { memory[index].store(newValue, ordering: .sequentiallyConsistent) }
  }
}

/// A number from the environment.
func setting(_ name: String, _ usual: Int) -> Int {
  ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
}

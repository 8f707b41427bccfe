// SPDX-License-Identifier: Apache-2.0
import Foundation
import CJournalShims
import Glibc
import Synchronization

/// Both implementations of the checksum.
enum Checksums {
  static func both(_ bytes: [UInt8], _ before: UInt32) -> [UInt32] {
    [fwd_crc32c(before, bytes, bytes.count), fwd_crc32c_by_table(before, bytes, bytes.count)]
  }
}

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

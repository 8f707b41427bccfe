import Glibc
import Invocations
import Synchronization

var numbers: [Int32] = [3, 1, 2]

typealias Order = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32

// A closure has what a C function has not: values of its own.
final class Comparisons: Sendable {
  let count = Atomic(0)
}

let comparisons = Comparisons()
let counting = try unsafe Callback {
  (one: UnsafePointer<Int32>, other: UnsafePointer<Int32>) -> Int32 in
  comparisons.count.add(1, ordering: .relaxed)
  return unsafe one.pointee < other.pointee ? -1 : one.pointee > other.pointee ? 1 : 0
}
try unsafe qsort(&numbers, numbers.count, 4, counting.function(as: Order.self))
print(comparisons.count.load(ordering: .relaxed) > 0)  // true
withExtendedLifetime(counting) {}

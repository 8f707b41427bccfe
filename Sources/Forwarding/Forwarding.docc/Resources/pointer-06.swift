import Glibc
import Invocations

typealias Order = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32

struct NotComparable: Error {}

// C cannot get an error: it gets zero, and `onError` gets the error.
let failing = try unsafe Callback(onError: { print("\($0)") }) {
  (_: UnsafePointer<Int32>, _: UnsafePointer<Int32>) throws -> Int32 in throw NotComparable()
}
var two: [Int32] = [2, 1]
try unsafe qsort(&two, two.count, 4, failing.function(as: Order.self))  // NotComparable()
print(two)  // [2, 1]
withExtendedLifetime(failing) {}

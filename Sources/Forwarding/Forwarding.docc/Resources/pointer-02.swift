import Glibc
import Invocations

var numbers: [Int32] = [3, 1, 2]

// The type of the function that C asks for.
typealias Order = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32

let ascending = try unsafe Callback {
  (one: UnsafePointer<Int32>, other: UnsafePointer<Int32>) -> Int32 in
  unsafe one.pointee < other.pointee ? -1 : one.pointee > other.pointee ? 1 : 0
}

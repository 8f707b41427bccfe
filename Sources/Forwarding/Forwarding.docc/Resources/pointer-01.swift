import Glibc
import Invocations

var numbers: [Int32] = [3, 1, 2]

// The type of the function that C asks for.
typealias Order = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32

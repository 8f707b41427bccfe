/// The addresses of values that are lent for the time of a call.
@usableFromInline
enum LentAddress {
  /// Where values lie that take no memory: nothing is read there. Swift has no address of its own for them, and what
  /// it passes for one may be any number, zero as well, which says elsewhere that a value is missing.
  @inlinable static var nowhere: UInt { 16 }

  /// Lends the address of a value while `body` runs. It is never zero.
  @inlinable @unsafe
  @inline(__always)
  static func with<Value, Result>(
    _ value: Value, _ body: (UnsafeRawPointer) throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafePointer(to: value) {
      // SAFETY: a number that is not zero, and aligned for every value that a frame may hold.
      try unsafe body(
        MemoryLayout<Value>.size == 0
          ? UnsafeRawPointer(bitPattern: nowhere).unsafelyUnwrapped : UnsafeRawPointer($0))
    }
  }
}

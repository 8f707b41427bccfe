// Arguments that are lent from where they are, once for each number of them: to walk over a pack, or to
// make a tuple of it, would count their references.

extension ScopedInvocation {
  /// Sets one argument that fits, for the time of `body`.
  @inlinable
  @inline(__always)
  package func lend<A, Result>(
    _ a: A, by layout: TupleLayout, to body: () throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafePointer(to: a) { a in
      unsafe layout.store(lent: (a), in: call)
      return try body()
    }
  }

  /// Sets two arguments that fit, for the time of `body`.
  @inlinable
  @inline(__always)
  package func lend<A, B, Result>(
    _ a: A, _ b: B, by layout: TupleLayout, to body: () throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafePointer(to: a) { a in
      try unsafe withUnsafePointer(to: b) { b in
        unsafe layout.store(lent: (a, b), in: call)
        return try body()
      }
    }
  }

  /// Sets three arguments that fit, for the time of `body`.
  @inlinable
  @inline(__always)
  package func lend<A, B, C, Result>(
    _ a: A, _ b: B, _ c: C, by layout: TupleLayout,
    to body: () throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafePointer(to: a) { a in
      try unsafe withUnsafePointer(to: b) { b in
        try unsafe withUnsafePointer(to: c) { c in
          unsafe layout.store(lent: (a, b, c), in: call)
          return try body()
        }
      }
    }
  }

  /// Sets four arguments that fit, for the time of `body`.
  @inlinable
  @inline(__always)
  package func lend<A, B, C, D, Result>(
    _ a: A, _ b: B, _ c: C, _ d: D, by layout: TupleLayout,
    to body: () throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafePointer(to: a) { a in
      try unsafe withUnsafePointer(to: b) { b in
        try unsafe withUnsafePointer(to: c) { c in
          try unsafe withUnsafePointer(to: d) { d in
            unsafe layout.store(lent: (a, b, c, d), in: call)
            return try body()
          }
        }
      }
    }
  }
}

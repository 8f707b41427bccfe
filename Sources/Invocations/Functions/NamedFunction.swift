// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
public import Synchronization

/// A function of a table: its implementation, its name, and the types that it was called with.
@safe
@usableFromInline
final class NamedFunction: Sendable {
  let name: String
  let implementation: Implementation

  // SAFETY: made in `init` and freed in `deinit`, and never changed.
  nonisolated(unsafe) let key: UnsafeMutablePointer<FWDName>

  /// The function as it was first called: most functions are called with the same types everywhere.
  // SAFETY: the address of a `PreparedFunction`, set once, and retained until `deinit`, so that reading
  // it retains nothing.
  @usableFromInline let prepared = Atomic<UInt>(0)
  private let others = Guarded<[ObjectIdentifier: PreparedFunction]>([:])

  init(_ name: String, _ implementation: Implementation) {
    self.name = name
    self.implementation = implementation
    unsafe key = name.withBytes {
      unsafe fwd_name_create($0.baseAddress.unsafelyUnwrapped, $0.count)
    }
  }

  deinit {
    unsafe fwd_name_free(key)
    unsafe firstPrepared?.release()
  }

  @inlinable @unsafe
  @inline(__always)
  var firstPrepared: Unmanaged<PreparedFunction>? {
    unsafe UnsafeRawPointer(bitPattern: prepared.load(ordering: .acquiring)).map {
      unsafe Unmanaged.fromOpaque($0)
    }
  }

  /// Calls the function with the tuple of arguments at an address.
  @inlinable @unsafe
  @inline(__always)
  func call<Answer, Value, each Argument>(
    _ tuple: UnsafeRawPointer, as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    if let prepared = unsafe firstPrepared,
      unsafe prepared._withUnsafeGuaranteedRef({ $0.types == ObjectIdentifier(type) })
    {
      return try unsafe prepared._withUnsafeGuaranteedRef { try unsafe $0.call(tuple, as: type) }
    }
    return try unsafe prepare(as: type).call(tuple, as: type)
  }

  /// Prepares the function for other types than the first ones.
  @usableFromInline
  @inline(never)
  func prepare<Value, each Argument>(
    as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws(InvocationError) -> PreparedFunction {
    let key = ObjectIdentifier(type)
    if let known = others.read({ $0[key] }) { return known }
    let made = try PreparedFunction(name, implementation, as: type)
    let retained = unsafe Unmanaged.passRetained(made)
    let word = unsafe UInt(bitPattern: retained.toOpaque())
    if !prepared.compareExchange(expected: 0, desired: word, ordering: .acquiringAndReleasing)
      .exchanged
    {
      unsafe retained.release()
      others.withLockInPlace { $0[key] = made }
    }
    return made
  }

  /// Finds a function in a table that is held, or under the lock.
  @usableFromInline @unsafe
  static func find(_ name: String, in table: UnsafeRawPointer?) -> UnsafeRawPointer? {
    guard let table = unsafe table else { return nil }
    return unsafe name.withBytes {
      unsafe fwd_named_find(
        table.assumingMemoryBound(to: FWDNameTable.self), $0.baseAddress.unsafelyUnwrapped,
        $0.count)
    }
  }
}

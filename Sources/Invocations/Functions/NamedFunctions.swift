// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A function of a table: its implementation, its name, and the first types that it was called
/// with.
@safe
@usableFromInline
final class NamedFunction: Sendable {
  let implementation: Implementation

  // SAFETY: made in `init` and freed in `deinit`, and never changed.
  fileprivate nonisolated(unsafe) let key: UnsafeMutablePointer<FWDName>

  @usableFromInline let prepared = PreparedFunctions()

  init(_ name: String, _ implementation: Implementation) {
    self.implementation = implementation
    unsafe key = name.withBytes {
      unsafe fwd_name_create($0.baseAddress.unsafelyUnwrapped, $0.count)
    }
  }

  deinit { unsafe fwd_name_free(key) }

  /// The function, as it was prepared for calls with certain types; nil if it was not.
  @inlinable @unsafe
  @inline(__always)
  func prepared(for types: ObjectIdentifier) -> Unmanaged<PreparedFunction>? {
    var next = unsafe prepared.first
    while let found = unsafe next {
      if unsafe found._withUnsafeGuaranteedRef({ $0.types == types }) { return unsafe found }
      unsafe next = found._withUnsafeGuaranteedRef { unsafe $0.others.first }
    }
    return nil
  }

  /// Calls the function with the tuple of arguments at an address.
  @inlinable @unsafe
  @inline(__always)
  func call<Answer, Value, each Argument>(
    _ tuple: UnsafeRawPointer, as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    guard let prepared = unsafe prepared(for: ObjectIdentifier(type)) else {
      return try unsafe callComparing(tuple, as: type)
    }
    return try unsafe prepared._withUnsafeGuaranteedRef { try unsafe $0.call(tuple, as: type) }
  }

  /// Calls the function with types that it was not prepared for.
  @usableFromInline @unsafe
  @inline(never)
  func callComparing<Answer, Value, each Argument>(
    _ tuple: UnsafeRawPointer, as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    let made = try PreparedFunction(implementation, as: type)
    prepared.add(made)
    return try unsafe made.call(tuple, as: type)
  }

  fileprivate var name: String {
    unsafe String(
      decoding: UnsafeRawBufferPointer(start: fwd_name_bytes(key), count: Int(key.pointee.length)),
      as: UTF8.self)
  }
}

/// The functions of a table, which calls find without a lock (`fwd_names.h`).
@safe
@usableFromInline
final class NamedFunctions: Sendable {
  // SAFETY: one word, allocated in `init` and freed in `deinit`. It is changed under the lock, and
  // read under the lock or through a hold.
  @usableFromInline nonisolated(unsafe) let cell: UnsafeMutablePointer<UnsafeRawPointer?>
  private let lock = Guarded(())

  init() {
    unsafe cell = .allocate(capacity: 1)
    unsafe cell.initialize(to: nil)
  }

  deinit {
    unsafe fwd_names_retire(cell.pointee)
    unsafe cell.deallocate()
  }

  // MARK: Changing

  /// Adds a function. Returns false, and changes nothing, if the name is taken and `replacing` is
  /// false.
  func add(_ function: NamedFunction, _ name: String, replacing: Bool) -> Bool {
    let thing = unsafe UnsafeRawPointer(Unmanaged.passUnretained(function).toOpaque())
    let (isAdded, old) = unsafe lock.read { _ -> (Bool, UnsafeRawPointer?) in
      guard let known = unsafe Self.find(name, in: cell.pointee) else {
        return unsafe (true, fwd_names_add(cell, function.key, thing))
      }
      guard replacing else { return (false, nil) }
      return unsafe (true, fwd_names_replace(cell, known, function.key, thing))
    }
    unsafe fwd_names_retire(old)
    return withExtendedLifetime(function) { isAdded }
  }

  /// Removes a function. Returns false if no function has the name.
  func remove(_ name: String) -> Bool {
    let old = unsafe lock.read { _ -> UnsafeRawPointer? in
      guard let known = unsafe Self.find(name, in: cell.pointee) else { return nil }
      return unsafe fwd_names_replace(cell, known, nil, nil)
    }
    unsafe fwd_names_retire(old)
    return unsafe old != nil
  }

  // MARK: Looking

  /// A snapshot of the functions, in no order.
  private var all: [NamedFunction] {
    lock.read { _ in
      guard let table = unsafe cell.pointee?.assumingMemoryBound(to: FWDNameTable.self) else {
        return []
      }
      return unsafe (0...table.pointee.mask).compactMap { index in
        unsafe fwd_named_at(table, index).map {
          unsafe Unmanaged<NamedFunction>.fromOpaque($0).takeUnretainedValue()
        }
      }
    }
  }

  /// The names of all functions, in no order.
  var names: [String] { all.map(\.name) }

  /// The function with a name.
  @usableFromInline
  subscript(name: String) -> NamedFunction? {
    lock.read { _ in
      unsafe Self.find(name, in: cell.pointee).map {
        unsafe Unmanaged<NamedFunction>.fromOpaque($0).takeUnretainedValue()
      }
    }
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

// SPDX-License-Identifier: Apache-2.0
internal import CForwardingShims

/// Operations on Swift values whose type is only known at run time, in allocations of their own.
@usableFromInline
enum AnyValue {
  /// Copies a value into an allocation of its own, and returns the address.
  @unsafe
  static func copy(_ type: Any.Type, at address: UnsafeRawPointer) -> UnsafeMutableRawPointer {
    func copy<Value>(_ type: Value.Type) -> UnsafeMutableRawPointer {
      unsafe box(address.assumingMemoryBound(to: Value.self).pointee)
    }
    return unsafe copy(type)
  }

  /// The size and the alignment of a type.
  static func layout(of type: Any.Type) -> (size: Int, alignment: Int) {
    func layout<Value>(_ type: Value.Type) -> (size: Int, alignment: Int) {
      (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
    }
    return layout(type)
  }

  /// Copies a value into uninitialized memory. Does nothing if `address` is zero.
  @unsafe
  static func initialize(
    _ type: Any.Type, at memory: UnsafeMutableRawPointer, to address: UInt
  ) {
    func initialize<Value>(_ type: Value.Type) {
      guard let value = unsafe UnsafePointer<Value>(bitPattern: address) else { return }
      // `initialize(from:)` would also copy the padding behind the last value.
      unsafe memory.assumingMemoryBound(to: Value.self).initialize(to: value.pointee)
    }
    initialize(type)
  }

  /// Deinitializes a value, and does not free its memory.
  @unsafe
  static func deinitialize(_ type: Any.Type, at memory: UnsafeMutableRawPointer) {
    func deinitialize<Value>(_ type: Value.Type) {
      unsafe memory.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
    }
    deinitialize(type)
  }

  /// Moves a value into an allocation of its own.
  @inlinable @unsafe
  static func box<Value>(_ value: consuming Value) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    unsafe memory.initialize(to: value)
    return UnsafeMutableRawPointer(memory)
  }

  /// Deinitializes a value in an allocation of its own, and frees it.
  @unsafe
  static func end(_ type: Any.Type, at address: UnsafeMutableRawPointer) {
    func end<Value>(_ type: Value.Type) {
      let memory = unsafe address.assumingMemoryBound(to: Value.self)
      unsafe memory.deinitialize(count: 1)
      unsafe memory.deallocate()
    }
    end(type)
  }

  /// Moves a value out of its allocation, which is freed.
  @inlinable @unsafe
  static func take<Value>(_ memory: UnsafeMutablePointer<Value>) -> Value {
    defer { unsafe memory.deallocate() }
    return unsafe memory.move()
  }

  /// Reads a value.
  @unsafe
  static func value(_ type: Any.Type, at address: UnsafeRawPointer) -> Any {
    func value<Value>(_ type: Value.Type) -> Any {
      unsafe address.assumingMemoryBound(to: Value.self).pointee
    }
    return value(type)
  }
}

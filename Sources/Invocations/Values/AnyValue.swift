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

// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// An address. It fits every pointer place: the pointee type is not checked, as with C's `void *`.
///
/// ```swift
/// let pointer = unsafe UnsafeRawPointer.pointer(toAddress: 0x1000)
/// unsafe pointer?.address                            // 4096
/// unsafe UnsafeRawPointer.pointer(toAddress: 0)      // nil
/// ```
public protocol PointerValue: NullableCallValue {
  /// The address as a number.
  var address: UInt { get }
  /// Makes a pointer to an address; nil for 0.
  static func pointer(toAddress address: UInt) -> Self?
}

extension PointerValue {
  public static var typeEncoding: String { "^v" }

  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.word = UInt64(address) }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    guard let pointer = pointer(toAddress: UInt(slot.word)) else {
      throw .nullPointer(index: slot.index)
    }
    return pointer
  }
}

extension UnsafeRawPointer: @unsafe PointerValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> UnsafeRawPointer? {
    unsafe UnsafeRawPointer(bitPattern: address)
  }
}

extension UnsafeMutableRawPointer: @unsafe PointerValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> UnsafeMutableRawPointer? {
    unsafe UnsafeMutableRawPointer(bitPattern: address)
  }
}

extension UnsafePointer: @unsafe CallValue, @unsafe NullableCallValue, @unsafe PointerValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> UnsafePointer? {
    unsafe UnsafePointer(bitPattern: address)
  }
}

extension UnsafeMutablePointer: @unsafe CallValue, @unsafe NullableCallValue, @unsafe PointerValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> UnsafeMutablePointer? {
    unsafe UnsafeMutablePointer(bitPattern: address)
  }
}

extension OpaquePointer: @unsafe PointerValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> OpaquePointer? {
    unsafe OpaquePointer(bitPattern: address)
  }
}

extension Optional: CallValue where Wrapped: NullableCallValue {
  public static var typeEncoding: String { Wrapped.typeEncoding }

  /// An optional pointer is its address, and nil is zero.
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    // SAFETY: the wrapped value is stored, by the same conformance, or zero.
    unsafe Wrapped._callFacts(depth).optional
  }

  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    if let self { try unsafe self.store(in: slot) } else { slot.word = 0 }
  }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Wrapped? {
    slot.isNull ? nil : try unsafe Wrapped.load(from: slot)
  }
}

extension Selector: CallValue {
  public static var typeEncoding: String { ":" }
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.selector) }

  @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.word = UInt64(word) }

  /// - Throws: ``InvocationError/selectorNotSet`` if the word of the place is not a registered
  ///   selector.
  @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Selector {
    guard let selector = Selector(ofWord: slot.word) else { throw .selectorNotSet }
    return selector
  }
}

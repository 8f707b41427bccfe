// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

// An address fits every pointer place: the pointee type is not checked, as with C's `void *`.

extension UnsafeRawPointer: @unsafe NullableCallValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
}

extension UnsafeMutableRawPointer: @unsafe NullableCallValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
}

extension UnsafePointer: @unsafe CallValue, @unsafe NullableCallValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
}

extension UnsafeMutablePointer: @unsafe CallValue, @unsafe NullableCallValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
}

extension OpaquePointer: @unsafe NullableCallValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
}

extension Selector: CallValue {
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

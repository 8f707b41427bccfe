// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The result type of a message without a result: `v`.
///
/// ```swift
/// let saved = try Message<NoResult, Int32>("didSave:")
/// saved.signature  // v@:i
/// ```
@frozen
public struct NoResult: CallValue, Hashable, Sendable {
  /// Makes the only value.
  @inlinable public init() {}

  public static var typeEncoding: String { "v" }

  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.nothing) }

  @inlinable @unsafe public func store(in slot: ValueSlot) throws(InvocationError) {}

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> NoResult { NoResult() }
}

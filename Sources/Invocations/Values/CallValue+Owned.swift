// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

import Glibc

/// Text for `*`: a C string, or a `String` in a place of Swift text. The frame owns a copy, and
/// reading returns a copy too.
extension String: NullableCallValue {
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    ValueFacts(.cString, zero: .isMissing)
  }

  @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    if slot.kind.isSwiftValue { return slot.text = self }
    // A C string would end at a NUL.
    if let offset = Array(utf8).firstIndex(of: 0) { throw .embeddedNUL(offset: offset) }
    guard let copy = unsafe strdup(self) else { throw .outOfMemory }
    slot.word = UInt64(UInt(bitPattern: copy))
  }

  @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> String {
    if slot.kind.isSwiftValue {
      guard let text = slot.text else { throw .notText(index: slot.index) }
      return text
    }
    // SAFETY: the code that set the argument, or registered the function, promised a C string.
    guard let bytes = unsafe UnsafePointer<CChar>(bitPattern: UInt(slot.word)),
      let value = unsafe String(validatingCString: bytes)
    else { throw .notText(index: slot.index) }
    return value
  }
}

/// A class whose instances can be arguments and results, as `@`.
///
/// ```swift
/// final class Parcel: CallObject {}
/// try functions.register("wrap") { () -> Parcel in Parcel() }
/// try functions.call("wrap", returning: Parcel?.self) == nil  // false
/// ```
///
/// A class has nothing to implement: `extension Account: CallObject {}`.
public protocol CallObject: AnyObject, NullableCallValue {}

extension CallObject {
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    ValueFacts(.object, zero: .isMissing)
  }

  /// Reads the object, which must be of the class.
  @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    try SwiftBody.receiver(slot.object, as: Self.self)
  }
}

/// Any object, for closures that accept every class.
///
/// ```swift
/// try functions.register("isAccount") { (any: AnyCallObject) in any.object is Account }
/// try functions.call("isAccount", AnyCallObject(screen), returning: Bool.self)  // false
/// ```
public struct AnyCallObject: NullableCallValue {
  /// The object.
  public var object: AnyObject

  /// Wraps an object.
  public init(_ object: AnyObject) { self.object = object }

  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    ValueFacts(.object, zero: .isMissing)
  }

  @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> AnyCallObject {
    AnyCallObject(try SwiftBody.receiver(slot.object, as: AnyObject.self))
  }
}

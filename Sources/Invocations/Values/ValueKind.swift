// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
package import TypeEncodings

/// The kind of a value, which decides how it is stored and passed.
///
/// ```swift
/// Int.valueKind == Int64.valueKind    // true
/// Int32.valueKind == Int64.valueKind  // false
/// ```
@frozen
public struct ValueKind: Hashable, Sendable {
  @usableFromInline let raw: FWDKind

  @inlinable init(raw: FWDKind) { self.raw = raw }

  @inlinable var isObject: Bool { raw == .object }
  @inlinable var isCString: Bool { raw == .cString }
  @inlinable var isNothing: Bool { raw == .nothing }
  @inlinable var isAggregate: Bool { raw == .aggregate }

  @inlinable var isSwiftValue: Bool { raw == .swiftValue }

  /// Whether a place of this kind may own its value: an object, a C string or a Swift value.
  @inlinable var isOwnable: Bool { raw == .object || raw == .cString || raw == .swiftValue }

  /// Whether a value of this kind may be set in a place: in a place of its own kind, and an address
  /// in every place that holds one.
  @inlinable
  func fits(_ place: ValueKind) -> Bool {
    raw == place.raw || (raw == .pointer && (place.isAddress || place.isCString))
  }

  /// Whether a place of this kind holds an unowned address, whatever it points at.
  @inlinable var isAddress: Bool {
    switch raw {
    case .pointer, .functionPointer, .block: true
    default: false
    }
  }

  /// Whether a place of this kind holds an address that `retainArguments` does not keep alive.
  var isUnownedPointer: Bool { raw == .pointer || raw == .block }

  /// Whether a place of this kind holds an address, so that nil fits.
  var isPointerLike: Bool {
    switch raw {
    case .pointer, .functionPointer, .block, .cString, .classReference: true
    default: false
    }
  }

  /// What the place of this kind owns after a value is stored.
  @inlinable var ownership: ValueOwnership {
    switch raw {
    case .object: .object
    case .cString: .cString
    case .swiftValue: .value
    default: .none
    }
  }
}

extension FWDKind {
  /// The kind of a scalar. Two letters may share a kind (`l` and `q`).
  init(_ scalar: Scalar) {
    self =
      switch scalar {
      case .int8: .int8
      case .uint8: .uInt8
      case .int16: .int16
      case .uint16: .uInt16
      case .int32: .int32
      case .uint32: .uInt32
      case .long, .int64: .int64
      case .unsignedLong, .uint64: .uInt64
      case .int128: .int128
      case .uint128: .uInt128
      case .float: .float
      case .double: .double
      case .longDouble: .longDouble
      case .bool: .bool
      }
  }

  init(_ type: TypeEncoding) {
    self =
      switch type.kind {
      case .void, .unknown, .bitField: .nothing
      case .scalar(let scalar): FWDKind(scalar)
      case .complex(.float): .complexFloat
      case .complex(.double): .complexDouble
      case .complex(.longDouble): .complexLongDouble
      case .complex, .structure, .union, .vector: .aggregate
      case .cString, .atom: .cString
      case .object: .object
      case .block: .block
      case .classReference: .classReference
      case .selector: .selector
      case .pointer(let pointee): FWDKind(pointee: pointee)
      case .array: .pointer
      }
  }

  private init(pointee: TypeEncoding) {
    // `^?` is the spelling of a pointer to a function.
    if case .unknown = pointee.kind { self = .functionPointer } else { self = .pointer }
  }
}

extension TypeEncoding {
  /// Whether an argument or result of the type is an unowned address.
  var isUnownedAddress: Bool { ValueKind(raw: FWDKind(self)).isAddress }
}

extension FWDValue {
  /// Describes one result or argument type to the C core.
  package init(_ type: TypeEncoding, isArgument: Bool) throws(TypeEncodingError) {
    if type.isArray, isArgument {
      // C passes an array as a pointer to its first element.
      self.init(
        size: 8, alignment: 8, kind: .pointer, first: .integer, second: .none,
        component: .nothing, component_count: 0)
      return
    }
    let facts = try type.passingFacts()
    self.init(
      size: UInt32(facts.size), alignment: UInt32(facts.alignment), kind: FWDKind(type),
      first: FWDClass(facts.first), second: FWDClass(facts.second),
      component: facts.component.map { FWDKind($0) } ?? .nothing,
      component_count: UInt8(facts.componentCount))
  }
}

extension FWDClass {
  init(_ eightbyte: PassingFacts.EightbyteClass) {
    self =
      switch eightbyte {
      case .none: .none
      case .integer: .integer
      case .vector: .vector
      case .x87, .x87Upper: .X87
      case .complexX87: .complexX87
      case .memory: .memory
      }
  }
}

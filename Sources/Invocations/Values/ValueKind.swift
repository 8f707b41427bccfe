// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
package import TypeEncodings

// The kind of a value, which decides how it is stored and passed, is that of the C core: the letter
// of its type. A new kind of numbers is a case of `FWDKind` and of `Scalar`.
extension FWDKind {
  @inlinable var isObject: Bool { self == .object }
  @inlinable var isCString: Bool { self == .cString }
  @inlinable var isNothing: Bool { self == .nothing }
  @inlinable var isAggregate: Bool { self == .aggregate }

  @inlinable var isSwiftValue: Bool { self == .swiftValue }

  /// Whether a place of this kind may own its value: an object, a C string or a Swift value.
  @inlinable var isOwnable: Bool { self == .object || self == .cString || self == .swiftValue }

  /// The integer that has the memory of a number that is a word; nil for larger numbers. Eight bytes
  /// are one for all.
  @inlinable var memory: FWDKind? {
    switch self {
    case .float: .uInt32
    case .int64, .double: .uInt64
    case .int128, .uInt128, .longDouble: nil
    default: self
    }
  }

  /// The word of a value with this memory.
  @inlinable @unsafe
  @inline(__always)
  func widen<Value>(_ value: borrowing Value) -> UInt64 {
    unsafe _withUnprotectedUnsafePointer(to: value) {
      unsafe fwd_word_widen(self, UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
    }
  }

  /// The value with this memory in a word. Goes through a local word, because allocating a `Value`
  /// looks up types in unspecialized code.
  @inlinable @unsafe
  @inline(__always)
  func narrow<Value>(_ given: UInt64) -> Value {
    var narrow: UInt64 = 0
    return unsafe _withUnprotectedUnsafeMutablePointer(to: &narrow) {
      unsafe fwd_word_narrow(self, given, $0)
      return unsafe UnsafeRawPointer($0).load(as: Value.self)
    }
  }

  /// Whether a value of this kind may be set in a place: in a place of its own kind, and an address
  /// in every place that holds one.
  @inlinable
  func fits(_ place: FWDKind) -> Bool {
    self == place || (self == .pointer && (place.isAddress || place.isCString))
  }

  /// Whether a place of this kind holds an unowned address, whatever it points at.
  @inlinable var isAddress: Bool {
    switch self {
    case .pointer, .functionPointer, .block: true
    default: false
    }
  }

  /// Whether a place of this kind holds an address that `retainArguments` does not keep alive.
  var isUnownedPointer: Bool { self == .pointer || self == .block }

  /// Whether a place of this kind holds an address, so that nil fits.
  var isPointerLike: Bool {
    switch self {
    case .pointer, .functionPointer, .block, .cString, .classReference: true
    default: false
    }
  }

  /// What the place of this kind owns after a value is stored.
  @inlinable var ownership: ValueOwnership {
    switch self {
    case .object: .object
    case .cString: .cString
    case .swiftValue: .value
    default: .none
    }
  }

  /// The encoding of the Swift type of this kind.
  var encoding: String {
    switch self {
    case .nothing: return "v"
    case .pointer: return "^v"
    default:
      let complex = UInt8(FWD_COMPLEX)
      let letter = String(UnicodeScalar(rawValue & ~complex))
      return rawValue & complex == 0 ? letter : "j" + letter
    }
  }

  /// The kind of a scalar. Two letters may share a kind (`l` and `q`).
  init(_ scalar: Scalar) {
    guard let kind = FWDKind(rawValue: scalar.normalized.rawValue) else {
      preconditionFailure("every scalar has a kind")
    }
    self = kind
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
  var isUnownedAddress: Bool { FWDKind(self).isAddress }
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

// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

/// A value in an error, which the required type or range did not allow.
///
/// ```swift
/// let call = try Invocation(parsing: "vC")
/// do {
///   try call.setArgument(exactly: 256, at: 0)
/// } catch InvocationError.notExact(let value, let type) {
///   print(value == .integer(256), type)  // true C
/// }
/// ```
@nonexhaustive
public enum GivenValue: Sendable {
  /// An integer.
  case integer(Int128)
  /// A `Float`.
  case float(Float)
  /// A `Double`, or a number that a `Double` represents exactly.
  case double(Double)
  /// A Boolean.
  case bool(Bool)
  /// Text; also the digits of a number that is too long for the other cases, and the description of
  /// an object.
  case text(String)
  /// A structure or an address.
  case raw(RawValue)

  init(_ integer: some BinaryInteger) {
    self = Int128(exactly: integer).map { .integer($0) } ?? .text("\(integer)")
  }

  init<Number: BinaryFloatingPoint>(_ number: Number) {
    if let float = number as? Float {
      self = .float(float)
    } else if number.isNaN {
      self = .double(.nan)
    } else {
      self = Double(exactly: number).map { .double($0) } ?? .text("\(number)")
    }
  }

  /// The carrier that was passed for a type of the user's own.
  @usableFromInline
  init<Value: CallValue>(carrier value: Value) {
    switch value {
    case let bool as Bool: self = .bool(bool)
    case let text as String: self = .text(text)
    case let integer as any BinaryInteger: self.init(integer)
    case let number as any BinaryFloatingPoint: self.init(number)
    case let carried as any CarriedValue: self = Self.carrier(of: carried)
    case let structure as any CallStructure: self = Self.bytes(structure) ?? .text("\(value)")
    case let pointer as any PointerValue: self = Self.bytes(pointer) ?? .text("\(value)")
    default: self = .text("\(value)")
    }
  }

  private static func carrier(of value: some CarriedValue) -> GivenValue {
    GivenValue(carrier: value.carrier)
  }

  /// The bytes of a structure or a pointer.
  private static func bytes<Value: CallValue>(_ value: Value) -> GivenValue? {
    guard let type = try? TypeEncoding(parsing: Value.typeEncoding) else { return nil }
    // SAFETY: the value is only read. Structures and pointers are nothing but bytes.
    let bytes = unsafe withUnsafeBytes(of: value) { unsafe [UInt8]($0) }
    return .raw(RawValue(type: type, bytes: bytes))
  }
}

extension GivenValue: Hashable {
  /// Whether two values are equal. All NaNs are equal.
  public static func == (one: GivenValue, other: GivenValue) -> Bool {
    switch (one, other) {
    case (.integer(let a), .integer(let b)): a == b
    case (.float(let a), .float(let b)): a == b || a.isNaN && b.isNaN
    case (.double(let a), .double(let b)): a == b || a.isNaN && b.isNaN
    case (.bool(let a), .bool(let b)): a == b
    case (.text(let a), .text(let b)): a == b
    case (.raw(let a), .raw(let b)): a == b
    case (.integer, _), (.float, _), (.double, _), (.bool, _), (.text, _), (.raw, _): false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .integer(let value): hasher.combine(value)
    case .float(let value): hasher.combine(value.isNaN ? .infinity : value)
    case .double(let value): hasher.combine(value.isNaN ? .infinity : value)
    case .bool(let value): hasher.combine(value)
    case .text(let value): hasher.combine(value)
    case .raw(let value): hasher.combine(value)
    }
  }
}

extension GivenValue: CustomStringConvertible {
  public var description: String {
    switch self {
    case .integer(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .bool(let value): "\(value)"
    case .text(let value): value
    case .raw(let value): "\(value)"
    }
  }
}

extension RawValue: CustomStringConvertible {
  /// The type and up to 32 bytes: `{pair=ss} 01 00 02 00`.
  public var description: String {
    let shown = bytes.prefix(32).map { (byte: UInt8) in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "\(type) " + shown.joined(separator: " ") + (bytes.count > 32 ? " …" : "")
  }
}

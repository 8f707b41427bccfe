// SPDX-License-Identifier: Apache-2.0
/// A number type of C, identified by its letter.
///
/// ```swift
/// let type = try TypeEncoding(parsing: "q")
/// type.kind == .scalar(.int64)       // true
/// Scalar.int64.size                  // 8
/// Scalar.longDouble.isFloatingPoint  // true
/// ```
///
/// The size of some letters depends on the platform. `long` (`l`, `L`) has 8 bytes here, as in GCC,
/// although Apple's 64-bit runtime reads 4. `long double` (`D`) has the format of this platform's C
/// compiler.
public enum Scalar: UInt8, Hashable, Sendable, CaseIterable {
  /// `c`, a signed `char`.
  case int8 = 0x63
  /// `C`, an `unsigned char`; also `BOOL` on GNU platforms.
  case uint8 = 0x43
  /// `s`, a `short`.
  case int16 = 0x73
  /// `S`, an `unsigned short`.
  case uint16 = 0x53
  /// `i`, an `int`.
  case int32 = 0x69
  /// `I`, an `unsigned int`.
  case uint32 = 0x49
  /// `l`, a `long`. No 64-bit compiler writes it; they write `q`.
  case long = 0x6C
  /// `L`, an `unsigned long`.
  case unsignedLong = 0x4C
  /// `q`, a `long long`, and `long` where that is 64 bits wide.
  case int64 = 0x71
  /// `Q`, an `unsigned long long`.
  case uint64 = 0x51
  /// `t`, an `__int128`.
  case int128 = 0x74
  /// `T`, an `unsigned __int128`.
  case uint128 = 0x54
  /// `f`, a `float`.
  case float = 0x66
  /// `d`, a `double`.
  case double = 0x64
  /// `D`, a `long double`.
  case longDouble = 0x44
  /// `B`, a C `_Bool`.
  case bool = 0x42

  /// The size in bytes, which is also the alignment on the supported platforms.
  public var size: Int {
    switch self {
    case .int8, .uint8, .bool: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .long, .unsignedLong, .int64, .uint64, .double: 8
    case .int128, .uint128, .longDouble: 16
    }
  }

  /// Whether the type is `float`, `double` or `long double`.
  public var isFloatingPoint: Bool {
    switch self {
    case .float, .double, .longDouble: true
    default: false
    }
  }

  /// The Swift type of the same values.
  var swiftName: String {
    switch self {
    case .int8, .int16, .int32, .int128: "Int\(size * 8)"
    case .uint8, .uint16, .uint32, .uint128: "UInt\(size * 8)"
    case .long, .int64: "Int"
    case .unsignedLong, .uint64: "UInt"
    case .float: "Float"
    case .double: "Double"
    case .longDouble: "LongDouble"
    case .bool: "Bool"
    }
  }

  /// The same type with a letter that does not depend on the platform: `l` becomes `q`.
  package var normalized: Scalar {
    switch self {
    case .long: .int64
    case .unsignedLong: .uint64
    default: self
    }
  }
}

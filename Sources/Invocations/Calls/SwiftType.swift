// SPDX-License-Identifier: Apache-2.0
/// A Swift type in an error or a report. Types are compared by identity and printed by name.
///
/// ```swift
/// SwiftType(Account.self)                         // Account
/// SwiftType(Int.self) == SwiftType(Int64.self)    // false
/// SwiftType(Int.self) == SwiftType(type(of: 42))  // true
/// ```
public struct SwiftType: Hashable, Sendable, CustomStringConvertible {
  /// The type.
  public let type: Any.Type

  /// Wraps a type.
  public init(_ type: Any.Type) { self.type = type }

  public static func == (one: SwiftType, other: SwiftType) -> Bool { one.type == other.type }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(type)) }

  public var description: String { "\(type)" }
}

// SPDX-License-Identifier: Apache-2.0
/// A Swift type in an error or a report. Types are compared by identity and printed by name.
///
/// ```swift
/// SwiftType(Account.self)                         // Account
/// SwiftType(Int.self) == SwiftType(Int64.self)    // false
/// SwiftType(Int.self) == SwiftType(type(of: 42))  // true
/// ```
public struct SwiftType: Hashable, Sendable, CustomStringConvertible {
  private let identifier: ObjectIdentifier

  /// Wraps a type.
  public init(_ type: Any.Type) { identifier = ObjectIdentifier(type) }

  /// The type.
  public var type: Any.Type {
    // SAFETY: the identifier of a type is the address of its metadata, and so is a metatype.
    unsafe unsafeBitCast(identifier, to: Any.Type.self)
  }

  public var description: String { "\(type)" }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Types of Foundation that trap for some values, so that bytes from outside would end the process.
/// For example, the decoder of an `IndexSet` adds the length of a range to its location without a
/// check, and that of a `DateInterval` accepts negative durations, for which its functions trap.
enum TrappingTypes {
  private static let all: Set<ObjectIdentifier> = [
    ObjectIdentifier(IndexSet.self), ObjectIdentifier(CharacterSet.self),
    ObjectIdentifier(URLComponents.self), ObjectIdentifier(DateInterval.self),
  ]

  /// Whether a type is one of these, or an optional or a collection of them. The members of other
  /// types are not known.
  static func contain(_ type: Any.Type) -> Bool {
    if all.contains(ObjectIdentifier(type)) { return true }
    guard let type = type as? any Holder.Type else { return false }
    return type.held.contains { contain($0) }
  }
}

/// A type that decodes values of other types.
private protocol Holder {
  static var held: [Any.Type] { get }
}

extension Optional: Holder { fileprivate static var held: [Any.Type] { [Wrapped.self] } }
extension Array: Holder { fileprivate static var held: [Any.Type] { [Element.self] } }
extension ContiguousArray: Holder { fileprivate static var held: [Any.Type] { [Element.self] } }
extension Set: Holder { fileprivate static var held: [Any.Type] { [Element.self] } }
extension Dictionary: Holder {
  fileprivate static var held: [Any.Type] { [Key.self, Value.self] }
}

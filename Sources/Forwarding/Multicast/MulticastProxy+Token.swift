// SPDX-License-Identifier: Apache-2.0
public import Invocations

extension MulticastProxy {
  /// Identifies a registration.
  public struct Token: Hashable, Sendable, CustomStringConvertible {
    let id: UInt64
    /// The key under which the registration is found.
    let target: ObjectIdentifier
    /// The type of the target.
    public let type: SwiftType

    init(id: UInt64, target: ObjectIdentifier, _ type: Any.Type) {
      self.id = id
      self.target = target
      self.type = SwiftType(type)
    }

    public static func == (one: Token, other: Token) -> Bool {
      one.id == other.id && one.target == other.target
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(id)
      hasher.combine(target)
    }

    /// The type of the target, and the number of the registration.
    public var description: String { "\(type) #\(id)" }
  }
}

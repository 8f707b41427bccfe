// SPDX-License-Identifier: Apache-2.0
extension TypeEncoding {
  /// The kind of a type, one level deep.
  public enum Kind: Hashable, Sendable {
    /// `v`.
    case void
    /// A number type.
    case scalar(Scalar)
    /// `j`, a complex number of two parts.
    case complex(Scalar)
    /// `*`, a C string.
    case cString
    /// `%`, a string of the old runtime that is unique for its text.
    case atom
    /// `@`, with the quoted class and protocols if they are given.
    case object(className: String?)
    /// `@?`, with result and arguments if they are given.
    case block(types: [TypeEncoding]?)
    /// `#`.
    case classReference
    /// `:`.
    case selector
    /// `^`.
    case pointer(to: TypeEncoding)
    /// `?` behind `^`: a function, or a type that the compiler cannot encode.
    case unknown
    /// `[12i]`.
    case array(count: Int, element: TypeEncoding)
    /// `{name=…}`; without `=` the members are nil.
    case structure(name: String, members: [Member]?)
    /// `(name=…)`.
    case union(name: String, members: [Member]?)
    /// `b3`, or `b8I3` with the position and the storage type.
    case bitField(width: Int, storage: Scalar?, position: Int?)
    /// `![16,16f]`, or `<4f>`, which does not determine its layout.
    case vector(count: Int, element: TypeEncoding)
  }

  /// The kind of the type.
  public var kind: Kind {
    let node = node
    func name() -> String { tree.text(node.nameStart, node.nameEnd) }
    func first() -> TypeEncoding { TypeEncoding(tree: tree, index: index + 1) }
    return switch node.form {
    case .void: .void
    case .scalar: .scalar(node.scalar)
    case .complex: .complex(node.scalar)
    case .cString: .cString
    case .atom: .atom
    case .object: .object(className: node.hasBody ? name() : nil)
    case .block: .block(types: node.hasBody ? children : nil)
    case .classReference: .classReference
    case .selector: .selector
    case .pointer: .pointer(to: first())
    case .unknown: .unknown
    case .array: .array(count: node.count, element: first())
    case .structure: .structure(name: name(), members: members)
    case .union: .union(name: name(), members: members)
    case .bitField:
      .bitField(
        width: node.count, storage: node.hasBody ? node.scalar : nil,
        position: node.hasBody ? node.position : nil)
    case .vector, .simd: .vector(count: node.count, element: first())
    }
  }
}

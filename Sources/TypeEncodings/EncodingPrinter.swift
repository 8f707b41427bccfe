// SPDX-License-Identifier: Apache-2.0
/// Writes types as text: in their original spelling, or in a common spelling for equivalent types.
enum EncodingPrinter {
  /// The original text of the type, without the advisory numbers inside it.
  static func spelling(of type: TypeEncoding) -> [UInt8] {
    var out: [UInt8] = []
    var cursor = Int(type.node.start)
    let end = Int(type.node.end)
    for advice in type.tree.advice where advice.lowerBound >= cursor && advice.upperBound <= end {
      out += type.tree.bytes[cursor..<advice.lowerBound]
      cursor = advice.upperBound
    }
    return out + type.tree.bytes[cursor..<end]
  }

  /// The type in a spelling with only the properties that count for a call.
  ///
  /// - Parameter isIdentity: whether signatures are compared by it. Registered layouts count then, and
  ///   C strings differ from pointers to `char`, because they have another ownership.
  static func structure(of type: TypeEncoding, isIdentity: Bool = false) -> [UInt8] {
    var out: [UInt8] = []
    write(type.tree, type.index, isIdentity, behindPointer: false, to: &out)
    return out
  }

  private static func write(
    _ tree: EncodingTree, _ index: Int, _ isIdentity: Bool, behindPointer: Bool,
    to out: inout [UInt8]
  ) {
    let node = tree.nodes[index]
    func write(_ text: String) { out += text.utf8 }
    func writeChildren(withPositions: Bool = false) {
      var child = index + 1
      while child < Int(node.next) {
        if withPositions { write("\(tree.nodes[child].position)/") }
        Self.write(tree, child, isIdentity, behindPointer: behindPointer, to: &out)
        child = Int(tree.nodes[child].next)
      }
    }
    switch node.form {
    case .void: write("v")
    case .scalar: out.append(node.scalar.normalized.rawValue)
    case .complex: out += [UInt8(ascii: "j"), node.scalar.normalized.rawValue]
    case .cString, .atom: write(isIdentity ? "*" : "^c")
    case .object: write("@")
    case .block: write("@?")
    case .classReference: write("#")
    case .selector: write(":")
    case .unknown: write("?")
    case .pointer:
      write("^")
      let pointee = tree.nodes[index + 1]
      if !isIdentity, pointee.form == .scalar, pointee.scalar == .uint8 {
        write("c")
      } else {
        Self.write(tree, index + 1, isIdentity, behindPointer: true, to: &out)
      }
    case .array:
      write("[\(node.count)")
      writeChildren()
      write("]")
    case .structure, .union:
      let name = tree.bytes[Int(node.nameStart)..<Int(node.nameEnd)]
      let isNamed = !name.isEmpty && !name.elementsEqual("?".utf8)
      let isPlaced = isIdentity && node.isRegistered
      if node.isAtomic { write("A") }
      write(node.form == .union ? "(" : "{")
      if isPlaced, !behindPointer { write("\(node.size),\(node.alignment)") }
      if (behindPointer && isNamed) || !node.hasBody {
        out += name
      } else {
        write("=")
        writeChildren(withPositions: isPlaced)
      }
      write(node.form == .union ? ")" : "}")
    case .bitField:
      write("b\(node.hasBody ? "\(node.position)" : "")")
      if node.hasBody { out.append(node.scalar.normalized.rawValue) }
      write("\(node.count)")
    case .vector:
      write("![\(node.size),\(node.alignment)")
      writeChildren()
      write("]")
    case .simd:
      write("<\(node.count)")
      writeChildren()
      write(">")
    }
  }
}

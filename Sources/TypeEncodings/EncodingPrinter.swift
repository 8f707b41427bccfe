// SPDX-License-Identifier: Apache-2.0
/// Writes types as text: in their original spelling, or in a common spelling for equivalent types.
enum EncodingPrinter {
  /// The purpose of a structural spelling.
  enum Purpose {
    /// For people and parsers.
    case reading
    /// For a loose comparison of types: every object is `@`.
    case equivalence
    /// For comparing signatures. Registered layouts count. Objects differ from classes and blocks,
    /// and C strings from pointers to `char`, because they have different ownership.
    case identity
  }

  /// The original text of the type, without the advisory numbers inside it.
  static func spelling(of type: TypeEncoding) -> [UInt8] {
    var out: [UInt8] = []
    writeSpelling(type.tree, type.index, to: &out)
    return out
  }

  private static func writeSpelling(_ tree: EncodingTree, _ index: Int, to out: inout [UInt8]) {
    let node = tree.nodes[index]
    // The text between the children of a node, except for numbers, is copied byte for byte.
    var cursor = Int(node.start)
    var child = index + 1
    while child < Int(node.next) {
      let label = Int(tree.nodes[child].labelEnd)
      let from = label > 0 ? Int(tree.nodes[child].labelStart) - 1 : Int(tree.nodes[child].start)
      let isFirst = child == index + 1
      // Between two members there can only be an advisory number, which is dropped.
      if isFirst { out += tree.bytes[cursor..<from] }
      if label > 0 { out += tree.bytes[from...label] }
      writeSpelling(tree, child, to: &out)
      cursor = Int(tree.nodes[child].end)
      child = Int(tree.nodes[child].next)
    }
    if child == index + 1 {
      out += tree.bytes[cursor..<Int(node.end)]
    } else if node.form != .pointer {
      out.append(tree.bytes[Int(node.end) - 1])
    }
  }

  /// The type in a spelling with only the properties that count for `purpose`.
  static func structure(of type: TypeEncoding, for purpose: Purpose) -> [UInt8] {
    var out: [UInt8] = []
    writeStructure(type.tree, type.index, purpose, behindPointer: false, to: &out)
    return out
  }

  private static func writeStructure(
    _ tree: EncodingTree, _ index: Int, _ purpose: Purpose, behindPointer: Bool,
    to out: inout [UInt8]
  ) {
    let node = tree.nodes[index]
    func write(_ text: String) { out += text.utf8 }
    func writeChildren() {
      var child = index + 1
      while child < Int(node.next) {
        writeStructure(tree, child, purpose, behindPointer: behindPointer, to: &out)
        child = Int(tree.nodes[child].next)
      }
    }
    switch node.form {
    case .void: write("v")
    case .scalar: out.append(node.scalar.normalized.rawValue)
    case .complex:
      write("j")
      out.append(node.scalar.normalized.rawValue)
    case .cString, .atom: write(purpose == .identity ? "*" : "^c")
    case .object: write("@")
    case .block: write(purpose == .equivalence ? "@" : "@?")
    case .classReference: write(purpose == .equivalence ? "@" : "#")
    case .selector: write(":")
    case .unknown: write("?")
    case .pointer:
      write("^")
      let pointee = tree.nodes[index + 1]
      if purpose != .identity, pointee.form == .scalar, pointee.scalar == .uint8 {
        write("c")
      } else {
        writeStructure(tree, index + 1, purpose, behindPointer: true, to: &out)
      }
    case .array:
      write("[\(node.count)")
      writeChildren()
      write("]")
    case .structure, .union:
      let name = tree.bytes[Int(node.nameStart)..<Int(node.nameEnd)]
      let isNamed = !name.isEmpty && !name.elementsEqual("?".utf8)
      let brackets = node.form == .union ? ("(", ")") : ("{", "}")
      if node.isAtomic { write("A") }
      write(brackets.0)
      if purpose == .identity, node.isRegistered, !behindPointer {
        write("\(node.size),\(node.alignment)")
      }
      if (behindPointer && isNamed) || !node.hasBody {
        out += name
      } else {
        write("=")
        if purpose == .identity, node.isRegistered {
          writePlacedChildren()
        } else {
          writeChildren()
        }
      }
      write(brackets.1)
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
    func writePlacedChildren() {
      var child = index + 1
      while child < Int(node.next) {
        write("\(tree.nodes[child].position)/")
        writeStructure(tree, child, purpose, behindPointer: behindPointer, to: &out)
        child = Int(tree.nodes[child].next)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import InvocationText
import TypeEncodings

extension Explainer {
  func typeObject(_ type: TypeEncoding, _ text: String) throws -> JSONValue {
    let layout = try type.layout
    var object: [(String, JSONValue)] = [
      ("encoding", .string(text)), ("size", .integer(layout.size)),
      ("alignment", .integer(layout.alignment)), ("kind", .string(type.kindName)),
      ("canonical", .string(type.canonicalSpelling)), ("target", .string(machine.rawValue)),
    ]
    if let members = type.members {
      object.append(("fields", .array(try members.map { try field($0) })))
    }
    return .object(object)
  }

  private func field(_ member: TypeEncoding.Member) throws -> JSONValue {
    var object: [(String, JSONValue)] = [
      ("name", member.name.map { .string($0) } ?? .null),
      ("encoding", .string("\(member.type)")),
      ("offset", Self.number(member.offset)),
    ]
    if case .bitField(let width, _, _) = member.type.kind {
      object.append(("bitOffset", Self.number(member.bitOffset)))
      object.append(("bits", .integer(width)))
    } else {
      let layout = try? member.type.layout
      object.append(("size", Self.number(layout?.size)))
      object.append(("alignment", Self.number(layout?.alignment)))
    }
    return .object(object)
  }

  func typeTable(_ type: TypeEncoding) throws -> String {
    let layout = try type.layout
    let head =
      Terminal.styled("\(type)", .bold)
      + "  \(type.kindName), \(layout.size) bytes, aligned to \(layout.alignment), "
      + "on \(machine.rawValue)"
    guard let members = type.members, !members.isEmpty else { return head }
    var rows = [["offset", "size", "align", "type", ""]]
    for member in members {
      let offset: String
      let size: String
      if case .bitField(let width, _, _) = member.type.kind {
        offset = member.bitOffset.map { "bit \($0)" } ?? "?"
        size = "\(width) bits"
      } else {
        offset = member.offset.map { "\($0)" } ?? "?"
        size = (try? member.type.layout).map { "\($0.size)" } ?? "?"
      }
      let alignment = (try? member.type.layout).map { "\($0.alignment)" } ?? ""
      rows.append([offset, size, alignment, "\(member.type)", member.name ?? ""])
    }
    return head + "\n" + Terminal.table(rows, right: [0, 1, 2], indent: "  ")
  }
}

extension TypeEncoding {
  /// One word for the kind of the type.
  fileprivate var kindName: String {
    switch kind {
    case .void: "void"
    case .scalar(let scalar): "\(scalar)"
    case .complex(let scalar): "complex \(scalar)"
    case .cString: "C string"
    case .atom: "atom"
    case .object: "object"
    case .block: "block"
    case .classReference: "class"
    case .selector: "selector"
    case .pointer: "pointer"
    case .unknown: "unknown"
    case .array: "array"
    case .structure: "structure"
    case .union: "union"
    case .bitField: "bit-field"
    case .vector: "vector"
    }
  }
}

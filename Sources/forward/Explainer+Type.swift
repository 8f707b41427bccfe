// SPDX-License-Identifier: Apache-2.0
import Forwarding
import InvocationText

extension Explainer {
  func typeObject(_ type: TypeEncoding, _ text: String) throws -> JSONValue {
    let layout = try type.layout
    var object: [(String, JSONValue)] = [
      ("encoding", .string(text)), ("size", .integer(layout.size)),
      ("alignment", .integer(layout.alignment)), ("kind", .string(type.kindName)),
      ("canonical", .string(type.canonicalSpelling)),
    ]
    if let members = type.members {
      object.append(("fields", .array(try members.map { try field($0) })))
    }
    object.append(("leaves", .array(try type.leaves().map { .string("\($0)") })))
    if let target { object += [("target", .string(target.rawValue)), ("passing", passing(type))] }
    return .object(object)
  }

  private func field(_ member: TypeEncoding.Member) throws -> JSONValue {
    var object: [(String, JSONValue)] = [
      ("name", member.name.map { .string($0) } ?? .null),
      ("encoding", .string("\(member.type)")),
      ("offset", member.offset.map { .integer($0) } ?? .null),
    ]
    if case .bitField(let width, _, _) = member.type.kind {
      object.append(("bitOffset", member.bitOffset.map { .integer($0) } ?? .null))
      object.append(("bits", .integer(width)))
    } else {
      let layout = try? member.type.layout
      object.append(("size", layout.map { .integer($0.size) } ?? .null))
      object.append(("alignment", layout.map { .integer($0.alignment) } ?? .null))
    }
    return .object(object)
  }

  func typeTable(_ type: TypeEncoding) throws -> String {
    let layout = try type.layout
    var head =
      Terminal.styled("\(type)", .bold)
      + "  \(type.kindName), \(layout.size) bytes, aligned to \(layout.alignment)"
    if let target {
      head += ", on \(target.rawValue)\n  by value: \(type.passingText(on: target))"
    }
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

  /// Describes how values of a type are passed, with the facts that the machine's rules depend on.
  func passing(_ type: TypeEncoding) -> JSONValue {
    do throws(TypeEncodingError) {
      guard let facts = try type.valueFacts() else { return .null }
      return .object([
        ("classes", .array(facts.classes.map { .string("\($0)") })),
        ("component", facts.component.map { .string("\($0)") } ?? .null),
        ("count", .integer(facts.componentCount)),
      ])
    } catch {
      return .object([("error", details(error))])
    }
  }
}

extension PassingFacts {
  /// The classes of the first and second eightbyte, without an absent one.
  fileprivate var classes: [EightbyteClass] { [first, second].filter { $0 != .none } }

  /// The facts in the words of the machine's rules: `4 × double`, `2 words`, `integer:vector`.
  fileprivate func text(on machine: Machine) -> String {
    if first == .none { return "nothing" }
    guard machine != .x86_64Linux else {
      return classes.map { "\($0)" }.joined(separator: ":")
    }
    if let component {
      return componentCount == 1 ? "\(component)" : "\(componentCount) × \(component)"
    }
    if first == .memory { return "more than 2 words" }
    let isEven = alignment == 16 && machine == .aarch64Linux
    return (size > 8 ? "2 words" : "1 word") + (isEven ? ", the first in an even register" : "")
  }
}

extension TypeEncoding {
  /// The passing facts of the type. Nil for `void`, and for an array, which is passed by address.
  fileprivate func valueFacts() throws(TypeEncodingError) -> PassingFacts? {
    isVoid || isArray ? nil : try passingFacts()
  }

  /// The passing facts in words, or the reason that the type cannot be passed.
  func passingText(on machine: Machine) -> String {
    if isVoid { return "nothing" }
    if isArray { return "the address of the first element" }
    do throws(TypeEncodingError) {
      return try passingFacts().text(on: machine)
    } catch {
      return "refused, as \(error.reason)"
    }
  }

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

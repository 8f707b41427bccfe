// SPDX-License-Identifier: Apache-2.0
import Invocations
import TypeEncodings

/// For registered layouts, right or wrong, a parsed type stays within its size, and a planned
/// signature can be called.
enum LayoutFuzz {
  static func run(_ given: FuzzInput) throws {
    var input = given
    let layouts = self.layouts(&input)
    let flags = input.byte()
    let text = flags & 1 == 0 ? input.line() : Array(RandomEncoding.type(&input, depth: 0).utf8)
    guard let type = try? TypeEncoding(utf8: text, layouts: layouts) else { return }
    if let layout = try? type.layout { try check(type, layout) }
    for machine in Machine.allCases {
      guard let other = try? TypeEncoding(utf8: text, layouts: layouts, for: machine) else {
        continue
      }
      try PassingCheck.check(other, for: machine)
    }
    guard let signature = try? MethodSignature(parsing: "\(type)\(type)", layouts: layouts) else {
      return
    }
    try demand(
      signature == MethodSignature(parsing: "\(type)\(type)", layouts: layouts),
      "\(type) is not equal to itself")
    try CallFuzz.exercise(signature, fixed: nil, &input)
  }

  private static func layouts(_ input: inout FuzzInput) -> StructureLayouts {
    var layouts = StructureLayouts()
    for name in RandomEncoding.names.prefix(input.number(below: 5)) {
      let alignment = 1 << input.number(below: 6)
      let size = input.number(below: 40)
      let count = input.number(below: 6)
      layouts[name] = .init(
        size: size, alignment: alignment,
        fieldOffsets: count == 0 ? nil : (1..<count).map { _ in input.number(below: 40) })
    }
    return layouts
  }

  /// Checks that members lie within their structure.
  private static func check(_ type: TypeEncoding, _ layout: TypeLayout) throws {
    try demand(layout.size >= 0, "\(type) has a negative size")
    try demand(
      layout.alignment > 0 && layout.alignment & (layout.alignment - 1) == 0,
      "\(type) has an odd alignment")
    for leaf in (try? type.leaves(limit: 64)) ?? [] {
      try demand(leaf.bitOffset >= 0, "\(leaf) of \(type) lies in front of it")
      let end = (leaf.bitOffset + (leaf.bitWidth ?? 8) + 7) / 8
      try demand(leaf.count == 0 || end <= layout.size, "\(leaf) of \(type) lies behind it")
    }
    for member in type.members ?? [] {
      guard let inner = try? member.type.layout else { continue }
      try check(member.type, inner)
      guard let offset = member.offset else { continue }
      try demand(offset + inner.size <= layout.size, "\(member.type) reaches out of \(type)")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

/// For any bytes, parsing ends. A parsed encoding prints to text that parses to the same encoding.
enum EncodingFuzz {
  static func run(_ bytes: [UInt8]) throws {
    try type(bytes)
    try signature(bytes)
  }

  private static func type(_ bytes: [UInt8]) throws {
    guard let type = try? TypeEncoding(utf8: bytes) else { return }
    let printed = type.description
    let again = try? TypeEncoding(parsing: printed)
    try demand(again?.description == printed, "\(printed) does not print as it was read")
    let canonical = type.canonicalSpelling
    let other = try? TypeEncoding(parsing: canonical)
    try demand(other?.canonicalSpelling == canonical, "\(canonical) is no canonical spelling")
    let layout = try? type.layout
    try demand(layout == (try? again?.layout), "\(type) has two layouts")
    _ = try? type.leaves(limit: 100)
    for machine in Machine.allCases {
      guard let other = try? TypeEncoding(utf8: bytes, for: machine) else {
        throw FuzzFinding(description: "\(type) is no type of \(machine)")
      }
      try PassingCheck.check(other, for: machine)
    }
  }

  private static func signature(_ bytes: [UInt8]) throws {
    do throws(TypeEncodingError) {
      let signature = try MethodSignature(utf8: bytes)
      let text = signature.description
      let again = try MethodSignature(parsing: text)
      guard again == signature, again.shape == signature.shape else {
        throw TypeEncodingError(reason: .empty, offset: -1, encoding: text)
      }
    } catch {
      try demand(error.offset >= 0, "\(error.encoding) does not read back as it was written")
      try demand(error.offset <= bytes.count, "\(error) blames a byte behind the end")
      try demand(error.description.utf8.count < 2_000, "an error of a long text is long")
    }
  }
}

/// Checks that a type's passing facts agree with its layout.
enum PassingCheck {
  static func check(_ type: TypeEncoding, for machine: Machine) throws {
    guard let facts = try? type.passingFacts() else { return }
    let layout = try type.layout
    try demand(facts.size == layout.size, "\(type) is passed with another size")
    try demand(facts.alignment == layout.alignment, "\(type) is passed with another alignment")
    // On AArch64, up to four numbers of one floating type are passed in registers.
    let isFit = facts.size <= 16 || facts.component != nil
    try demand(facts.first == .memory || isFit, "\(type) does not fit its registers")
    if machine == .aarch64Linux, let component = facts.component {
      let size = component.size * facts.componentCount
      try demand(size == facts.size, "\(type) has a gap between its numbers")
    }
    try demand(facts.second == .none || facts.size > 8, "\(type) has no second eightbyte")
    try demand(facts.first != .none || facts.second == .none, "\(type) has no first eightbyte")
  }
}

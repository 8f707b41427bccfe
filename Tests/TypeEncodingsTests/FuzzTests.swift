// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing

@testable import TypeEncodings

@Suite("Parsing hostile strings")
struct FuzzTests {
  private static let alphabet = Array(
    "{}()[]<>\"=^@?:#*%!jbrnNoORVA|cCsSiIlLqQtTfdDBv0123456789+-, xZ\u{0}".utf8)

  /// For any bytes, parsing ends, the parsed type prints back, and its memory is bounded.
  private static func probe(_ bytes: [UInt8]) {
    if let type = try? TypeEncoding(utf8: bytes) {
      #expect(type.tree.nodes.count <= bytes.count)
      let printed = type.description
      let again = try? TypeEncoding(parsing: printed)
      #expect(again?.description == printed, "\(bytes)")
      #expect(
        (try? TypeEncoding(parsing: type.canonicalSpelling))?.canonicalSpelling
          == type.canonicalSpelling, "\(bytes)")
      _ = try? type.layout
      _ = try? type.passingFacts()
      _ = type.kind
      for machine in Machine.allCases where machine != .own { probe(bytes, as: machine) }
    }
    do {
      let signature = try MethodSignature(utf8: bytes)
      #expect(try MethodSignature(parsing: signature.description) == signature, "\(bytes)")
    } catch {
      #expect((0...bytes.count).contains(error.offset), "\(bytes)")
      #expect(error.description.utf8.count < 2_000)
    }
  }

  /// Checks that a type passed in registers on another machine has a size that fits them.
  private static func probe(_ bytes: [UInt8], as machine: Machine) {
    guard let type = try? TypeEncoding(utf8: bytes, for: machine) else {
      Issue.record("\(bytes) is no type of \(machine)")
      return
    }
    guard let facts = try? type.passingFacts() else { return }
    let part = facts.component?.size ?? 0
    #expect(machine == .x86_64Linux || part * facts.componentCount == (part > 0 ? facts.size : 0))
    #expect(facts.first == .memory || facts.size <= 16 || part > 0)
  }

  @Test("random strings do no harm", arguments: 0..<4)
  func random(part: Int) {
    var generator = SeededGenerator(seed: UInt64(part) + 1)
    for _ in 0..<15_000 {
      let count = Int.random(in: 0...40, using: &generator)
      Self.probe((0..<count).map { _ in Self.alphabet.randomElement(using: &generator)! })
    }
  }

  @Test("mutated compiler output does no harm", arguments: 0..<4)
  func mutated(part: Int) throws {
    var generator = SeededGenerator(seed: UInt64(part) + 100)
    let seeds =
      try Table("encodings").rows.map { Array($0["encoding"].utf8) }
      + Table("method_types").rows.map { Array($0["types"].utf8) }
    for _ in 0..<11_000 {
      var bytes = seeds.randomElement(using: &generator)!
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let at = Int.random(in: 0...bytes.count, using: &generator)
        switch Int.random(in: 0...3, using: &generator) {
        case 0: bytes.insert(Self.alphabet.randomElement(using: &generator)!, at: at)
        case 1 where at < bytes.count: bytes.remove(at: at)
        case 2 where at < bytes.count: bytes[at] = UInt8.random(in: 0...255, using: &generator)
        default: bytes.removeSubrange(at...)
        }
      }
      Self.probe(bytes)
    }
  }

  @Test("the limits are exact", arguments: [0, 1, 2])
  func edges(extra: Int) {
    let length = EncodingLimits.length + extra - 1
    Self.probe([UInt8](repeating: UInt8(ascii: "r"), count: length - 1) + [UInt8(ascii: "i")])
    Self.probe(
      Array("{S=".utf8) + [UInt8](repeating: UInt8(ascii: "i"), count: length - 4) + Array("}".utf8)
    )
    Self.probe(Array(("[2000000000" + String(repeating: "{e=}", count: 1) + "]").utf8))
    Self.probe(Array("[2000000000{=[0{=i}]}]".utf8))
    Self.probe(Array("[2000000000[2{e=}]]".utf8))
  }
}

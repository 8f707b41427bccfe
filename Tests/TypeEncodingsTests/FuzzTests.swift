// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import FuzzTargets
import Testing
import TypeEncodings

/// Parsing ends, what is parsed prints back, and what is refused has a place: see `EncodingFuzz`.
@Suite("Parsing hostile strings")
struct FuzzTests {
  private static let alphabet = Array(
    "{}()[]<>\"=^@?:#*%!jbrnNoORVA|cCsSiIlLqQtTfdDBv0123456789+-, xZ\u{0}".utf8)

  @Test("random strings do no harm", arguments: 0..<4)
  func random(part: Int) throws {
    var generator = SeededGenerator(seed: UInt64(part) + 1)
    for _ in 0..<5_000 {
      let count = Int.random(in: 0...40, using: &generator)
      try FuzzTarget.encodings.run(
        (0..<count).map { _ in Self.alphabet.randomElement(using: &generator)! })
    }
  }

  @Test("mutated compiler output does no harm", arguments: 0..<4)
  func mutated(part: Int) throws {
    var generator = SeededGenerator(seed: UInt64(part) + 100)
    let seeds =
      try Table("encodings").rows.map { Array($0["encoding"].utf8) }
      + Table("method_types").rows.map { Array($0["types"].utf8) }
    for _ in 0..<4_000 {
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
      try FuzzTarget.encodings.run(bytes)
    }
  }

  @Test("the limits are exact, and many elements without size take no time", arguments: [-1, 0, 1])
  func edges(extra: Int) throws {
    let length = EncodingLimits.length + extra
    for text in [
      String(repeating: "r", count: length - 1) + "i",
      "{S=" + String(repeating: "i", count: length - 4) + "}",
      "[2000000000{e=}]", "[2000000000{=[0{=i}]}]", "[2000000000[2{e=}]]",
    ] { try FuzzTarget.encodings.run(Array(text.utf8)) }
  }
}

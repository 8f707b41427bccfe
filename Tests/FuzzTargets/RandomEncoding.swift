// SPDX-License-Identifier: Apache-2.0
/// Makes encodings that are mostly valid, from the input.
enum RandomEncoding {
  static let names = ["A", "B", "C", "D"]

  private static let letters = Array("cCsSiIlLqQfdDBtT")
  private static let addresses = ["*", "@", ":", "#", "^v", "^i", "^?", "@?", "^{A}"]

  static func signature(_ input: inout FuzzInput) -> String {
    let result = input.number(below: 4) == 0 ? "v" : type(&input, depth: 0)
    // Sometimes more arguments than there are registers.
    let count = input.number(below: 24)
    return (0..<count).reduce(result) { text, _ in text + type(&input, depth: 0) }
  }

  static func type(_ input: inout FuzzInput, depth: Int) -> String {
    let choice = input.number(below: 16)
    switch choice {
    case 0...6: return String(letters[input.number(below: letters.count)])
    case 7...8: return addresses[input.number(below: addresses.count)]
    case 9: return "j" + String(letters[input.number(below: 13)])
    case 10 where depth > 0:
      return "[\(input.number(below: 5))" + type(&input, depth: depth + 1) + "]"
    case 11...15 where depth < 4: return aggregate(&input, depth)
    default: return "i"
    }
  }

  private static func aggregate(_ input: inout FuzzInput, _ depth: Int) -> String {
    let isUnion = input.number(below: 4) == 0
    let name = input.number(below: 2) == 0 ? names[input.number(below: 4)] : "?"
    let count = input.number(below: 5)
    var members = ""
    var bit = 0
    for _ in 0..<count {
      if input.number(below: 8) == 0 {
        // A bit-field at an offset that GNU's compilers could choose.
        let width = input.number(below: 33)
        if bit / 32 != (bit + width) / 32 { bit = (bit + 31) / 32 * 32 }
        members += "b\(isUnion ? 0 : bit)I\(width)"
        bit += width
      } else {
        members += type(&input, depth: depth + 1)
        bit += 64
      }
    }
    return isUnion ? "(\(name)=\(members))" : "{\(name)=\(members)}"
  }
}

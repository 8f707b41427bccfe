// SPDX-License-Identifier: Apache-2.0
/// Random signatures, and the types that AArch64 passes by special rules.
extension RandomCTypes {
  mutating func ordinarySignature(_ index: Int) -> SignatureMatrix.Signature {
    let result = number(0...5) == 0 ? nil : value()
    let length =
      switch index % 50 {
      case 7: 60
      case 13: 254
      default: number(0...9)
      }
    // Long lists have only scalars, so that they reach far down the stack but stay within limits.
    let arguments = (0..<length).map { _ in length > 20 ? scalar() : value() }
    return .init(result: result, arguments: arguments)
  }

  mutating func shapedSignature() -> SignatureMatrix.Signature {
    let arguments = (0..<number(1...4)).map { _ in shaped() }
    return .init(result: shaped(), arguments: arguments)
  }

  mutating func signatureOfComposites(_ index: Int) -> SignatureMatrix.Signature {
    let result = number(0...7) == 0 ? nil : special()
    // Sometimes more arguments of each kind than there are registers.
    let length = index % 20 == 7 ? 40 : number(0...12)
    return .init(result: result, arguments: (0..<length).map { _ in special() })
  }

  mutating func variadicSignature() -> SignatureMatrix.Signature {
    let fixed = number(1...4)
    let arguments = (0..<fixed).map { _ in special() } + (0..<number(1...9)).map { _ in promoted() }
    return .init(result: special(), arguments: arguments, fixedCount: fixed)
  }

  /// An argument for `...`, after C's promotions.
  private mutating func promoted() -> RandomCType {
    switch special() {
    case .scalar("float"): .scalar("double")
    case .scalar("char"), .scalar("signed char"), .scalar("unsigned char"), .scalar("_Bool"),
      .scalar("short"), .scalar("unsigned short"):
      .scalar("int")
    case let type: type
    }
  }

  /// A value, usually of a type that AArch64 has a special rule for.
  private mutating func special() -> RandomCType {
    switch number(0...31) {
    case 0: .scalar("char")
    case 1...7: scalar()
    case 8...10: .scalar(pick(["float", "double", "long double"]))
    case 11: .scalar(pick(Self.wide))
    case 12...18: homogeneous(count: number(1...4))
    // One more than the registers take.
    case 19: homogeneous(count: number(5...6))
    case 20...21: nearlyHomogeneous()
    case 22...23: named(members: pair())
    // Arrays of bytes, around every limit of size.
    case 25: named(members: [.array(number(1...20), .scalar("char"))])
    // More than 16 bytes: passed as the address of a copy.
    case 26...27: named(members: [.array(number(2...5), .scalar("long")), scalar()])
    case 24, 28: shape()
    default: aggregate(depth: 2)
    }
  }

  private mutating func named(
    isUnion: Bool = false, members: [RandomCType]
  ) -> RandomCType {
    count += 1
    let members = members.enumerated().map {
      RandomCType.Member(name: "m\($0)", type: $1, bits: nil)
    }
    return .aggregate(.init(name: "\(prefix)\(count)", isUnion: isUnion, members: members))
  }

  /// A structure or union of `count` numbers of one floating type.
  private mutating func homogeneous(count: Int) -> RandomCType {
    homogeneous(pick(["float", "double", "float", "double", "long double"]), count: count)
  }

  private mutating func homogeneous(_ base: String, count: Int) -> RandomCType {
    let number: RandomCType = .scalar(base)
    switch self.number(0...6) {
    case 0: return named(members: [.array(count, number)])
    case 1 where count > 1:
      return named(members: [number, homogeneous(base, count: count - 1)])
    case 2 where count > 1:
      return named(members: [homogeneous(base, count: count - 1), number])
    case 3:
      let smaller = homogeneous(base, count: self.number(1...count))
      return named(isUnion: true, members: [homogeneous(base, count: count), smaller])
    case 4 where count.isMultiple(of: 2):
      return named(members: [.array(count / 2, .scalar(base + " _Complex"))])
    case 5:
      return named(members: [named(members: [])] + Array(repeating: number, count: count))
    default: return named(members: Array(repeating: number, count: count))
    }
  }

  /// A structure or union that is nearly homogeneous, or just so.
  private mutating func nearlyHomogeneous() -> RandomCType {
    let some = homogeneous(count: number(1...3))
    let other: RandomCType =
      switch number(0...4) {
      case 0: .scalar(pick(["float", "double", "long double"]))
      case 1: .scalar(pick(Self.integers))
      case 2: .array(0, .scalar(pick(["float", "int"])))
      case 3: .scalar("char")
      default: named(members: [.scalar("float"), .scalar("double")])
      }
    return named(
      isUnion: number(0...3) == 0, members: number(0...1) == 0 ? [some, other] : [other, some])
  }

  /// Two members of up to 16 bytes, of any kinds.
  private mutating func pair() -> [RandomCType] {
    let names = Self.integers + ["float", "double", "char", "float _Complex"]
    return (0..<2).map { _ in .scalar(pick(names)) }
  }

  /// Members of structures with padding where another machine's rules pass a floating number in a
  /// register, and of structures and unions with an alignment of 16, which begin at an even
  /// register.
  private static let shapes: [[String]] = [
    ["char", "double"], ["float", "char"], ["double", "char"], ["char", "float"],
    ["char", "long double"], ["float", "double"], ["double", "float"], ["char", "float", "char"],
    ["__int128"], ["unsigned __int128"], ["long", "__int128"], ["long", "unsigned __int128"],
    ["union", "__int128", "long"], ["union", "unsigned __int128", "float _Complex"],
    ["union", "long double", "int"],
  ]

  /// One of those shapes, sometimes with an empty member of the same alignment before it.
  private mutating func shape() -> RandomCType {
    let names = pick(Self.shapes)
    let isUnion = names[0] == "union"
    var members = names.dropFirst(isUnion ? 1 : 0).map { RandomCType.scalar($0) }
    if number(0...2) == 0 {
      let empty: RandomCType =
        names.contains("__int128") ? .array(0, .scalar("__int128")) : named(members: [])
      members.insert(empty, at: number(0...members.count - 1))
    }
    return named(isUnion: isUnion, members: members)
  }
}

// SPDX-License-Identifier: Apache-2.0
/// A random C type: its declaration in C, and the bytes that carry a value.
public indirect enum RandomCType: Sendable {
  case scalar(String)
  case pointer(String)
  case array(Int, RandomCType)
  case aggregate(Aggregate)

  public struct Aggregate: Sendable {
    public let name: String
    public let isUnion: Bool
    public var members: [Member]
    /// Whether the structure is `packed`, and the argument of `aligned`.
    public var isPacked = false
    public var alignment: Int?

    /// Whether the encoding does not determine the layout, because it drops the attributes.
    public var needsLayout: Bool {
      isPacked || alignment != nil || members.contains { $0.alignment != nil }
    }
  }

  public struct Member: Sendable {
    public let name: String
    public let type: RandomCType
    /// The width of a bit-field, or nil.
    public let bits: Int?
    /// The argument of `aligned`.
    public var alignment: Int?
  }

  /// The name of the type in C; arrays have none.
  public var spelling: String {
    switch self {
    case .scalar(let name), .pointer(let name): name
    case .array(_, let element): element.spelling
    case .aggregate(let aggregate):
      (aggregate.isUnion ? "union " : "struct ") + aggregate.name
    }
  }

  private func declaration(_ name: String) -> String {
    var dimensions = ""
    var type = self
    while case .array(let count, let element) = type {
      dimensions += "[\(count)]"
      type = element
    }
    return "\(type.spelling) \(name)\(dimensions)"
  }

  /// The declarations of this type and of those inside it, innermost first.
  public var definitions: String {
    switch self {
    case .scalar, .pointer: return ""
    case .array(_, let element): return element.definitions
    case .aggregate(let aggregate):
      let inner = aggregate.members.map(\.type.definitions).joined()
      let members = aggregate.members.map { member in
        member.type.declaration(member.name) + (member.bits.map { " : \($0)" } ?? "")
          + Self.aligned(member.alignment) + "; "
      }
      let attributes =
        (aggregate.isPacked ? " __attribute__((packed))" : "") + Self.aligned(aggregate.alignment)
      return inner + "\(spelling) { \(members.joined())}\(attributes);\n"
    }
  }

  private static func aligned(_ alignment: Int?) -> String {
    alignment.map { " __attribute__((aligned(\($0))))" } ?? ""
  }

  /// The structures and unions in this type, itself included, that need a registered layout.
  public var shaped: [Aggregate] {
    switch self {
    case .scalar, .pointer: []
    case .array(_, let element): element.shaped
    case .aggregate(let aggregate):
      aggregate.members.flatMap(\.type.shaped) + (aggregate.needsLayout ? [aggregate] : [])
    }
  }

  /// C statements that set every byte of `path` that carries a value.
  public func maskStatements(_ path: String, depth: Int = 0) -> String {
    switch self {
    case .scalar("_Bool"): return "memset(&\(path), 1, 1); "
    case .scalar("long double"): return "memset(&\(path), 255, QUAD); "
    case .scalar("long double _Complex"):
      return "memset(&\(path), 255, QUAD); memset((char *)&\(path) + 16, 255, QUAD); "
    case .scalar(let name) where name.hasPrefix("float") || name.hasPrefix("double"):
      // One exponent bit stays 0, so no value is a NaN: gcc may copy a float through the x87
      // registers, which turns a signalling NaN into a quiet one.
      let part = name.hasPrefix("float") ? 4 : 8
      let parts = name.hasSuffix("_Complex") ? 2 : 1
      let clear = (1...parts).map { "((unsigned char *)&\(path))[\($0 * part - 1)] = 0xBF; " }
      return "memset(&\(path), 255, sizeof \(path)); " + clear.joined()
    case .scalar, .pointer: return "memset(&\(path), 255, sizeof \(path)); "
    case .array(let count, let element):
      let index = "i\(depth)"
      return "for (int \(index) = 0; \(index) < \(count); \(index)++) { "
        + element.maskStatements("\(path)[\(index)]", depth: depth + 1) + "} "
    case .aggregate(let aggregate) where aggregate.isUnion:
      // The union of the bytes of all members; setting those of one must not clear another's.
      let one = "u\(depth)"
      return aggregate.members.map { member in
        let set =
          member.bits != nil
          ? "\(one).\(member.name) = (\(member.type.spelling))~0ull; "
          : member.type.maskStatements("\(one).\(member.name)", depth: depth + 1)
        return "{ \(spelling) \(one); memset(&\(one), 0, sizeof \(one)); " + set
          + "for (unsigned n = 0; n < sizeof \(one); n++) ((unsigned char *)&\(path))[n] |= "
          + "((unsigned char *)&\(one))[n]; } "
      }.joined()
    case .aggregate(let aggregate):
      return aggregate.members.map { member in
        member.bits != nil
          ? "\(path).\(member.name) = (\(member.type.spelling))~0ull; "
          : member.type.maskStatements("\(path).\(member.name)", depth: depth)
      }.joined()
    }
  }
}

/// Makes random types and signatures. Equal seeds give equal types.
public struct RandomCTypes {
  private var generator: SeededGenerator
  var count = 0
  let prefix: String

  public init(seed: UInt64, prefix: String) {
    generator = SeededGenerator(seed: seed)
    self.prefix = prefix
  }

  static let integers = [
    "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long",
    "unsigned long", "long long", "unsigned long long", "_Bool",
  ]
  private static let floats = ["float", "double", "float", "double", "long double"]
  static let wide = ["__int128", "unsigned __int128"]
  private static let complex = [
    "float _Complex", "double _Complex", "long double _Complex", "int _Complex",
    "long long _Complex", "short _Complex",
  ]
  private static let pointers = ["void *", "char *", "int *", "fn *"]
  private static let bitFieldBases = [
    "unsigned", "int", "unsigned char", "unsigned short", "long", "unsigned long", "_Bool",
  ]

  public mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  public mutating func byte() -> UInt8 { UInt8.random(in: 0...255, using: &generator) }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[number(0...values.count - 1)]
  }

  /// A scalar or a pointer; common types are more frequent.
  public mutating func scalar() -> RandomCType {
    switch number(0...19) {
    case 0...8: .scalar(pick(Self.integers))
    case 9...14: .scalar(pick(Self.floats))
    case 15: .scalar(pick(Self.wide))
    case 16: .scalar(pick(Self.complex))
    default: .pointer(pick(Self.pointers))
    }
  }

  /// Any type that can be an argument.
  public mutating func value() -> RandomCType {
    number(0...99) < 55 ? scalar() : aggregate(depth: 0)
  }

  /// A structure or union with attributes on it, or inside it.
  public mutating func shaped() -> RandomCType {
    while true {
      let type = aggregate(depth: 2)
      if !type.shaped.isEmpty { return type }
    }
  }

  private mutating func member(depth: Int) -> RandomCType {
    switch number(0...9) {
    case 0...6: scalar()
    case 7: depth < 3 ? .array(number(1...3), member(depth: depth + 1)) : scalar()
    default: depth < 3 ? aggregate(depth: depth + 1) : scalar()
    }
  }

  /// A structure or union; every third has attributes that the encoding drops.
  public mutating func aggregate(depth: Int) -> RandomCType {
    let plain = plainAggregate(depth: depth)
    guard case .aggregate(var shaped) = plain, number(0...2) == 0 else { return plain }
    if number(0...2) == 0 { shaped.isPacked = true }
    if number(0...1) == 0 { shaped.alignment = pick([2, 4, 8, 16, 16]) }
    // Bit-fields get no alignment: compilers differ over aligned ones.
    if !shaped.members.isEmpty, number(0...2) == 0 {
      let index = number(0...shaped.members.count - 1)
      if shaped.members[index].bits == nil { shaped.members[index].alignment = pick([4, 8, 16]) }
    }
    return .aggregate(shaped)
  }

  private mutating func plainAggregate(depth: Int) -> RandomCType {
    count += 1
    let name = "\(prefix)\(count)"
    let isUnion = number(0...3) == 0
    let style = number(0...19)
    if style == 0 { return .aggregate(.init(name: name, isUnion: isUnion, members: [])) }
    if style <= 4 {
      // Bit-fields, sometimes with an ordinary member between them.
      let members = (0..<number(1...5)).map { index -> RandomCType.Member in
        if number(0...5) == 0 {
          return .init(name: "m\(index)", type: .scalar(pick(Self.integers)), bits: nil)
        }
        let base = pick(Self.bitFieldBases)
        let widest =
          switch base {
          case "_Bool": 1
          case "unsigned char": 8
          case "unsigned short": 16
          case "long", "unsigned long": 64
          default: 32
          }
        return .init(name: "m\(index)", type: .scalar(base), bits: number(1...widest))
      }
      return .aggregate(.init(name: name, isUnion: isUnion, members: members))
    }
    // Most are small, because small ones are passed in registers.
    let count = style < 14 ? number(1...3) : number(1...6)
    var members = (0..<count).map {
      RandomCType.Member(name: "m\($0)", type: member(depth: depth), bits: nil)
    }
    if number(0...7) == 0 {
      // An array of length 0 only raises the alignment. Sometimes it is the last member.
      let empty = RandomCType.array(0, .scalar(pick(Self.wide + ["long", "int", "char"])))
      let place = number(0...5) == 0 ? members.count : number(0...members.count - 1)
      members.insert(.init(name: "z", type: empty, bits: nil), at: place)
    }
    return .aggregate(.init(name: name, isUnion: isUnion, members: members))
  }
}

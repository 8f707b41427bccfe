/// The name of a distributed method as the compiler has it, read as far as it says whose method that is.
///
/// A method that is performed with an actor of another type has the wrong memory in its hands, and a name from outside
/// may be that of any distributed method of this process. So a name that begins with that of the actor's type is not
/// enough: those of types inside of it do, too, and those of types inside of its functions.
///
///     $s 3app7GreeterC 5greet yS2SYaK FTE           a method of Greeter
///     $s 3app7GreeterC 3addE 5greet yS2SYaK FTE     one that another module adds
///     $s 3app7GreeterC 5InnerC 5greet yS2SYaK FTE   one of a type inside of it
///     $s 3app7GreeterC 5greetyyF5LocalL_C 3foo …    one of a type inside of a function
struct MethodName {
  private let bytes: [UInt8]
  private var offset: Int

  /// Whether a name that this process has is that of a method of a type, whose name is that of the runtime.
  ///
  /// Some methods of the type are not found: such that have `_C` in the name of a parameter or of a parameter's type.
  static func isMethod(_ name: String, of type: String) -> Bool {
    let (prefix, suffix) = ("$s" + type, "FTE")
    // A type whose name is not known would have all methods.
    guard type.hasSuffix("C"), name.hasPrefix(prefix), name.hasSuffix(suffix),
      name.utf8.count > prefix.utf8.count + suffix.utf8.count
    else { return false }
    var rest = MethodName(bytes: Array(name.utf8.dropLast(3)), offset: prefix.utf8.count)
    return rest.isOwnMethod()
  }

  private mutating func isOwnMethod() -> Bool {
    guard skipIdentifier() else { return false }
    if next == UInt8(ascii: "E") {
      offset += 1
      guard skipIdentifier() else { return false }
    }
    // A method that is private in a file has the file's mark behind its name.
    var ahead = self
    if ahead.skipIdentifier(), ahead.skip("LL") { self = ahead }
    // What follows the name of a method is a type or a label; what would make the name one of a type is neither.
    guard let next, Self.beginnings.contains(next) else { return false }
    // A type inside of a function has a number, whose end is `_`.
    let rest = bytes[offset...]
    return !zip(rest, rest.dropFirst()).contains { $0 == (UInt8(ascii: "_"), UInt8(ascii: "C")) }
  }

  /// What labels and types begin with.
  private static let beginnings = Set("yS_AxqBs0123456789".utf8)

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skip(_ text: String) -> Bool {
    guard bytes[offset...].starts(with: text.utf8) else { return false }
    offset += text.utf8.count
    return true
  }

  /// Goes on behind an identifier: its length and its bytes; or a zero, letters that stand for words that were there
  /// before, and pieces between them.
  private mutating func skipIdentifier() -> Bool {
    guard let first = next, Self.isDigit(first) else { return false }
    var hasWords = false
    if first == UInt8(ascii: "0") {
      offset += 1
      // With a second zero, the bytes stand for others.
      if next == first { offset += 1 } else { hasWords = true }
    }
    repeat {
      while hasWords, let letter = next, let isLast = Self.isLastWord(letter) {
        offset += 1
        if isLast { hasWords = false }
      }
      if skip("0") { return true }
      guard let count = natural(), count <= bytes.count - offset else { return false }
      offset += count
    } while hasWords
    return true
  }

  private mutating func natural() -> Int? {
    var number = 0
    let start = offset
    while let digit = next, Self.isDigit(digit), number < bytes.count {
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
      offset += 1
    }
    return offset > start && number > 0 ? number : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLastWord(_ byte: UInt8) -> Bool? {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): false
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: nil
    }
  }
}

/// The name of a distributed method as the compiler has it, read to the end to know whose method that is.
///
/// A method that is performed with an actor of another type has the wrong memory in its hands, and a name from outside
/// may be that of any distributed method of this process. So a name that begins with that of the actor's type is not
/// enough: those of types inside of it do, too, and those of types inside of its functions, however deep.
///
///     $s 3app7GreeterC 5greet yS2SYaK FTE            a method of Greeter
///     $s 3app7GreeterC 3addE 5greet yS2SYaK FTE      one that another module adds
///     $s 3app7GreeterC 5InnerC 5greet yS2SYaK FTE    one of a type inside of it
///     $s 3app7GreeterC 5local yyF 1LL_V 5InnerC …    one of a type inside of a type inside of a function
///
/// What is behind the type's name is the method's own name, labels, a result, parameters, and marks, and nothing else.
/// Names say things in the order of a stack machine, `3app5PointV` for "the structure of those two", so that machine is
/// run, with what the types of values need, and nothing else: an operation that is not known, one that takes what is
/// not there, and one that takes the type or the name in front of it refuse the name.
package struct MethodName {
  private var text: MangledText
  private var stack: [Item] = []

  /// What is known of something that the name has said.
  private enum Item: Equatable {
    case identifier
    /// `_`, an unnamed label, or the end of the first of some types.
    case mark
    /// `y`, no types or no labels.
    case empty
    /// A module, that is no type.
    case module
    /// A type; or something that was named before, as any name may have been.
    case named
    /// Types in parentheses.
    case tuple(Int)
  }

  /// Whether a name that this process has is that of a method of a type, whose name is that of the runtime.
  ///
  /// A few methods of the type are not found: such as are generic, such as have parameters of local types, and such
  /// whose name and first label both were there before.
  package static func isMethod(_ name: String, of type: String) -> Bool {
    let (prefix, suffix) = ("$s" + type, "FTE")
    // A type whose name is not known would have all methods.
    guard type.hasSuffix("C"), name.hasPrefix(prefix), name.hasSuffix(suffix),
      name.utf8.count > prefix.utf8.count + suffix.utf8.count
    else { return false }
    let bytes = Array(name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count))
    var rest = MethodName(text: MangledText(bytes))
    return rest.readName() && rest.readTypes()
  }

  /// The method's own name, with the module that adds it in front, and the mark of a file behind.
  private mutating func readName() -> Bool {
    var ahead = text
    if Self.skipName(&ahead), ahead.skip("E") { text = ahead }
    guard Self.skipName(&text) else { return false }
    ahead = text
    if Self.skipName(&ahead), ahead.skip("LL") { text = ahead }
    return true
  }

  /// Goes on behind a name, or what stands for one that was there before.
  private static func skipName(_ text: inout MangledText) -> Bool {
    text.next == UInt8(ascii: "A") ? text.skipOneBefore() : text.skipIdentifier()
  }

  /// Labels, result and parameters, and that the method may wait and throw, as all distributed methods do.
  private mutating func readTypes() -> Bool {
    while !text.isAtEnd {
      if text.remaining == "YaK" { return isSignature() }
      guard step() else { return false }
    }
    return false
  }

  /// Whether what was said is the labels of as many parameters as follow, a result, and parameters.
  private func isSignature() -> Bool {
    guard stack.count >= 2, Self.isType(stack[stack.count - 2]) else { return false }
    let labels = stack.dropLast(2)
    let count: Int
    switch stack[stack.count - 1] {
    case .empty: count = 0
    case .named: count = 1
    case .tuple(let types): count = types
    case .identifier, .mark, .module: return false
    }
    if count > 0, Array(labels) == [.empty] { return true }
    return labels.count == count && labels.allSatisfy { [.identifier, .named, .mark].contains($0) }
  }

  private static func isType(_ item: Item) -> Bool {
    switch item {
    case .empty, .named, .tuple: true
    case .identifier, .mark, .module: false
    }
  }

  private mutating func step() -> Bool {
    guard let next = text.next else { return false }
    if MangledText.isDigit(next) { return text.skipIdentifier() && push(.identifier) }
    text.advance()
    switch next {
    case UInt8(ascii: "_"): return push(.mark)
    case UInt8(ascii: "y"): return push(.empty)
    case UInt8(ascii: "s"): return push(.module)
    case UInt8(ascii: "S"): return standard()
    case UInt8(ascii: "A"):
      guard let count = text.countBefore() else { return false }
      stack += Array(repeating: .named, count: count)
      return true
    case UInt8(ascii: "V"), UInt8(ascii: "C"), UInt8(ascii: "O"): return nominal()
    case UInt8(ascii: "G"): return generic()
    case UInt8(ascii: "t"): return tuple()
    case UInt8(ascii: "L"):
      // The mark of a file, behind a name.
      return text.skip("L") && takeName() && takeName() && push(.identifier)
    default: return false
    }
  }

  private mutating func push(_ item: Item) -> Bool {
    stack.append(item)
    return true
  }

  private mutating func take(_ item: Item) -> Bool { stack.popLast() == item }

  private mutating func takeName() -> Bool { [.identifier, .named].contains(stack.popLast()) }

  /// `Si`, `S2S` for two, `ScA`; `So` for the module of C; `Sg` for the optional of the type in front.
  private mutating func standard() -> Bool {
    if text.skip("o") || text.skip("C") { return push(.module) }
    if text.skip("g") {
      guard let type = stack.popLast(), type != .empty, Self.isType(type) else { return false }
      return push(.named)
    }
    var count = 1
    if let next = text.next, MangledText.isDigit(next) {
      guard let number = text.natural(), (1...MangledText.limit).contains(number)
      else { return false }
      count = number
    }
    _ = text.skip("c")
    guard let letter = text.next, MangledText.isLetter(letter) else { return false }
    text.advance()
    stack += Array(repeating: .named, count: count)
    return true
  }

  /// A type by its name, in a module or in a type.
  private mutating func nominal() -> Bool {
    guard takeName(), let context = stack.popLast() else { return false }
    guard [.identifier, .module, .named].contains(context) else { return false }
    return push(.named)
  }

  /// A type with the types behind it, whose first has `y` in front, and those of each level `_`.
  private mutating func generic() -> Bool {
    while let item = stack.popLast() {
      switch item {
      case .empty: return take(.named) && push(.named)
      case .mark, .named, .tuple: continue
      case .identifier, .module: return false
      }
    }
    return false
  }

  /// Types behind each other, whose first has `_` behind it. Such as have labels are refused. `y` alone is none.
  private mutating func tuple() -> Bool {
    if stack.last == .empty { return take(.empty) && push(.tuple(0)) }
    var count = 0
    while !stack.isEmpty {
      let isFirst = stack.last == .mark
      if isFirst { stack.removeLast() }
      guard let type = stack.popLast(), Self.isType(type), type != .empty else { return false }
      count += 1
      if isFirst { return push(.tuple(count)) }
    }
    return false
  }
}

// SPDX-License-Identifier: Apache-2.0
/// The mangled name of a distributed method, which is parsed completely to find out to which type
/// the method belongs.
///
/// A method that is performed with an actor of another type accesses the wrong memory, and a
/// received name may be that of any distributed method of this process. It is not enough that a
/// name begins with that of the actor's type: so do the names of methods of nested types, and of
/// types that are local to the type's functions, at any depth.
///
///     $s 3app7GreeterC 5greet yS2SYaK FTE            a method of Greeter
///     $s 3app7GreeterC 3addE 5greet yS2SYaK FTE      one that another module adds
///     $s 3app7GreeterC 5InnerC 5greet yS2SYaK FTE    one of a type inside of it
///     $s 3app7GreeterC 5local yyF 1LL_V 5InnerC …    one of a type inside of a type inside of a function
///
/// The type's name must be followed by the method's own name, labels, a result, parameters and
/// marks, and nothing else. A mangled name is a program for a stack machine, in which `3app5PointV`
/// means "a structure of these two names". So that machine is run, with the operations for types of
/// values only. The name is refused if an operation is unknown, finds too few operands, or uses the
/// type or the name in front of it.
package struct MethodName {
  private var text: MangledText
  private var stack: [Item] = []

  /// An element of the stack.
  private enum Item: Equatable {
    case identifier
    /// `_`, an unnamed label, or the end of the first type of a list.
    case mark
    /// `y`, an empty list of types or labels.
    case empty
    /// A module, which is not a type.
    case module
    /// A type, or a reference to an earlier element, which may be any name.
    case named
    /// A tuple of types.
    case tuple(Int)
  }

  /// Whether a name is that of a method of a type. The name must be known in this process, and
  /// `type` is the mangled name of the type.
  ///
  /// A few methods are not recognized: generic methods, methods with parameters of local types, and
  /// methods whose name and first label are both references to earlier elements.
  package static func isMethod(_ name: String, of type: String) -> Bool {
    let (prefix, suffix) = ("$s" + type, "FTE")
    // Without a type name, all methods would match.
    guard type.hasSuffix("C"), name.hasPrefix(prefix), name.hasSuffix(suffix),
      name.utf8.count > prefix.utf8.count + suffix.utf8.count
    else { return false }
    let bytes = Array(name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count))
    var rest = MethodName(text: MangledText(bytes))
    return rest.readName() && rest.readTypes()
  }

  /// Parses the method's own name, after the module of an extension, and before the mark of a file.
  private mutating func readName() -> Bool {
    var ahead = text
    if Self.skipName(&ahead), ahead.skip("E") { text = ahead }
    guard Self.skipName(&text) else { return false }
    ahead = text
    if Self.skipName(&ahead), ahead.skip("LL") { text = ahead }
    return true
  }

  /// Skips a name, or a reference to an earlier one.
  private static func skipName(_ text: inout MangledText) -> Bool {
    text.next == UInt8(ascii: "A") ? text.skipOneBefore() : text.skipIdentifier()
  }

  /// Parses labels, result and parameters, up to the marks for `async` and `throws`, which all
  /// distributed methods have.
  private mutating func readTypes() -> Bool {
    while !text.isAtEnd {
      if text.remaining == "YaK" { return isSignature() }
      guard step() else { return false }
    }
    return false
  }

  /// Whether the stack contains labels for all parameters, a result, and the parameters.
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
      // The mark of a file, after a name.
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

  /// Parses a standard type: `Si`, `S2S` for two of them, `ScA`; `So` for the module of C; `Sg` for
  /// the optional of the preceding type.
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

  /// Parses a nominal type: its name in a module or a type.
  private mutating func nominal() -> Bool {
    guard takeName(), let context = stack.popLast() else { return false }
    guard [.identifier, .module, .named].contains(context) else { return false }
    return push(.named)
  }

  /// Parses a type with generic arguments, the first with `y` in front, and with `_` between
  /// levels.
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

  /// Parses a tuple, with `_` after its first type. Tuples with labels are refused. `y` alone is an
  /// empty tuple.
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

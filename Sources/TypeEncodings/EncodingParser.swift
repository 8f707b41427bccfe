// SPDX-License-Identifier: Apache-2.0
/// Parses types from bytes into nodes, and computes their layouts.
///
/// Every step either consumes a byte or throws, the depth is bounded, and each node is for a byte
/// that was read. So parsing any input ends, in memory proportional to its (bounded) length.
struct EncodingParser {
  /// The place of a type, which decides what types are allowed.
  enum Place {
    case single, result, argument, member, element, pointee

    var allowsVoid: Bool { self == .single || self == .result || self == .pointee }
  }

  let bytes: [UInt8]
  let layouts: StructureLayouts
  let machine: Machine
  var nodes: [EncodingNode] = []
  var offset = 0
  private var depth = 0
  /// The structures that contain the current type by value; -1 for a pointer in between.
  var enclosing: [Int] = []
  /// The places of the advisory numbers inside types.
  var advice: [Range<Int>] = []

  init(
    _ bytes: [UInt8], layouts: StructureLayouts, for machine: Machine
  ) throws(TypeEncodingError) {
    self.bytes = bytes
    self.layouts = layouts
    self.machine = machine
    if bytes.isEmpty { throw error(.empty, at: 0) }
    if bytes.count > EncodingLimits.length {
      throw error(.tooLong(limit: EncodingLimits.length), at: EncodingLimits.length)
    }
    nodes.reserveCapacity(min(bytes.count, 16))
    do { _ = try UTF8Span(validating: bytes.span) } catch {
      throw self.error(.invalidUTF8, at: error.byteOffsets.lowerBound)
    }
  }

  /// The bytes of a string, but only as many as are needed to refuse it as too long.
  static func bytes(of string: String) -> [UInt8] {
    Array(string.utf8.prefix(EncodingLimits.length + 1))
  }

  // MARK: Bytes

  var atEnd: Bool { offset >= bytes.count }

  func peek(_ ahead: Int = 0) -> UInt8? {
    offset + ahead < bytes.count ? bytes[offset + ahead] : nil
  }

  mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    offset += 1
    return true
  }

  func error(_ reason: TypeEncodingError.Reason, at offset: Int) -> TypeEncodingError {
    // Only a part of a string above the limit is quoted: an error must not contain megabytes.
    let text = String(decoding: bytes.prefix(EncodingLimits.length + 64), as: UTF8.self)
    if case .unknownCode = reason, let error = TypeEncodingError.nameOfType(text) { return error }
    return TypeEncodingError(reason: reason, offset: offset, encoding: text)
  }

  func error(_ reason: TypeEncodingError.Reason) -> TypeEncodingError { error(reason, at: offset) }

  /// Returns the error for a bracket that is never closed. Its offset is that of the opener if that
  /// is the last byte, otherwise that of the missing closer.
  func unterminated(_ what: String, _ closer: UInt8, opener: Int) -> TypeEncodingError {
    error(
      .unterminated(what: what, closer: Character(Unicode.Scalar(closer))),
      at: atEnd && offset == opener + 1 ? opener : offset)
  }

  static func isDigit(_ byte: UInt8?) -> Bool {
    byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
  }

  /// Parses a number of at least one digit, up to `limit`.
  mutating func number(limit: Int) throws(TypeEncodingError) -> Int {
    let start = offset
    guard Self.isDigit(peek()) else { throw error(.missingNumber) }
    var value = 0
    while let byte = peek(), Self.isDigit(byte) {
      // The value stays below 10 * limit, which fits: later digits only keep it above the limit.
      if value <= limit { value = value * 10 + Int(byte - UInt8(ascii: "0")) }
      offset += 1
    }
    guard value <= limit else { throw error(.numberTooLarge(limit: limit), at: start) }
    return value
  }

  // MARK: One type

  /// Parses one type, and returns its index.
  @discardableResult
  mutating func parseType(_ place: Place) throws(TypeEncodingError) -> Int {
    depth += 1
    defer { depth -= 1 }
    guard depth <= EncodingLimits.depth else {
      throw error(.nestedTooDeeply(limit: EncodingLimits.depth))
    }
    let index = nodes.count
    var node = EncodingNode(form: .void, start: Int32(offset), base: Int32(offset))
    while let byte = peek(), "rnNoORVA|".utf8.contains(byte) {
      node.isAtomic = node.isAtomic || byte == UInt8(ascii: "A")
      offset += 1
    }
    node.base = Int32(offset)
    guard let code = peek() else { throw error(.unexpectedEnd) }
    nodes.append(node)
    offset += 1
    try parseBase(code, index, place)
    nodes[index].end = Int32(offset)
    nodes[index].next = Int32(nodes.count)
    if node.isAtomic { roundAtomic(index) }
    return index
  }

  /// Parses a type behind its qualifiers; `offset` is behind `code`.
  private mutating func parseBase(
    _ code: UInt8, _ index: Int, _ place: Place
  ) throws(TypeEncodingError) {
    if let scalar = Scalar(rawValue: code) {
      nodes[index].form = .scalar
      nodes[index].scalar = scalar
      let size = scalar.size
      setLayout(index, size: size, alignment: size)
      return
    }
    switch code {
    case UInt8(ascii: "v"):
      if !place.allowsVoid { throw error(.voidIsNoValue, at: offset - 1) }
    case UInt8(ascii: "@"): try parseObject(index)
    case UInt8(ascii: ":"): setWord(index, .selector)
    case UInt8(ascii: "#"): setWord(index, .classReference)
    case UInt8(ascii: "*"): setWord(index, .cString)
    case UInt8(ascii: "%"): setWord(index, .atom)
    case UInt8(ascii: "^"):
      setWord(index, .pointer)
      enclosing.append(-1)
      try parseType(.pointee)
      enclosing.removeLast()
    case UInt8(ascii: "?"):
      guard place == .pointee else { throw error(.functionIsNoValue, at: offset - 1) }
      nodes[index].form = .unknown
      setFault(index, .functionIsNoValue, at: offset - 1)
    case UInt8(ascii: "j"): try parseComplex(index)
    case UInt8(ascii: "["): try parseArray(index)
    case UInt8(ascii: "{"): try parseStructure(index, .structure)
    case UInt8(ascii: "("): try parseStructure(index, .union)
    case UInt8(ascii: "b"): try parseBitField(index, place)
    case UInt8(ascii: "!"): try parseVector(index)
    case UInt8(ascii: "<"): try parseSIMD(index)
    default: throw error(.unknownCode(code), at: offset - 1)
    }
  }

  private mutating func parseComplex(_ index: Int) throws(TypeEncodingError) {
    guard let code = peek() else { throw error(.unexpectedEnd) }
    guard let scalar = Scalar(rawValue: code), scalar != .bool else {
      throw error(.notAComplexBase)
    }
    offset += 1
    nodes[index].form = .complex
    nodes[index].scalar = scalar
    let size = scalar.size
    setLayout(index, size: 2 * size, alignment: size)
  }

  // MARK: Objects and blocks

  private mutating func parseObject(_ index: Int) throws(TypeEncodingError) {
    setWord(index, .object)
    if peek() == UInt8(ascii: "\""), quotedTextIsClassName(index) {
      (nodes[index].nameStart, nodes[index].nameEnd) = try quoted()
      nodes[index].hasBody = true
    } else if take(UInt8(ascii: "?")) {
      nodes[index].form = .block
      // `<2f>` behind a block is a separate vector; a signature begins with a type.
      if peek() == UInt8(ascii: "<"), !Self.isDigit(peek(1)) {
        try parseBlockSignature(index)
      }
    }
  }

  private mutating func parseBlockSignature(_ index: Int) throws(TypeEncodingError) {
    let opener = offset
    offset += 1
    nodes[index].hasBody = true
    enclosing.append(-1)
    var place = Place.result
    while !take(UInt8(ascii: ">")) {
      if atEnd { throw unterminated("block signature", UInt8(ascii: ">"), opener: opener) }
      try parseType(place)
      try skipAdvisoryNumber()
      place = .argument
    }
    enclosing.removeLast()
  }

  /// Whether the quoted text is the class name of an object. In a structure with named members,
  /// `@"x"i` is an object followed by a member called x; a class name is followed by the next label
  /// or the end of the structure.
  private func quotedTextIsClassName(_ index: Int) -> Bool {
    guard nodes[index].labelEnd > 0 || labelIsPending else { return true }
    var close = offset + 1
    while close < bytes.count, bytes[close] != UInt8(ascii: "\"") { close += 1 }
    guard close + 1 < bytes.count else { return true }
    let follower = bytes[close + 1]
    return follower == UInt8(ascii: "\"") || follower == UInt8(ascii: "}")
      || follower == UInt8(ascii: ")") || Self.isDigit(follower)
  }

  /// Whether the current member has a label.
  var labelIsPending = false

  /// Parses the text between two quotes; `offset` is at the first quote.
  mutating func quoted() throws(TypeEncodingError) -> (Int32, Int32) {
    let opener = offset
    offset += 1
    let start = offset
    while let byte = peek(), byte != UInt8(ascii: "\"") {
      if byte < 0x20 || byte == 0x7F { throw error(.invalidName) }
      offset += 1
    }
    guard take(UInt8(ascii: "\"")) else {
      throw unterminated("quoted name", UInt8(ascii: "\""), opener: opener)
    }
    return (Int32(start), Int32(offset - 1))
  }

  // MARK: Numbers behind types

  /// Skips a number that a compiler wrote behind a type inside brackets.
  mutating func skipAdvisoryNumber() throws(TypeEncodingError) {
    guard Self.isDigit(peek()) else { return }
    let start = offset
    _ = try number(limit: EncodingLimits.size)
    advice.append(start..<offset)
  }

  /// Parses the number behind an argument: `16`, `+8`, `-8`.
  mutating func advisoryOffset() throws(TypeEncodingError) -> Int? {
    var sign = 1
    var signed = false
    while let byte = peek(), byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") {
      if byte == UInt8(ascii: "-") { sign = -1 }
      signed = true
      offset += 1
    }
    guard signed || Self.isDigit(peek()) else { return nil }
    return sign * (try number(limit: EncodingLimits.size))
  }

  // MARK: Signatures

  /// Parses a result and arguments up to the end, and returns the index of each.
  mutating func parseSignature() throws(TypeEncodingError) -> [Int32] {
    var roots: [Int32] = []
    var place = Place.result
    repeat {
      let root = try parseType(place)
      if let advice = try advisoryOffset() {
        nodes[root].position = advice
        nodes[root].hasPosition = true
      }
      roots.append(Int32(root))
      place = .argument
    } while !atEnd
    let limit = EncodingLimits.arguments + shape(of: roots).hiddenArguments
    if roots.count - 1 > limit {
      let first = nodes[Int(roots[limit + 1])]
      throw error(.tooManyArguments(limit: EncodingLimits.arguments), at: Int(first.start))
    }
    return roots
  }

  /// The kind of call, as the first arguments show it.
  func shape(of roots: [Int32]) -> MethodSignature.Shape {
    guard roots.count > 1 else { return .function }
    let first = nodes[Int(roots[1])].form
    if first == .block { return .block }
    guard roots.count > 2, nodes[Int(roots[2])].form == .selector else { return .function }
    return first == .object || first == .classReference ? .method : .function
  }
}

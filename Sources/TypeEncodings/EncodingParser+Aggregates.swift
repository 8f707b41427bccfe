// SPDX-License-Identifier: Apache-2.0
extension EncodingParser {
  // MARK: Arrays and vectors

  mutating func parseArray(_ index: Int) throws(TypeEncodingError) {
    let opener = offset - 1
    func unterminated() -> TypeEncodingError {
      self.unterminated("array", UInt8(ascii: "]"), opener: opener)
    }
    if atEnd { throw unterminated() }
    nodes[index].form = .array
    nodes[index].count = try number(limit: EncodingLimits.size)
    if atEnd { throw unterminated() }
    let element = nodes[try parseType(.element)]
    guard take(UInt8(ascii: "]")) else { throw unterminated() }
    // Both factors are below 2^31, so the product fits.
    setLayout(
      index, size: nodes[index].count * Int(element.size), alignment: Int(element.alignment))
    inheritFault(index, from: element)
  }

  /// Parses GCC's vectors, which have a size and an alignment: `![16,16f]`.
  mutating func parseVector(_ index: Int) throws(TypeEncodingError) {
    let opener = offset - 1
    guard take(UInt8(ascii: "[")) else { throw error(.malformedVector) }
    nodes[index].form = .vector
    let size = try number(limit: EncodingLimits.size)
    guard take(UInt8(ascii: ",")) else { throw error(.malformedVector) }
    let alignment = try number(limit: 4096)
    let element = nodes[try parseType(.element)]
    guard take(UInt8(ascii: "]")) else { throw error(.malformedVector) }
    guard alignment > 0, alignment & (alignment - 1) == 0, element.size > 0,
      size > 0, size % Int(element.size) == 0
    else { throw error(.malformedVector, at: opener) }
    nodes[index].count = size / Int(element.size)
    setLayout(index, size: size, alignment: alignment)
    inheritFault(index, from: element)
  }

  /// Parses SIMD vectors of PyObjC's metadata, `<2f>`, which have no alignment.
  mutating func parseSIMD(_ index: Int) throws(TypeEncodingError) {
    let opener = offset - 1
    nodes[index].form = .simd
    nodes[index].count = try number(limit: 4096)
    try parseType(.element)
    guard take(UInt8(ascii: ">")) else { throw error(.malformedVector) }
    setFault(index, .vectorWithoutAlignment, at: opener)
  }

  // MARK: Structures and unions

  mutating func parseStructure(
    _ index: Int, _ form: EncodingNode.Form
  ) throws(TypeEncodingError) {
    let opener = offset - 1
    let closer = form == .union ? UInt8(ascii: ")") : UInt8(ascii: "}")
    let what = form == .union ? "union" : "structure"
    nodes[index].form = form
    try parseName(index, closer: closer)
    if atEnd { throw unterminated(what, closer, opener: opener) }
    guard take(UInt8(ascii: "=")) else {
      offset += 1  // the closer, which ended the name
      if nodes[index].nameStart == nodes[index].nameEnd { throw error(.invalidName, at: opener) }
      setFault(index, .opaque, at: opener)
      applyRegisteredLayout(index, members: [])
      return
    }
    nodes[index].hasBody = true
    let holdsItself = enclosesStructure(named: index)
    enclosing.append(index)
    let outerLabel = labelIsPending
    var layout = AggregateLayout(isUnion: form == .union, on: machine)
    var members: [Int] = []
    while !take(closer) {
      if atEnd { throw unterminated(what, closer, opener: opener) }
      let member = try parseMember()
      try skipAdvisoryNumber()
      members.append(member)
      layout.append(&nodes[member])
    }
    labelIsPending = outerLabel
    enclosing.removeLast()
    layout.finish()
    setLayout(index, size: layout.size, alignment: layout.alignment)
    if let fault = layout.fault { setFault(index, fault.reason, at: fault.offset) }
    if holdsItself { setFault(index, .containsItself, at: opener) }
    applyRegisteredLayout(index, members: members)
  }

  private mutating func parseMember() throws(TypeEncodingError) -> Int {
    var label: (Int32, Int32)?
    if peek() == UInt8(ascii: "\"") { label = try quoted() }
    labelIsPending = label != nil
    let member = try parseType(.member)
    if let label { (nodes[member].labelStart, nodes[member].labelEnd) = label }
    return member
  }

  /// Parses a name up to `=` or the closer. C++ names contain blanks, commas and templates,
  /// `{blob<float, 4>=…}`. Between brackets, which are balanced, the two bytes do not end the name.
  private mutating func parseName(_ index: Int, closer: UInt8) throws(TypeEncodingError) {
    nodes[index].nameStart = Int32(offset)
    var awaited: [UInt8] = []
    while let byte = peek(), !awaited.isEmpty || (byte != UInt8(ascii: "=") && byte != closer) {
      switch byte {
      case 0..<0x20, 0x7F: throw error(.invalidName)
      case UInt8(ascii: "<"): awaited.append(UInt8(ascii: ">"))
      case UInt8(ascii: "("): awaited.append(UInt8(ascii: ")"))
      // Only the arguments of templates contain these: `C<int[3]>`, `S<Name{{125, 61}, 3}>`.
      case UInt8(ascii: "[") where !awaited.isEmpty: awaited.append(UInt8(ascii: "]"))
      case UInt8(ascii: "{") where !awaited.isEmpty: awaited.append(UInt8(ascii: "}"))
      case UInt8(ascii: "["), UInt8(ascii: "{"): throw error(.unbalancedName)
      case UInt8(ascii: ">"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
        guard awaited.popLast() == byte else { throw error(.unbalancedName) }
      default: break
      }
      offset += 1
    }
    nodes[index].nameEnd = Int32(offset)
  }

  /// Whether an enclosing structure has this name, with no pointer between the two.
  private func enclosesStructure(named index: Int) -> Bool {
    let name = nameBytes(index)
    guard !name.isEmpty, !name.elementsEqual([UInt8(ascii: "?")]) else { return false }
    for outer in enclosing.reversed() {
      if outer < 0 { return false }
      if nameBytes(outer).elementsEqual(name) { return true }
    }
    return false
  }

  private func nameBytes(_ index: Int) -> ArraySlice<UInt8> {
    bytes[Int(nodes[index].nameStart)..<Int(nodes[index].nameEnd)]
  }

  // MARK: Bit-fields

  /// Parses a bit-field. Apple writes the width, `b3`; GNU writes the position, the declared type
  /// and the width, `b8I3`. `b8C` is a bit-field of Apple followed by a `C`: only a number behind
  /// the letter makes it one of GNU.
  mutating func parseBitField(_ index: Int, _ place: Place) throws(TypeEncodingError) {
    let start = offset - 1
    guard place == .member || place == .single else {
      throw error(.bitFieldOutsideStructure, at: start)
    }
    nodes[index].form = .bitField
    let numberStart = offset
    let first = try number(limit: EncodingLimits.size)
    if let code = peek(), let scalar = Scalar(rawValue: code), !scalar.isFloatingPoint,
      Self.isDigit(peek(1))
    {
      offset += 1
      nodes[index].scalar = scalar
      nodes[index].hasBody = true
      nodes[index].position = first
      nodes[index].count = try number(limit: 255)
    } else {
      guard first <= 64 else { throw error(.numberTooLarge(limit: 64), at: numberStart) }
      nodes[index].count = first
    }
    // Outside a structure a bit-field has no layout; inside, the structure determines it.
    setFault(index, .bitFieldOutsideStructure, at: start)
  }

  // MARK: Layout of nodes

  mutating func setWord(_ index: Int, _ form: EncodingNode.Form) {
    nodes[index].form = form
    setLayout(index, size: Int.bitWidth / 8, alignment: Int.bitWidth / 8)
  }

  mutating func setLayout(_ index: Int, size: Int, alignment: Int) {
    nodes[index].alignment = Int32(alignment)
    if size > EncodingLimits.size {
      setFault(index, .tooLarge(limit: EncodingLimits.size), at: Int(nodes[index].start))
    } else {
      nodes[index].size = Int32(size)
    }
  }

  mutating func setFault(_ index: Int, _ reason: TypeEncodingError.Reason, at offset: Int) {
    nodes[index].fault = reason
    nodes[index].faultOffset = Int32(offset)
  }

  private mutating func inheritFault(_ index: Int, from element: EncodingNode) {
    if let fault = element.fault { setFault(index, fault, at: Int(element.faultOffset)) }
  }

  /// Rounds an atomic type like clang: a size and alignment of up to 16 bytes to a power of two.
  mutating func roundAtomic(_ index: Int) {
    let size = Int(nodes[index].size)
    guard nodes[index].fault == nil, nodes[index].form != .void, size <= 16 else { return }
    var rounded = 1
    while rounded < size { rounded *= 2 }
    setLayout(index, size: rounded, alignment: rounded)
  }

  /// Replaces the computed layout with the registered layout of this name.
  private mutating func applyRegisteredLayout(_ index: Int, members: [Int]) {
    guard !layouts.isEmpty,
      let layout = layouts[String(decoding: nameBytes(index), as: UTF8.self)]
    else { return }
    nodes[index].fault = nil
    nodes[index].isRegistered = true
    setLayout(index, size: layout.size, alignment: layout.alignment)
    for member in members { nodes[member].hasPosition = layout.fieldOffsets != nil }
    if let offsets = layout.fieldOffsets {
      guard offsets.count == members.count else {
        let reason = TypeEncodingError.Reason.registeredOffsets(
          expected: members.count, given: offsets.count)
        setFault(index, reason, at: Int(nodes[index].base))
        return
      }
      for (member, offset) in zip(members, offsets) { place(member, at: offset) }
    }
    for member in members where reaches(member, behind: layout.size) {
      let reason = TypeEncodingError.Reason.registeredMemberOutside(size: layout.size)
      setFault(index, reason, at: Int(nodes[member].start))
    }
  }

  private mutating func place(_ member: Int, at offset: Int) {
    // GNU's dialect has the exact bit of a bit-field; an offset in bytes does not.
    let isExact = nodes[member].form == .bitField && nodes[member].hasBody
    if !isExact || nodes[member].position / 8 != offset { nodes[member].position = offset * 8 }
  }

  /// Whether a member ends behind `size` bytes, wherever it begins.
  private func reaches(_ member: Int, behind size: Int) -> Bool {
    let node = nodes[member]
    if node.fault == .tooLarge(limit: EncodingLimits.size) { return true }
    let bits = node.form == .bitField ? node.count : Int(node.size) * 8
    return (node.hasPosition ? node.position : 0) + bits > size * 8
  }
}

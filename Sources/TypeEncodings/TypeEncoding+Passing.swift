// SPDX-License-Identifier: Apache-2.0
/// The properties of a type that decide how it is passed by value.
///
/// They are facts about the layout only; C code assigns the registers.
package struct PassingFacts: Hashable, Sendable {
  /// The class of eight bytes, in the terms of the System V ABI for x86-64. Under AAPCS64 both
  /// eightbytes have the same class: `vector` if there is a component, `integer` up to 16 bytes,
  /// and above that `memory`, for the first only.
  package enum EightbyteClass: UInt8, Sendable {
    case none, integer, vector, x87, x87Upper, complexX87, memory
  }

  package var size: Int
  package var alignment: Int
  package var first: EightbyteClass
  package var second: EightbyteClass
  /// The floating-point type of all leaves, and their number, if there is just one such type and no
  /// gap. Under AAPCS64 exactly these values are passed in that many vector registers.
  package var component: Scalar?
  package var componentCount: Int
}

extension TypeEncoding {
  /// Classifies the type for passing by value.
  ///
  /// - Throws: ``TypeEncodingError`` if it cannot be passed.
  package func passingFacts() throws(TypeEncodingError) -> PassingFacts {
    switch tree.machine {
    case .x86_64Linux: try passingFactsOfSystemV()
    case .aarch64Linux: try passingFactsOfAAPCS64()
    }
  }

  private func passingFactsOfSystemV() throws(TypeEncodingError) -> PassingFacts {
    let layout = try layout
    var classifier = EightbyteClassifier(size: layout.size)
    classifier.visit(tree, index, at: 0)
    let facts = classifier.facts(layout, isBareComplex: node.form == .complex)
    if let array = classifier.emptyArray {
      // The classifier follows gcc on empty arrays. If clang's outcome differs, the call depends on
      // the compiler of the function, which is unknown.
      var other = EightbyteClassifier(size: layout.size, countsEmptyArrays: true)
      other.visit(tree, index, at: 0)
      let others = other.facts(layout, isBareComplex: false)
      if (others.first, others.second) != (facts.first, facts.second) {
        classifier.disagree(over: .emptyArray, array)
      }
    }
    // Compilers agree on a value that is passed in memory as a whole.
    let fault = classifier.fault ?? (classifier.isMemoryForAll ? nil : classifier.disagreement)
    if let fault {
      throw TypeEncodingError(
        reason: fault.reason, offset: Int(tree.nodes[fault.node].start), encoding: tree.whole)
    }
    return facts
  }
}

/// Merges the classes of all leaves, for each eightbyte.
private struct EightbyteClassifier {
  let size: Int
  private(set) var fault: (reason: TypeEncodingError.Reason, node: Int)?
  /// The first part that compilers pass in different ways.
  private(set) var disagreement: (reason: TypeEncodingError.Reason, node: Int)?
  private var classes: [PassingFacts.EightbyteClass] = [.none, .none]
  /// Whether a number is not aligned, and whether it counts for every compiler: gcc checks only the
  /// first element of an array.
  private var isUnaligned = false
  private var isUnalignedForAll = false
  private(set) var isMemoryForAll = false
  /// Whether the current element of an array is not the first one.
  private var isRepeated = false
  private var components: Set<Scalar> = []
  private var hasOther = false

  /// Whether an array of length 0 counts as one element, as in gcc; and the first array for which
  /// that matters.
  private let countsEmptyArrays: Bool
  private(set) var emptyArray: Int?

  init(size: Int, countsEmptyArrays: Bool = false) {
    self.size = size
    self.countsEmptyArrays = countsEmptyArrays
  }

  mutating func visit(_ tree: EncodingTree, _ index: Int, at bit: Int) {
    let node = tree.nodes[index]
    switch node.form {
    case .scalar: add(node.scalar.normalized, at: bit)
    case .complex:
      let part = node.scalar.normalized
      if part == .longDouble {
        // Two of them are larger than two eightbytes; only a bare result has a class.
        components.insert(part)
        merge(.complexX87, from: bit, bytes: 16)
      } else {
        add(part, at: bit)
        add(part, at: bit + part.size * 8)
      }
    case .cString, .atom, .object, .block, .classReference, .selector, .pointer:
      add(.uint64, at: bit)
    case .array:
      // Above two eightbytes only the kinds of the leaves matter, and one element shows them.
      let element = tree.nodes[index + 1]
      guard element.size > 0 else { return }
      var count = size <= 16 ? node.count : min(node.count, 1)
      if count == 0, bit % 64 != 0 {
        emptyArray = emptyArray ?? index
        if countsEmptyArrays { count = 1 }
      }
      asAggregate { classifier in
        for position in 0..<count {
          // Elements behind the second eightbyte have no effect.
          if position * Int(element.size) >= 16 { break }
          let outer = classifier.isRepeated
          defer { classifier.isRepeated = outer }
          classifier.isRepeated = outer || position > 0
          classifier.visit(tree, index + 1, at: bit + position * Int(element.size) * 8)
        }
      }
    case .structure, .union:
      asAggregate { $0.visitMembers(tree, index, at: bit) }
    case .bitField:
      hasOther = true
      guard node.count > 0 else { return }
      let first = bit / 8
      merge(.integer, from: bit, bytes: (bit + node.count - 1) / 8 - first + 1)
    case .vector, .simd: fault = (.vectorByValue, index)
    case .void, .unknown: break
    }
  }

  /// Classifies what `body` visits separately, including the final rules, and merges the outcome:
  /// an inner union of a `long double` and an integer is passed in memory, whatever overlaps it
  /// outside.
  private mutating func asAggregate(_ body: (inout EightbyteClassifier) -> Void) {
    let outer = classes
    classes = [.none, .none]
    body(&self)
    if classes.contains(.memory) || classes[0] == .x87Upper
      || (classes[1] == .x87Upper && classes[0] != .x87)
    {
      classes = [.memory, .memory]
    }
    classes = zip(outer, classes).map { Self.merged($0, $1) }
  }

  private mutating func visitMembers(_ tree: EncodingTree, _ index: Int, at bit: Int) {
    let node = tree.nodes[index]
    var member = index + 1
    if node.isRegistered, size <= 16, node.size > 0,
      member == Int(node.next) || !tree.nodes[member].hasPosition
    {
      fault = (.membersUnknown, index)
      return
    }
    var gaps = MemberGaps(of: node)
    while member < Int(node.next) {
      let inner = tree.nodes[member]
      // The layout of a member in the registered structure is unknown, and so are its registers.
      if inner.fault != nil, inner.form != .bitField, size <= 16 {
        fault = (.membersUnknown, member)
        return
      }
      // A bit-field in a packed structure, with only a known width: it may extend into the
      // next eightbyte.
      if inner.form == .bitField, !inner.hasBody, node.alignment == 1, inner.count > 1,
        (bit + inner.position) / 64 != (bit + inner.position + inner.count + 6) / 64
      {
        fault = (.membersUnknown, member)
        return
      }
      if (bit + inner.position) % Self.alignment(of: inner, in: node) != 0 {
        disagree(over: .misalignedMember, member)
      }
      if inner.form == .array, inner.count == 0, node.form == .union || inner.next == node.next {
        disagree(over: .emptyArray, member)
      }
      gaps.pass(inner)
      visit(tree, member, at: bit + inner.position)
      member = Int(inner.next)
    }
    if gaps.isUnexplained { disagree(over: .hiddenMember, index) }
  }

  /// The alignment that compilers require of a member's offset, in bits. For a bit-field in a union
  /// gcc requires that of the smallest integer with as many bits; for one in a structure there is
  /// no requirement.
  private static func alignment(of member: EncodingNode, in owner: EncodingNode) -> Int {
    guard member.form == .bitField else { return Int(member.alignment) * 8 }
    guard owner.form == .union else { return 1 }
    var bits = 8
    while bits < member.count { bits *= 2 }
    return bits
  }

  mutating func disagree(over what: TypeEncodingError.Disagreement, _ node: Int) {
    if disagreement == nil { disagreement = (.compilersDisagree(over: what), node) }
  }

  private mutating func add(_ scalar: Scalar, at bit: Int) {
    let size = scalar.size
    if bit % (size * 8) != 0 {
      isUnaligned = true
      isUnalignedForAll = isUnalignedForAll || !isRepeated
    }
    if scalar.isFloatingPoint { components.insert(scalar) } else { hasOther = true }
    if scalar == .longDouble {
      merge(.x87, from: bit, bytes: 8)
      merge(.x87Upper, from: bit + 64, bytes: 8)
    } else {
      merge(scalar.isFloatingPoint ? .vector : .integer, from: bit, bytes: size)
    }
  }

  private mutating func merge(_ added: PassingFacts.EightbyteClass, from bit: Int, bytes: Int) {
    let first = bit / 64
    let last = (bit / 8 + bytes - 1) / 8
    guard first < 2 else { return }
    for eightbyte in first...min(last, 1) {
      classes[eightbyte] = Self.merged(classes[eightbyte], added)
    }
  }

  /// The merge rules of the ABI, in its order.
  private static func merged(
    _ one: PassingFacts.EightbyteClass, _ other: PassingFacts.EightbyteClass
  ) -> PassingFacts.EightbyteClass {
    if one == other || other == .none { return one }
    if one == .none { return other }
    if one == .memory || other == .memory { return .memory }
    if one == .integer || other == .integer { return .integer }
    if one == .vector, other == .vector { return .vector }
    return .memory
  }

  mutating func facts(_ layout: TypeLayout, isBareComplex: Bool) -> PassingFacts {
    var (first, second) = (classes[0], classes[1])
    // The final rules of the ABI, after all leaves are merged. Inside a structure, a complex long
    // double makes the structure larger than two eightbytes, so it is passed in memory.
    let isComplexX87 = isBareComplex && first == .complexX87
    let isMemory =
      layout.size > 16 || first == .memory || second == .memory || first == .x87Upper
      || (second == .x87Upper && first != .x87) || first == .complexX87 || second == .x87
    isMemoryForAll = !isComplexX87 && (isMemory || isUnalignedForAll)
    if layout.size == 0 {
      (first, second) = (.none, .none)
    } else if isComplexX87 {
      second = .none
    } else if isMemory || isUnaligned {
      (first, second) = (.memory, .none)
    } else if first == .x87 {
      second = .none
    } else if first == .none, second != .none {
      disagree(over: .hiddenMember, 0)
    }
    let component = component
    return PassingFacts(
      size: layout.size, alignment: layout.alignment, first: first, second: second,
      component: component,
      componentCount: component.map { size / $0.size } ?? 0)
  }

  private var component: Scalar? {
    guard !hasOther, !isUnaligned, components.count == 1, let only = components.first,
      case let part = only.size, (1...4).contains(size / part),
      size % part == 0
    else { return nil }
    return only
  }
}

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
  /// The floating-point type of all numbers of the value, one to four without a gap, and their
  /// number: a homogeneous aggregate (HFA). Under AAPCS64 exactly these values are passed in that
  /// many vector registers.
  package var component: Scalar?
  package var componentCount: Int
}

extension TypeEncoding {
  /// Classifies the type for passing by value.
  ///
  /// A structure is refused if gcc and clang pass it in different ways, or if its registers depend on
  /// what an encoding does not tell.
  ///
  /// - Throws: ``TypeEncodingError`` if it cannot be passed.
  package func passingFacts() throws(TypeEncodingError) -> PassingFacts {
    var classifier = ValueClassifier(self, try layout)
    let facts = classifier.facts()
    guard let refusal = classifier.refusal(facts) else { return facts }
    throw TypeEncodingError(
      reason: refusal.reason, offset: Int(tree.nodes[refusal.node].start), encoding: tree.whole)
  }

  /// Whether a value contains an address of memory or of an object.
  package var holdsAddress: Bool {
    firstPart { [.pointer, .cString, .atom, .object, .block].contains($0) } != nil
  }

  /// The index of the first part of some form in a value, not behind a pointer.
  fileprivate func firstPart(where isWanted: (EncodingNode.Form) -> Bool) -> Int? {
    var part = index
    while part < Int(node.next) {
      let inner = tree.nodes[part]
      if isWanted(inner.form) { return part }
      part = inner.form == .pointer || inner.form == .block ? Int(inner.next) : part + 1
    }
    return nil
  }
}

/// Visits the parts of a value, for both machines: the classes of its eightbytes under System V,
/// whether it is homogeneous, and the parts for which it has to be refused.
private struct ValueClassifier {
  typealias Class = PassingFacts.EightbyteClass
  typealias Refusal = (reason: TypeEncodingError.Reason, node: Int)

  private let type: TypeEncoding
  private let layout: TypeLayout
  private let tree: EncodingTree

  /// The classes of the current aggregate's eightbytes.
  private var classes: [Class] = [.none, .none]
  /// Whether a number is not aligned. System V passes the value in memory then.
  private var isUnaligned = false
  /// Whether the current element of an array is not the first one.
  private var isRepeated = false
  /// The type of all numbers so far, if `isMixed` is false: that there is anything else, or padding.
  private var part: Scalar?
  private var isMixed = false

  /// The first part whose members, or some of whose bytes, are not known.
  private var unknown: Refusal?
  /// The first part that compilers pass differently in registers: of x86-64, of AArch64, and of
  /// AArch64 if the value is homogeneous.
  private var systemVDoubt: Int?
  private var doubt: Int?
  private var homogeneousDoubt: Int?
  /// The first part whose alignment of more than 8 bytes may be that of a structure instead of a
  /// member. AAPCS64 counts only the latter, and an encoding does not distinguish the two.
  private var raised: Int?

  init(_ type: TypeEncoding, _ layout: TypeLayout) {
    self.type = type
    self.layout = layout
    tree = type.tree
  }

  // MARK: Outcome

  mutating func facts() -> PassingFacts {
    let count = visit(type.index, at: 0)
    let isHomogeneous =
      !isMixed && (1...4).contains(count) && count * (part?.size ?? 0) == layout.size
    let (first, second) = tree.machine == .x86_64Linux ? systemV : aapcs64(isHomogeneous)
    return PassingFacts(
      size: layout.size, alignment: layout.alignment, first: first, second: second,
      component: isHomogeneous ? part : nil, componentCount: isHomogeneous ? count : 0)
  }

  private var systemV: (Class, Class) {
    if layout.size == 0 { return (.none, .none) }
    // As a bare result. In a structure it is one of many parts, and the structure is in memory.
    if type.node.form == .complex, part == .longDouble { return (.complexX87, .none) }
    if layout.size > 16 || isUnaligned || classes.contains(.memory) { return (.memory, .none) }
    return classes[0] == .x87 ? (.x87, .none) : (classes[0], classes[1])
  }

  private func aapcs64(_ isHomogeneous: Bool) -> (Class, Class) {
    if layout.size == 0 { return (.none, .none) }
    if layout.size > 16, !isHomogeneous { return (.memory, .none) }
    let kind = isHomogeneous ? Class.vector : .integer
    return (kind, layout.size > 8 ? kind : .none)
  }

  /// The reason to refuse the value. Compilers agree on one that is passed in memory as a whole.
  func refusal(_ facts: PassingFacts) -> Refusal? {
    // Registers of vectors are not in frames.
    if let vector = type.firstPart(where: { $0 == .vector || $0 == .simd }) {
      return (.vectorByValue, vector)
    }
    let refused: Int?
    if tree.machine == .x86_64Linux {
      if layout.size <= 16, let unknown { return unknown }
      // gcc uses a register for an eightbyte of padding in front of the members, and clang none. It
      // uses two for half a `long double` beside an integer, which clang passes in memory.
      let isInFront = facts.first == .none && facts.second != .none
      let isHalf = facts.first == .x87 && classes[1] != .x87Upper
      let whole = isInFront || isHalf ? type.index : nil
      refused = facts.first == .memory || facts.first == .complexX87 ? nil : systemVDoubt ?? whole
    } else {
      // Unknown members may be numbers of the same type as all others.
      if let unknown, !isMixed, (1...4 * (part?.size ?? 16)).contains(layout.size) {
        return unknown
      }
      let isHomogeneous = facts.component != nil
      let raised = layout.alignment > 8 && layout.size > 0 ? raised : nil
      refused =
        isHomogeneous
        ? homogeneousDoubt ?? doubt ?? raised : layout.size <= 16 ? doubt ?? raised : nil
    }
    return refused.map { (.compilersDisagree, $0) }
  }

  // MARK: Parts

  /// Visits a type, and returns how many numbers it consists of. Those that overlap count once.
  private mutating func visit(_ index: Int, at bit: Int) -> Int {
    let node = tree.nodes[index]
    if node.isAtomic { noteAtomic(index) }
    switch node.form {
    case .scalar: return add(node.scalar.normalized, index, at: bit)
    case .complex:
      let half = node.scalar.normalized
      return add(half, index, at: bit) + add(half, index, at: bit + half.size * 8)
    case .cString, .atom, .object, .block, .classReference, .selector, .pointer:
      return add(.uint64, index, at: bit)
    case .array: return visitElements(of: index, at: bit)
    case .structure, .union: return asAggregate { $0.visitMembers(of: index, at: bit) }
    case .bitField:
      if node.hasBody, node.scalar.size == 16 { doubt = doubt ?? index }
      if node.count == 0 {
        // gcc before release 12 uses integer registers for the numbers around it.
        homogeneousDoubt = homogeneousDoubt ?? index
      } else {
        isMixed = true
        merge(.integer, from: bit, bytes: (bit + node.count - 1) / 8 - bit / 8 + 1)
      }
    case .vector, .simd, .void, .unknown: break
    }
    return 0
  }

  /// clang rounds up an atomic structure, and does not see an atomic number in one as a number.
  private mutating func noteAtomic(_ index: Int) {
    switch tree.nodes[index].form {
    case .structure, .union, .complex: doubt = doubt ?? index
    default: if index != type.index { homogeneousDoubt = homogeneousDoubt ?? index }
    }
  }

  private mutating func add(_ scalar: Scalar, _ index: Int, at bit: Int) -> Int {
    if scalar.isFloatingPoint, scalar == part ?? scalar { part = scalar } else { isMixed = true }
    if bit % (scalar.size * 8) != 0 {
      // gcc looks at the first element of an array only.
      if isRepeated { systemVDoubt = systemVDoubt ?? index } else { isUnaligned = true }
    }
    if scalar == .longDouble {
      merge(.x87, from: bit, bytes: 8)
      merge(.x87Upper, from: bit + 64, bytes: 8)
    } else {
      merge(scalar.isFloatingPoint ? .vector : .integer, from: bit, bytes: scalar.size)
    }
    return 1
  }

  private mutating func visitElements(of index: Int, at bit: Int) -> Int {
    let (node, size) = (tree.nodes[index], Int(tree.nodes[index + 1].size))
    if node.count == 0 {
      // Of a homogeneous structure clang ignores it in a member of no size, and gcc beside a
      // complex number.
      homogeneousDoubt = homogeneousDoubt ?? index
      if node.alignment > 8 { raised = raised ?? index }
      return 0
    }
    return asAggregate { classifier in
      let outer = classifier.isRepeated
      defer { classifier.isRepeated = outer }
      let count = classifier.visit(index + 1, at: bit)
      classifier.isRepeated = true
      // Elements behind the second eightbyte have no effect.
      for position in stride(from: size, to: min(16, node.count * size), by: max(size, 1)) {
        _ = classifier.visit(index + 1, at: bit + position * 8)
      }
      return count * node.count
    }
  }

  private mutating func visitMembers(of index: Int, at bit: Int) -> Int {
    let node = tree.nodes[index]
    if node.isRegistered, node.alignment > 8 { raised = raised ?? index }
    var (count, end, hasHole) = (0, 0, false)
    // Padding is shorter than the alignment that requires it. A longer gap is an unnamed bit-field,
    // or a vector, for which clang writes nothing.
    func isHole(before bit: Int) -> Bool { bit - end >= Int(node.alignment) * 8 }
    var member = index + 1
    if node.isRegistered, node.size > 0,
      member == Int(node.next) || !tree.nodes[member].hasPosition
    {
      unknown = unknown ?? (.membersUnknown, index)
    }
    while member < Int(node.next) {
      let inner = tree.nodes[member]
      let place = bit + inner.position
      if inner.fault != nil, inner.form != .bitField {
        unknown = unknown ?? (.membersUnknown, member)
      } else {
        checkMember(member, of: node, at: place)
        hasHole = hasHole || isHole(before: inner.position)
        let bits = inner.form == .bitField ? inner.count : Int(inner.size) * 8
        end = max(end, inner.position + bits)
        let own = visit(member, at: place)
        count = node.form == .union ? max(count, own) : count + own
      }
      member = Int(inner.next)
    }
    if hasHole || isHole(before: Int(node.size) * 8) {
      unknown = unknown ?? (.compilersDisagree, index)
    }
    if node.size > 0, unknown == nil, count * (part?.size ?? 0) != Int(node.size) { isMixed = true }
    return count
  }

  /// Notes a member that compilers for x86-64 may see differently, for its place in its owner.
  private mutating func checkMember(_ member: Int, of owner: EncodingNode, at bit: Int) {
    let node = tree.nodes[member]
    if node.form == .bitField, !node.hasBody, owner.alignment == 1, node.count > 1,
      bit / 64 != (bit + node.count + 6) / 64
    {
      // Only its width is known: in a packed structure it may extend into the next eightbyte.
      unknown = unknown ?? (.membersUnknown, member)
    }
    // clang requires an alignment of inner structures, and gcc one of the bit-fields in a union.
    let alignment =
      node.form != .bitField
      ? Int(node.alignment) : owner.form != .union ? 0 : node.hasBody ? node.scalar.size : 8
    let isMisplaced = alignment > 0 && bit % (alignment * 8) != 0
    // At the end it may be a flexible array member, which has the same spelling. Inside an eightbyte
    // gcc chooses the register as if there were an element.
    let isOdd =
      node.form == .array && node.count == 0
      && (owner.form == .union || node.next == owner.next || bit % 64 != 0)
    if isMisplaced || isOdd { systemVDoubt = systemVDoubt ?? member }
  }

  // MARK: Classes

  /// Classifies what `body` visits separately, including the final rules, and merges the outcome:
  /// an inner union of a `long double` and an integer is passed in memory, whatever overlaps it
  /// outside.
  private mutating func asAggregate(_ body: (inout Self) -> Int) -> Int {
    let outer = classes
    classes = [.none, .none]
    let count = body(&self)
    if classes.contains(.memory) || classes[0] == .x87Upper
      || (classes[1] == .x87Upper && classes[0] != .x87)
    {
      classes = [.memory, .memory]
    }
    classes = zip(outer, classes).map { Self.merged($0, $1) }
    return count
  }

  private mutating func merge(_ added: Class, from bit: Int, bytes: Int) {
    let (first, last) = (bit / 64, (bit / 8 + bytes - 1) / 8)
    guard first < 2 else { return }
    for eightbyte in first...min(last, 1) {
      classes[eightbyte] = Self.merged(classes[eightbyte], added)
    }
  }

  /// The merge rules of the ABI, in its order.
  private static func merged(_ one: Class, _ other: Class) -> Class {
    if one == other || other == .none { return one }
    if one == .none { return other }
    if one == .memory || other == .memory { return .memory }
    if one == .integer || other == .integer { return .integer }
    return .memory
  }
}

// SPDX-License-Identifier: Apache-2.0
extension TypeEncoding {
  /// Classifies the type for AAPCS64, by three properties: whether it consists of one to four
  /// numbers of one floating-point type, whether it is larger than two words, and whether it begins
  /// at an even register.
  ///
  /// gcc and clang agree on nearly all types; those that are refused here were compiled by both.
  func passingFactsOfAAPCS64() throws(TypeEncodingError) -> PassingFacts {
    let layout = try layout
    var homogeneity = Homogeneity(of: index)
    let count = homogeneity.visit(tree, index)
    homogeneity.finish()
    let part = homogeneity.part.flatMap { part in
      let isFull = count * part.size == layout.size
      return isFull && (1...4).contains(count) ? part : nil
    }
    let doubt = homogeneity.fault ?? doubt(homogeneity, layout, isHomogeneous: part != nil)
    if let doubt {
      let place = Int(tree.nodes[doubt.node].start)
      throw TypeEncodingError(reason: doubt.reason, offset: place, encoding: tree.whole)
    }
    let kind: PassingFacts.EightbyteClass =
      part != nil ? .vector : layout.size > 16 ? .memory : layout.size > 0 ? .integer : .none
    return PassingFacts(
      size: layout.size, alignment: layout.alignment, first: kind,
      second: kind != .memory && layout.size > 8 ? kind : .none, component: part,
      componentCount: part == nil ? 0 : count)
  }

  /// The reason why compilers pass the type in different ways, or may do so as far as is known.
  private func doubt(
    _ homogeneity: Homogeneity, _ layout: TypeLayout, isHomogeneous: Bool
  ) -> Homogeneity.Doubt? {
    if let unknown = homogeneity.unknown, homogeneity.mayBeHomogeneous(size: layout.size) {
      return unknown
    }
    if isHomogeneous, let disagreement = homogeneity.disagreement { return disagreement }
    guard isHomogeneous || layout.size <= 16 else { return nil }
    if homogeneity.hasAtomicAggregate, layout.size > 8 || homogeneity.isEmpty {
      return (.compilersDisagree(over: .atomic), index)
    }
    if let field = homogeneity.wideBitField {
      return (.compilersDisagree(over: .wideBitField), field)
    }
    // An empty array is also how a structure with an alignment of its own can be spelled, which a
    // string for x86-64 may rely on. Here C would pass that structure in other registers.
    var empty = EmptyArrayAlignment(beyond: 8)
    if layout.size > 0, !empty.isReached(tree, index), let array = empty.array {
      return (.compilersDisagree(over: .overalignment), array)
    }
    // The natural alignment decides, which is that of the members: an alignment of the structure as
    // a whole does not move it to an even register. An encoding does not distinguish the two. It
    // does not show either whether a structure with attributes is packed, so that its members
    // require no alignment.
    guard layout.size > 0, layout.alignment > 8, node.form == .structure || node.form == .union,
      node.isRegistered || children.allSatisfy({ $0.node.naturalAlignment < layout.alignment })
    else { return nil }
    return (.compilersDisagree(over: .overalignment), index)
  }
}

extension EncodingNode {
  /// The alignment that a member requires of its structure.
  fileprivate var naturalAlignment: Int {
    form == .bitField ? (hasBody ? min(16, scalar.size) : 1) : Int(alignment)
  }
}

/// Finds an empty array that alone gives a type its alignment.
private struct EmptyArrayAlignment {
  private let limit: Int
  /// The first empty array whose alignment exceeds the limit.
  private(set) var array: Int?

  init(beyond limit: Int) { self.limit = limit }

  /// Whether the alignment of anything but empty arrays exceeds the limit.
  mutating func isReached(_ tree: EncodingTree, _ index: Int) -> Bool {
    let node = tree.nodes[index]
    switch node.form {
    case .array where node.count == 0:
      if node.alignment > limit { array = array ?? index }
      return false
    case .array: return isReached(tree, index + 1)
    case .structure where !node.isRegistered, .union where !node.isRegistered:
      var result = false
      var member = index + 1
      while member < Int(node.next) {
        if isReached(tree, member) { result = true }
        member = Int(tree.nodes[member].next)
      }
      return result
    default: return node.naturalAlignment > limit
    }
  }
}

/// Determines whether a type consists of numbers of one floating-point type only.
private struct Homogeneity {
  typealias Doubt = (reason: TypeEncodingError.Reason, node: Int)

  private let root: Int
  /// The type of all numbers so far.
  private(set) var part: Scalar?
  /// Whether a part was found that makes every compiler use integer registers.
  private var isRefuted = false
  private var emptyArray: Int?
  private var hasComplex = false
  private(set) var fault: Doubt?
  private(set) var unknown: Doubt?
  /// A disagreement of compilers that counts if all other parts are of one type.
  private(set) var disagreement: Doubt?
  private(set) var hasAtomicAggregate = false
  private(set) var wideBitField: Int?
  private(set) var isEmpty = true
  /// Whether a structure of size 0 is being visited.
  private var isInEmpty = false

  init(of root: Int) { self.root = root }

  /// Whether unknown members may make the type homogeneous: at most four vectors of 16 bytes.
  func mayBeHomogeneous(size: Int) -> Bool {
    !isRefuted && size > 0 && size <= 4 * (part?.size ?? 16)
  }

  /// Applies the rules that depend on the whole type.
  mutating func finish() {
    if let emptyArray, hasComplex, !isRefuted { disagree(.emptyArray, emptyArray) }
    if emptyArray != nil, !hasComplex { isRefuted = true }
    if isRefuted { part = nil }
  }

  /// Visits a type, and returns how many numbers it consists of. Overlapping numbers count once.
  mutating func visit(_ tree: EncodingTree, _ index: Int) -> Int {
    let node = tree.nodes[index]
    let isAggregate = node.form == .structure || node.form == .union || node.form == .complex
    if node.isAtomic, isAggregate {
      hasAtomicAggregate = true
      disagree(.atomic, index)
    }
    switch node.form {
    case .scalar:
      // clang does not count an atomic number in a structure as a number.
      if node.isAtomic, index != root { disagree(.atomic, index) }
      return add(node.scalar.normalized, 1)
    case .complex:
      hasComplex = true
      return add(node.scalar.normalized, 2)
    case .array: return visitArray(tree, index)
    case .structure, .union: return visitMembers(tree, index)
    case .bitField: visitBitField(node, index)
    case .vector, .simd: fault = fault ?? (.vectorByValue, index)
    case .cString, .atom, .object, .block, .classReference, .selector, .pointer:
      isEmpty = false
      isRefuted = true
    case .void, .unknown: break
    }
    return 0
  }

  private mutating func add(_ scalar: Scalar, _ count: Int) -> Int {
    isEmpty = false
    guard scalar.isFloatingPoint else {
      isRefuted = true
      return 0
    }
    if let part, part != scalar { isRefuted = true }
    part = part ?? scalar
    return count
  }

  private mutating func visitArray(_ tree: EncodingTree, _ index: Int) -> Int {
    let node = tree.nodes[index]
    if node.count == 0 {
      // No compiler treats such a structure as homogeneous. But clang ignores members of size 0,
      // and gcc treats a structure of one complex number as that number, whatever other members of
      // size 0 it has.
      if isInEmpty { disagree(.emptyArray, index) } else { emptyArray = emptyArray ?? index }
      return 0
    }
    return node.count * visit(tree, index + 1)
  }

  private mutating func visitMembers(_ tree: EncodingTree, _ index: Int) -> Int {
    let node = tree.nodes[index]
    let outer = isInEmpty
    defer { isInEmpty = outer }
    isInEmpty = isInEmpty || (node.size == 0 && index != root)
    var count = 0
    var gaps = MemberGaps(of: node)
    var member = index + 1
    while member < Int(node.next) {
      let inner = tree.nodes[member]
      if inner.fault != nil, inner.form != .bitField {
        unknown = unknown ?? (.membersUnknown, member)
      } else {
        if inner.hasPosition { gaps.pass(inner) }
        let own = visit(tree, member)
        count = node.form == .union ? max(count, own) : count + own
      }
      member = Int(inner.next)
    }
    checkPadding(node, index, count, gaps)
    return count
  }

  /// Refutes homogeneity if there is padding between numbers. Unnamed members may also do so.
  private mutating func checkPadding(
    _ node: EncodingNode, _ index: Int, _ count: Int, _ gaps: MemberGaps
  ) {
    if node.size == 0 { return }
    let isFull = count * (part?.size ?? 0) == Int(node.size)
    let hasHole = gaps.hasPassed && gaps.isUnexplained
    if isFull, !hasHole { return }
    if !node.isRegistered || (gaps.hasPassed && !hasHole) {
      isRefuted = true
    } else if unknown == nil {
      unknown = (hasHole ? .compilersDisagree(over: .hiddenMember) : .membersUnknown, index)
    }
  }

  private mutating func visitBitField(_ node: EncodingNode, _ index: Int) {
    if node.hasBody, node.scalar.size == 16 { wideBitField = wideBitField ?? index }
    if node.count > 0 {
      isEmpty = false
      isRefuted = true
    } else {
      disagree(.emptyBitField, index)
    }
  }

  private mutating func disagree(_ what: TypeEncodingError.Disagreement, _ index: Int) {
    if disagreement == nil { disagreement = (.compilersDisagree(over: what), index) }
  }
}

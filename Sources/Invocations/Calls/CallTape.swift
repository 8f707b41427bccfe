import CForwardingShims

/// The calls of one plan, kept one behind the other: a stamp, the words of the arguments, and the values
/// that they refer to.
///
/// To keep a call costs no allocation of its own: blocks of memory double until they are large, and what lies
/// in one never moves. Objects are retained, C strings and Swift values copied; all of it is let go with the
/// tape. Whoever has a tape guards it.
@safe
package final class CallTape {
  // SAFETY: the blocks are allocated here and freed by `deinit`; each record below `count` was written as a
  // whole, by the layout that reads it.

  /// The plan of the calls.
  package let plan: CallPlan
  /// Their selector.
  package let selector: Selector
  // Their owner has a lock: to check again that nobody else is at them takes as long as to write a call.

  /// How many there are.
  @exclusivity(unchecked) package private(set) var count = 0
  /// What the owner wants back with each call.
  @exclusivity(unchecked) var note: AnyObject?

  private let layout: TapeLayout
  private let facts: UnsafePointer<FWDPlanFacts>
  private let word: UInt64
  /// Where the next record lies, and how many more fit behind it.
  @exclusivity(unchecked) private var next: UnsafeMutableRawPointer?
  @exclusivity(unchecked) private var room = 0
  private var blocks: [Block] = []

  @safe
  private struct Block {
    let memory: UnsafeMutableRawPointer
    /// The number of its first record.
    let first: Int
  }

  /// The size from which on blocks double no more.
  private static let largeBlock = 1 << 16

  /// Makes a tape for the calls of a plan of a method, with a selector.
  package init(_ plan: CallPlan, _ selector: Selector) {
    self.plan = plan
    self.selector = selector
    unsafe facts = plan.facts
    word = UInt64(selector.word)
    layout = TapeLayout(plan)
  }

  deinit {
    for index in unsafe 0..<count { unsafe layout.letGo(record(index)) }
    for block in blocks { unsafe block.memory.deallocate() }
  }

  /// Whether a call is one of these.
  @inline(__always)
  package func isFor(_ call: Call) -> Bool {
    unsafe call.facts == facts && call.selectorWord == word
  }

  /// Bytes of memory, without what the values own.
  package var size: Int { unsafe (count + room) * layout.stride }

  /// How many bytes a call takes.
  package var stride: Int { layout.stride }

  /// Keeps a call, and what its arguments refer to. Throws where a value is missing, and keeps nothing then.
  @inline(__always)
  package func append(_ call: Call, stamp: UInt64) throws(InvocationError) {
    if unsafe room == 0 { makeRoom() }
    guard let record = unsafe next else { return }
    unsafe record.storeBytes(of: stamp, as: UInt64.self)
    for index in 0..<layout.wordCount {
      let move = unsafe layout.words[index]
      unsafe record.storeBytes(
        of: call.frame.load(fromByteOffset: Int(move.from), as: UInt64.self),
        toByteOffset: Int(move.to), as: UInt64.self)
    }
    if layout.isKeeping { try unsafe layout.keep(call.frame, record) }
    unsafe next = record + layout.stride
    unsafe room -= 1
    unsafe count += 1
  }

  @inline(never)
  private func makeRoom() {
    let most = max(8, Self.largeBlock / layout.stride)
    let records = blocks.isEmpty ? 8 : min(max(8, unsafe count), most)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: records * layout.stride, alignment: 16)
    unsafe blocks.append(Block(memory: memory, first: count))
    unsafe next = memory
    unsafe room = records
  }

  private func record(_ index: Int) -> UnsafeMutableRawPointer {
    var (low, high) = (0, blocks.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if blocks[middle].first <= index { low = middle } else { high = middle }
    }
    let block = blocks[low]
    return unsafe block.memory + (index - block.first) * layout.stride
  }

  /// The stamp of a call, from 0 on.
  package func stamp(at index: Int) -> UInt64 {
    unsafe record(index).load(as: UInt64.self)
  }

  /// Sets the stamp of a call.
  package func setStamp(_ stamp: UInt64, at index: Int) {
    unsafe record(index).storeBytes(of: stamp, as: UInt64.self)
  }

  /// A call as an invocation of its own, without a target.
  package func invocation(at index: Int) -> Invocation {
    let invocation = Invocation(plan, comparedSelector: selector)
    let record = unsafe record(index)
    for index in 0..<layout.wordCount {
      let move = unsafe layout.words[index]
      unsafe invocation.call.frame.storeBytes(
        of: record.load(fromByteOffset: Int(move.to), as: UInt64.self),
        toByteOffset: Int(move.from), as: UInt64.self)
    }
    for kept in layout.kept {
      let word = unsafe kept.word(in: record)
      let slot = invocation.call.slot(kept.index)
      slot.word = OwnedWord(keeping: word, as: kept.ownership, type: kept.type).word
      invocation.call.setOwns(kept.index, !slot.isNull)
    }
    return invocation
  }
}

/// Where the arguments of a plan lie in a record.
@safe
private final class TapeLayout {
  // SAFETY: made in `init`, freed in `deinit`, only read in between.

  struct Move {
    /// In the frame.
    let from: UInt32
    /// In the record.
    let to: UInt32
  }

  /// An argument that owns what it refers to.
  struct Kept {
    let index: Int
    let from: Int
    let to: Int
    let ownership: ValueOwnership
    let type: Any.Type?
    let way: Way

    enum Way {
      case object, cString, text
      /// A value of a type that is known at run time alone.
      case value(KeptValue)
    }

    /// What the place of such an argument holds in a frame, lent by the record.
    @unsafe
    func word(in record: UnsafeMutableRawPointer) -> UInt64 {
      let place = unsafe record + to
      switch way {
      case .object, .cString: return unsafe place.load(as: UInt64.self)
      // Text that is missing: an optional one is all zeros.
      case .text where unsafe place.load(fromByteOffset: 8, as: UInt64.self) == 0: return 0
      case .text, .value: return UInt64(UInt(bitPattern: place))
      }
    }
  }

  let words: UnsafeMutablePointer<Move>
  let wordCount: Int
  let kept: [Kept]
  let isKeeping: Bool
  let stride: Int

  init(_ plan: CallPlan) {
    var moves: [Move] = []
    var kept: [Kept] = []
    // Behind the stamp.
    var size = 8
    for index in 2..<max(2, plan.argumentCount) {
      let slot = unsafe plan.slots + index
      let kind = unsafe ValueKind(raw: slot.pointee.kind)
      guard kind.isOwnable else {
        for word in unsafe 0..<(slot.pointee.size + 7) / 8 {
          let from = unsafe fwd_slot_word(slot, word)
          guard from != UInt32.max else { continue }
          moves.append(Move(from: from, to: UInt32(size)))
          size += 8
        }
        continue
      }
      let type = kind.isSwiftValue ? plan.swiftType(ofPlace: index + 1)?.type : nil
      let layout = type.map { AnyValue.layout(of: $0) } ?? (size: 8, alignment: 8)
      let alignment = max(8, min(16, layout.alignment))
      size = (size + alignment - 1) / alignment * alignment
      let way: Kept.Way =
        switch type {
        case nil: kind.isObject ? .object : .cString
        case let type? where type == String.self: .text
        case let type?: .value(KeptValue.of(type))
        }
      unsafe kept.append(
        Kept(
          index: index, from: Int(slot.pointee.offset), to: size, ownership: kind.ownership,
          type: type, way: way))
      size += (max(8, layout.size) + 7) / 8 * 8
    }
    // Records lie one behind the other, and values in them may be aligned to 16.
    let isWide = kept.contains {
      $0.to % 16 == 0 && ($0.type.map(AnyValue.layout)?.alignment ?? 8) > 8
    }
    stride = isWide ? (size + 15) / 16 * 16 : size
    wordCount = moves.count
    unsafe words = .allocate(capacity: max(1, moves.count))
    unsafe words.initialize(from: moves, count: moves.count)
    self.kept = kept
    isKeeping = !kept.isEmpty
  }

  deinit { unsafe words.deallocate() }

  /// Copies what the arguments of a frame refer to into a record.
  @unsafe
  func keep(
    _ frame: UnsafeMutableRawPointer, _ record: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    for (number, kept) in kept.enumerated() {
      let word = unsafe frame.load(fromByteOffset: kept.from, as: UInt64.self)
      let place = unsafe record + kept.to
      switch kept.way {
      case .object, .cString:
        let own = OwnedWord(keeping: word, as: kept.ownership)
        unsafe place.storeBytes(of: own.word, as: UInt64.self)
      case .text:
        let text = unsafe UnsafePointer<String?>(bitPattern: UInt(word))?.pointee
        unsafe place.initializeMemory(as: String?.self, to: text)
      case .value(let value):
        guard let source = unsafe UnsafeMutableRawPointer(bitPattern: UInt(word)) else {
          for kept in self.kept.prefix(number) { unsafe letGo(kept, record) }
          throw .missingValue(index: kept.index)
        }
        unsafe value.copy(source, place)
      }
    }
  }

  /// Lets go of what a record owns.
  @unsafe
  func letGo(_ record: UnsafeMutableRawPointer) {
    for kept in kept { unsafe letGo(kept, record) }
  }

  @unsafe
  private func letGo(_ kept: Kept, _ record: UnsafeMutableRawPointer) {
    let place = unsafe record + kept.to
    switch kept.way {
    case .object, .cString:
      OwnedWord(unsafe place.load(as: UInt64.self), kept.ownership).release()
    case .text: unsafe place.assumingMemoryBound(to: String?.self).deinitialize(count: 1)
    case .value(let value): unsafe value.end(place)
    }
  }
}

/// How the values of a type are copied and ended, found once: to ask a type at run time takes longer.
@safe
private struct KeptValue {
  // SAFETY (all): the addresses are of values of the type, or of room for one.
  let copy: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
  let end: (UnsafeMutableRawPointer) -> Void

  static func of(_ type: Any.Type) -> KeptValue {
    func known<Value>(_ type: Value.Type) -> KeptValue {
      if let variable = type as? any LentVariable.Type { return lent(variable) }
      return unsafe KeptValue(
        copy: { source, place in
          unsafe place.initializeMemory(
            as: Value.self, to: source.assumingMemoryBound(to: Value.self).pointee)
        },
        end: { unsafe $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1) })
    }
    return known(type)
  }

  /// A variable is kept as what it held.
  private static func lent<Variable: LentVariable>(_ type: Variable.Type) -> KeptValue {
    unsafe KeptValue(
      copy: { source, place in
        unsafe place.initializeMemory(
          as: Variable.self, to: source.assumingMemoryBound(to: Variable.self).pointee.kept)
      },
      end: { unsafe $0.assumingMemoryBound(to: Variable.self).deinitialize(count: 1) })
  }
}

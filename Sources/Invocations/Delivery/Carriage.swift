import CForwardingShims

/// What of the calls of a plan travels to another thread, and where it lies on the way: found once for the
/// plan.
///
/// Its size is 0 for calls whose words need a closer look: those with a result, with addresses that nobody
/// owns, or with more than registers.
@safe
struct Carriage: @unchecked Sendable {
  // SAFETY: nothing of it changes.

  /// One argument that owns what its word refers to.
  struct Kept {
    /// Where its word lies.
    let offset: Int
    let ownership: ValueOwnership
    /// The type of a value that travels by its address.
    let type: Any.Type?
    /// Where such a value lies, behind the words.
    let room: Int
  }

  /// How many bytes of registers are taken along, from the first on.
  let wordBytes: Int
  /// The size of it all, a multiple of 16.
  let size: Int
  let kept: [Kept]
  /// Whether there are any. To look at the list would count its references.
  let isKeeping: Bool

  static let none = Carriage()

  /// Where the words of the receiver and the selector lie in what is carried: in the first two registers.
  static let receiver = 0
  static let selector = 8

  private init() { (wordBytes, size, kept, isKeeping) = (0, 0, [], false) }

  init?(
    _ facts: UnsafePointer<FWDPlanFacts>, _ swiftTypes: [SwiftType?], lendsVariables: Bool
  ) {
    guard unsafe facts.pointee.returns_value == 0, !lendsVariables else { return nil }
    // Whoever carries a call looks for its selector there. Without a direct engine it is elsewhere.
    guard unsafe facts.pointee.receiver_offset == Self.receiver,
      unsafe facts.pointee.selector_offset == Self.selector
    else { return nil }
    let integers = MemoryLayout.size(ofValue: FWDFrame().integers)
    var end = integers
    var kept: [Kept] = []
    var values: [(index: Int, layout: (size: Int, alignment: Int))] = []
    for index in 2..<max(2, unsafe Int(facts.pointee.argument_count)) {
      let slot = unsafe facts.pointee.slots[index]
      let kind = ValueKind(raw: slot.kind)
      let isPlain = !kind.isAggregate && !kind.isUnownedPointer && slot.head == slot.size
      guard slot.route == .registers, isPlain else { return nil }
      end = max(end, Int(slot.offset) + max(8, Int(slot.size)))
      guard kind.isOwnable else { continue }
      let type = kind.isSwiftValue ? swiftTypes[index + 1]?.type : nil
      if let type {
        let layout = AnyValue.layout(of: type)
        guard layout.alignment <= 16 else { return nil }
        values.append((kept.count, layout))
      }
      kept.append(Kept(offset: Int(slot.offset), ownership: kind.ownership, type: type, room: 0))
    }
    // All registers of a kind, as two sizes are copied in fewer steps than any.
    wordBytes = end > integers ? Int(FWD_FRAME_RESULT) : integers
    var size = wordBytes
    for (index, layout) in values {
      let place = kept[index]
      kept[index] = Kept(
        offset: place.offset, ownership: place.ownership, type: place.type, room: size)
      size += (layout.size + 15) / 16 * 16
    }
    guard end <= wordBytes else { return nil }
    self.kept = kept
    isKeeping = !kept.isEmpty
    self.size = size
  }
}

// The memory of what is carried: words, and room for the values behind some of them.
extension Carriage {
  /// Copies what the words refer to into the room behind them, or retains it.
  @unsafe
  func keep(in memory: UnsafeMutableRawPointer) {
    for kept in kept {
      let word = unsafe memory.load(fromByteOffset: kept.offset, as: UInt64.self)
      guard word != 0 else { continue }
      let own: UInt64
      if let type = kept.type {
        let room = unsafe memory + kept.room
        // SAFETY: the place holds the address of a value of the type, and there is room for one.
        unsafe AnyValue.initialize(type, at: room, to: UInt(word))
        own = UInt64(UInt(bitPattern: room))
      } else {
        own = OwnedWord(keeping: word, as: kept.ownership).word
      }
      unsafe memory.storeBytes(of: own, toByteOffset: kept.offset, as: UInt64.self)
    }
  }

  /// Lets go of all that.
  @unsafe
  func letGo(in memory: UnsafeMutableRawPointer) {
    for kept in kept {
      let word = unsafe memory.load(fromByteOffset: kept.offset, as: UInt64.self)
      guard word != 0 else { continue }
      if let type = kept.type {
        unsafe AnyValue.deinitialize(type, at: memory + kept.room)
      } else {
        OwnedWord(word, kept.ownership).release()
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The layout in which calls of a plan are copied to another thread, determined once per plan.
///
/// The size is 0 for calls that cannot simply be copied: those with a result, with unowned
/// addresses, or with values outside of registers.
@safe
struct Carriage: @unchecked Sendable {
  // SAFETY: immutable.

  /// An argument that owns its value.
  struct Kept {
    /// The offset of its word.
    let offset: Int
    let ownership: ValueOwnership
    /// The type of a Swift value, whose address is in the word.
    let type: Any.Type?
    /// The offset of a Swift value, behind the words.
    let room: Int
  }

  /// The number of bytes of registers that are copied, from the first register on.
  let wordBytes: Int
  /// The size of the copy in bytes, a multiple of 16.
  let size: Int
  let kept: [Kept]
  /// Whether `kept` is not empty. Accessing the array would retain and release it.
  let isKeeping: Bool

  static let none = Carriage()

  /// The offsets of the receiver and the selector in the copy: the first two registers.
  static let receiver = 0
  static let selector = 8

  private init() { (wordBytes, size, kept, isKeeping) = (0, 0, [], false) }

  init?(
    _ facts: UnsafePointer<FWDPlanFacts>, _ swiftTypes: [SwiftType?], lendsVariables: Bool
  ) {
    guard unsafe facts.pointee.returns_value == 0, !lendsVariables else { return nil }
    // A carried call is read at these offsets. Without a direct engine, plans have others.
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
    // All registers of a kind, because copies of only two sizes take fewer steps.
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

// The memory of a carried call: words, and room for the Swift values.
extension Carriage {
  /// Copies or retains the values that the words refer to, and updates the words.
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

  /// Releases the values that `keep` copied or retained.
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

// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The layout of a tape's records: the stamp, then the words and values of the arguments in their
/// order.
@safe
final class TapeLayout {
  // SAFETY: allocated in `init`, freed in `deinit`, only read in between. Addresses and uncounted
  // references, because iterating over an array would retain and release each of them at each call.

  /// A word that is copied unchanged.
  struct Move {
    /// The offset in the frame.
    let from: UInt32
    /// The offset in the record.
    let to: UInt32
  }

  /// An argument whose value the record owns.
  @safe
  struct Kept {
    let index: Int
    let from: Int
    let to: Int
    let way: Way
    /// One of `keepers`, for an argument that is a Swift value.
    let keeper: Unmanaged<ValueKeeper>?
  }

  enum Way { case object, cString, text, value }

  let words: UnsafeMutablePointer<Move>
  let wordCount: Int
  let kept: UnsafeMutablePointer<Kept>
  let keptCount: Int
  let isKeeping: Bool
  let stride: Int
  private let keepers: [ValueKeeper]

  init(_ plan: CallPlan) {
    var moves: [Move] = []
    var kept: [Kept] = []
    var keepers: [ValueKeeper] = []
    var size = MemoryLayout<UInt64>.size
    var alignment = 8
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
      var (way, keeper) = (kind.isObject ? Way.object : .cString, nil as ValueKeeper?)
      var layout = (size: 8, alignment: 8)
      if kind.isSwiftValue, let type = plan.swiftType(ofPlace: index + 1)?.type {
        layout = AnyValue.layout(of: type)
        way = type == String.self ? .text : .value
        keeper = way == .value ? ValueKeeper.of(type) : nil
      }
      if let keeper { keepers.append(keeper) }
      alignment = max(alignment, layout.alignment)
      size = (size + layout.alignment - 1) / layout.alignment * layout.alignment
      unsafe kept.append(
        Kept(
          index: index, from: Int(slot.pointee.offset), to: size, way: way,
          keeper: keeper.map { unsafe .passUnretained($0) }))
      size += (layout.size + 7) / 8 * 8
    }
    stride = (size + alignment - 1) / alignment * alignment
    self.alignment = alignment
    (wordCount, keptCount, isKeeping) = (moves.count, kept.count, !kept.isEmpty)
    unsafe words = .allocate(capacity: max(1, moves.count))
    unsafe words.initialize(from: moves, count: moves.count)
    unsafe self.kept = .allocate(capacity: max(1, kept.count))
    unsafe self.kept.initialize(from: kept, count: kept.count)
    self.keepers = keepers
  }

  /// The alignment of records.
  let alignment: Int

  deinit {
    unsafe words.deallocate()
    unsafe kept.deallocate()
  }

  // SAFETY (all): the frame is a frame of the plan, and the record has this layout.

  /// Copies or retains the owned arguments of a frame into a record.
  ///
  /// - Throws: ``InvocationError`` if a value is missing, or a variable cannot be read. Then the
  ///   record owns nothing.
  @unsafe
  func keep(
    _ frame: UnsafeMutableRawPointer, _ record: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    for number in 0..<keptCount {
      let kept = unsafe kept + number
      let word = unsafe frame.load(fromByteOffset: kept.pointee.from, as: UInt64.self)
      let place = unsafe record + kept.pointee.to
      switch unsafe kept.pointee.way {
      case .object:
        unsafe place.storeBytes(of: word, as: UInt64.self)
        if let object = unsafe UnsafeRawPointer(bitPattern: UInt(word)) {
          _ = unsafe Unmanaged<AnyObject>.fromOpaque(object).retain()
        }
      case .cString:
        unsafe place.storeBytes(
          of: OwnedWord(keeping: word, as: .cString).word, as: UInt64.self)
      case .text:
        let text = unsafe UnsafePointer<String?>(bitPattern: UInt(word))
        unsafe place.initializeMemory(as: String?.self, to: text?.pointee ?? nil)
      case .value:
        guard let source = unsafe UnsafeMutableRawPointer(bitPattern: UInt(word)) else {
          for before in 0..<number { unsafe letGo(before, record) }
          throw unsafe .missingValue(index: kept.pointee.index)
        }
        let error = unsafe kept.pointee.keeper?._withUnsafeGuaranteedRef { keeper in
          do throws(InvocationError) {
            try unsafe keeper.copy(source, place)
            return nil as InvocationError?
          } catch {
            return error
          }
        }
        if let error {
          for before in 0..<number { unsafe letGo(before, record) }
          throw error
        }
      }
    }
  }

  /// Copies or retains an owned argument of a record, and returns its word in a frame.
  @unsafe
  func copy(_ number: Int, from record: UnsafeMutableRawPointer) -> UInt64 {
    let kept = unsafe kept + number
    let place = unsafe record + kept.pointee.to
    switch unsafe kept.pointee.way {
    case .object: return OwnedWord(keeping: unsafe place.load(as: UInt64.self), as: .object).word
    case .cString:
      return OwnedWord(keeping: unsafe place.load(as: UInt64.self), as: .cString).word
    case .text:
      let text = unsafe place.assumingMemoryBound(to: String?.self).pointee
      // Missing text has no address.
      return text.map { unsafe UInt64(UInt(bitPattern: AnyValue.box($0))) } ?? 0
    case .value:
      return unsafe kept.pointee.keeper?._withUnsafeGuaranteedRef {
        unsafe UInt64(UInt(bitPattern: $0.box(place)))
      } ?? 0
    }
  }

  /// Releases everything that a record owns.
  @unsafe
  func letGo(_ record: UnsafeMutableRawPointer) {
    for number in 0..<keptCount { unsafe letGo(number, record) }
  }

  @unsafe
  private func letGo(_ number: Int, _ record: UnsafeMutableRawPointer) {
    let kept = unsafe kept + number
    let place = unsafe record + kept.pointee.to
    switch unsafe kept.pointee.way {
    case .object: OwnedWord(unsafe place.load(as: UInt64.self), .object).release()
    case .cString: OwnedWord(unsafe place.load(as: UInt64.self), .cString).release()
    case .text: unsafe place.assumingMemoryBound(to: String?.self).deinitialize(count: 1)
    case .value:
      unsafe kept.pointee.keeper?._withUnsafeGuaranteedRef { unsafe $0.end(place) }
    }
  }
}

/// Copies and deinitializes the values of a type. Made once per type, because dynamic type lookup
/// takes longer.
class ValueKeeper {
  // SAFETY (all): each address is that of a value of the type, or of room for one.

  /// Copies a value into uninitialized memory.
  ///
  /// - Throws: ``InvocationError`` if the value cannot be read. Then nothing is written.
  @unsafe
  func copy(
    _ source: UnsafeMutableRawPointer, _ place: UnsafeMutableRawPointer
  ) throws(InvocationError) {}
  @unsafe func end(_ place: UnsafeMutableRawPointer) {}
  @unsafe func box(_ place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer { unsafe place }

  static func of(_ type: Any.Type) -> ValueKeeper {
    func keeper<Value>(_ type: Value.Type) -> ValueKeeper {
      if let variable = type as? any LentVariable.Type { return lent(variable) }
      return TypedKeeper<Value>()
    }
    return keeper(type)
  }

  private static func lent<Variable: LentVariable>(_ type: Variable.Type) -> ValueKeeper {
    VariableKeeper<Variable>()
  }
}

private class TypedKeeper<Value>: ValueKeeper {
  @unsafe
  override func copy(
    _ source: UnsafeMutableRawPointer, _ place: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    unsafe place.initializeMemory(
      as: Value.self, to: source.assumingMemoryBound(to: Value.self).pointee)
  }

  @unsafe
  final override func end(_ place: UnsafeMutableRawPointer) {
    unsafe place.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
  }

  @unsafe
  final override func box(_ place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    unsafe AnyValue.box(place.assumingMemoryBound(to: Value.self).pointee)
  }
}

/// Copies variables as snapshots of their values.
private final class VariableKeeper<Variable: LentVariable>: TypedKeeper<Variable> {
  @unsafe
  override func copy(
    _ source: UnsafeMutableRawPointer, _ place: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    let kept = try unsafe source.assumingMemoryBound(to: Variable.self).pointee.kept
    unsafe place.initializeMemory(as: Variable.self, to: kept)
  }
}

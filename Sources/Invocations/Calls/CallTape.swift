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
  /// How many of the first are marked for certain.
  @exclusivity(unchecked) private var marked = 0
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
    for (number, block) in blocks.enumerated() {
      let end = unsafe number + 1 < blocks.count ? blocks[number + 1].first : count
      if layout.isKeeping {
        for index in 0..<(end - block.first) {
          unsafe layout.letGo(block.memory + index * layout.stride)
        }
      }
      unsafe block.memory.deallocate()
    }
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
      byteCount: records * layout.stride, alignment: layout.alignment)
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

  /// Sets the reader's bit of the stamp of a call.
  package func mark(at index: Int) {
    let record = unsafe record(index)
    unsafe record.storeBytes(of: record.load(as: UInt64.self) | 1, as: UInt64.self)
  }

  /// Sets the reader's bit of all stamps.
  package func markAll() {
    for index in unsafe marked..<count { mark(at: index) }
    unsafe marked = count
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
    for number in 0..<layout.keptCount {
      let index = unsafe layout.kept[number].index
      let slot = invocation.call.slot(index)
      unsafe slot.word = layout.copy(number, from: record)
      invocation.call.setOwns(index, !slot.isNull)
    }
    return invocation
  }
}

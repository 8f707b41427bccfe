// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

extension CallTapes {
  /// A log of the calls of one plan. Each record is the call's image behind a stamp.
  ///
  /// Appending a call allocates nothing of its own: records are in blocks whose sizes double up to a
  /// limit, and records never move. The tape releases the values of its images when it dies. A tape
  /// is not thread-safe, so its owner locks it.
  @safe
  package final class Tape {
    // SAFETY: the blocks are allocated here and freed by `deinit`. Each record below `count` was
    // written as a whole, in the layout of the plan's images.

    /// The plan of the calls.
    package let plan: CallPlan
    /// The selector of the calls.
    package let selector: Selector
    // Unchecked, because the owner has a lock: a dynamic exclusivity check takes as long as writing a
    // call.

    /// The number of calls.
    @exclusivity(unchecked) package private(set) var count = 0
    /// The number of calls at the beginning that are certainly marked.
    @exclusivity(unchecked) private var marked = 0
    /// An object that the owner gets back with each call.
    @exclusivity(unchecked) var note: AnyObject?

    /// The layout of the images, which belongs to the plan.
    private let layout: CallImage
    private let facts: UnsafePointer<FWDPlanFacts>
    private let word: UInt64
    /// The address of the next record, and the number of records that fit from there on.
    @exclusivity(unchecked) private var next: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var room = 0
    private var blocks: [Block] = []

    @safe
    private struct Block {
      let memory: UnsafeMutableRawPointer
      /// The index of its first record.
      let first: Int
    }

    /// The size up to which blocks double.
    private static let largeBlock = 1 << 16

    /// Makes a tape for the calls of a method's plan with a selector.
    package init(_ plan: CallPlan, _ selector: Selector) {
      self.plan = plan
      self.selector = selector
      unsafe facts = plan.facts
      word = UInt64(selector.word)
      layout = plan.image
      head = layout.alignment
      stride = (head + layout.size + head - 1) / head * head
    }

    deinit {
      for (number, block) in blocks.enumerated() {
        let end = unsafe number + 1 < blocks.count ? blocks[number + 1].first : count
        for index in 0..<(end - block.first) {
          unsafe layout.drop(block.memory + index * stride + head)
        }
        unsafe block.memory.deallocate()
      }
    }

    /// Whether a call has the plan and the selector of this tape.
    @inline(__always)
    package func isFor(_ call: Call) -> Bool {
      unsafe call.facts == facts && call.selectorWord == word
    }

    /// The size of the memory in bytes, without the memory that the values own.
    package var size: Int { unsafe (count + room) * stride }

    /// The size of a record in bytes.
    package let stride: Int
    /// The size of the stamp in bytes, with padding.
    private let head: Int

    /// Appends a call, and retains or copies the values of its arguments.
    ///
    /// - Throws: ``InvocationError`` if a value is missing. Then the tape is unchanged.
    @inline(__always)
    package func append(_ call: Call, stamp: UInt64) throws(InvocationError) {
      if unsafe room == 0 { makeRoom() }
      guard let record = unsafe next else { return }
      unsafe record.storeBytes(of: stamp, as: UInt64.self)
      try unsafe layout.capture(call, into: record + head)
      unsafe next = record + stride
      unsafe room -= 1
      unsafe count += 1
    }

    @inline(never)
    private func makeRoom() {
      let most = max(8, Self.largeBlock / stride)
      let records = blocks.isEmpty ? 8 : min(max(8, unsafe count), most)
      let memory = UnsafeMutableRawPointer.allocate(
        byteCount: records * stride, alignment: layout.alignment)
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
      return unsafe block.memory + (index - block.first) * stride
    }

    /// The stamp of a call; the first call has index 0.
    package func stamp(at index: Int) -> UInt64 {
      unsafe record(index).load(as: UInt64.self)
    }

    /// Sets the reader's bit in the stamp of a call.
    package func mark(at index: Int) {
      let record = unsafe record(index)
      unsafe record.storeBytes(of: record.load(as: UInt64.self) | 1, as: UInt64.self)
    }

    /// Sets the reader's bit in all stamps.
    package func markAll() {
      for index in unsafe marked..<count { mark(at: index) }
      unsafe marked = count
    }

    /// A copy of a call as an invocation without a target.
    package func invocation(at index: Int) -> Invocation {
      unsafe Invocation(plan, selector, from: record(index) + head)
    }
  }
}

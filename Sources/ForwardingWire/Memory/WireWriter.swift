import Invocations

// This folder handles memory, and nothing else of this module: bytes that are written, and bytes that are read.

/// Bytes that are being written.
@safe
@frozen
package struct WireWriter: ~Copyable {
  // SAFETY: of `capacity` bytes, the first `count` of which are written; freed at the end.
  @usableFromInline var base: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  /// How many bytes are there.
  @usableFromInline package internal(set) var count = 0
  @usableFromInline let limit: Int

  /// Begins with no bytes; refuses more than `limit`.
  package init(limit: Int) {
    capacity = 256
    unsafe base = .allocate(byteCount: capacity, alignment: 8)
    self.limit = limit
  }

  deinit { unsafe base.deallocate() }

  /// Makes room for more bytes, or refuses them.
  @inlinable
  @inline(__always)
  mutating func reserve(_ more: Int) throws(WireError) {
    let needed = count + more
    if needed <= capacity, needed <= limit { return }
    try grow(to: needed)
  }

  @usableFromInline
  mutating func grow(to needed: Int) throws(WireError) {
    guard needed <= limit else { throw WireError(.limit(limit, given: needed), at: count) }
    let larger = max(needed, min(limit, 2 * capacity))
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    unsafe memory.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    (unsafe base, capacity) = (unsafe memory, larger)
  }

  // Numbers are written and read with their lowest byte first. One function for each width: a generic one is not
  // specialized for other modules.

  /// Appends a byte.
  @inlinable
  @inline(__always)
  package mutating func append(byte: UInt8) throws(WireError) {
    try reserve(1)
    // SAFETY (all): there is room for it.
    unsafe (base + count).storeBytes(of: byte, as: UInt8.self)
    count += 1
  }

  /// Appends two bytes.
  @inlinable
  @inline(__always)
  package mutating func append(_ number: UInt16) throws(WireError) {
    try reserve(2)
    unsafe (base + count).storeBytes(of: number.littleEndian, as: UInt16.self)
    count += 2
  }

  /// Appends four bytes.
  @inlinable
  @inline(__always)
  package mutating func append(_ number: UInt32) throws(WireError) {
    try reserve(4)
    unsafe (base + count).storeBytes(of: number.littleEndian, as: UInt32.self)
    count += 4
  }

  /// Appends eight bytes.
  @inlinable
  @inline(__always)
  package mutating func append(_ number: UInt64) throws(WireError) {
    try reserve(8)
    unsafe (base + count).storeBytes(of: number.littleEndian, as: UInt64.self)
    count += 8
  }

  /// Writes a number over bytes that are there.
  @inlinable
  @inline(__always)
  package mutating func set(_ number: UInt32, at offset: Int) {
    precondition(offset >= 0 && offset + 4 <= count)
    unsafe (base + offset).storeBytes(of: number.littleEndian, as: UInt32.self)
  }

  /// The same for eight bytes.
  @inlinable
  @inline(__always)
  package mutating func set(_ number: UInt64, at offset: Int) {
    precondition(offset >= 0 && offset + 8 <= count)
    unsafe (base + offset).storeBytes(of: number.littleEndian, as: UInt64.self)
  }

  /// Takes back what was written behind an offset.
  package mutating func cut(to offset: Int) {
    precondition(offset >= 0 && offset <= count)
    count = offset
  }

  /// Appends bytes, as they are.
  package mutating func append(_ bytes: [UInt8]) throws(WireError) {
    try reserve(bytes.count)
    unsafe bytes.withUnsafeBytes {
      if let from = $0.baseAddress {
        unsafe (base + count).copyMemory(from: from, byteCount: $0.count)
      }
    }
    count += bytes.count
  }

  /// Appends the bytes of a text, and how many they are in front of them.
  mutating func append(counted text: String, limit: Int) throws(WireError) {
    var text = text
    let size = text.utf8.count
    guard size <= limit else { throw WireError(.limit(limit, given: size), at: count) }
    try append(UInt32(size))
    try reserve(size)
    text.withUTF8 {
      if let from = $0.baseAddress {
        unsafe (base + count).copyMemory(from: from, byteCount: $0.count)
      }
    }
    count += size
  }

  /// Appends the bytes of a place that are written as they lie.
  @inline(__always)
  mutating func append(_ place: Int, of call: borrowing Invocation, whole size: Int)
    throws(WireError)
  {
    try reserve(size)
    // SAFETY: the size is that of the place.
    unsafe call.copyBytes(ofPlace: place, to: base + count)
    count += size
  }

  /// Appends the `Bool` of a place, which C may have set to anything.
  mutating func append(_ place: Int, flagOf call: borrowing Invocation) throws(WireError) {
    try append(place, of: call, whole: 1)
    let byte = unsafe base.load(fromByteOffset: count - 1, as: UInt8.self)
    if byte > 1 { throw WireError(.notBool(byte), at: count - 1) }
  }

  /// Appends the numbers of a place.
  mutating func append(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout
  ) throws(WireError) {
    try reserve(layout.packed)
    appendRuns(place, of: call, layout)
    try checkFlags(layout, at: count - layout.packed)
  }

  private mutating func appendRuns(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout
  ) {
    unsafe withUnsafeTemporaryAllocation(byteCount: layout.size, alignment: 16) { memory in
      let from = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe call.copyBytes(ofPlace: place, to: from)
      for run in layout.runs {
        unsafe (base + count).copyMemory(from: from + run.offset, byteCount: run.count)
        count += run.count
      }
    }
  }

  private func checkFlags(_ layout: NumberLayout, at start: Int) throws(WireError) {
    for flags in layout.flags {
      for offset in (start + flags.offset)..<(start + flags.offset + flags.count) {
        let byte = unsafe base.load(fromByteOffset: offset, as: UInt8.self)
        if byte > 1 { throw WireError(.notBool(byte), at: offset) }
      }
    }
  }

  /// A copy of what was written.
  package var bytes: [UInt8] {
    unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
  }

  /// The same behind so many zeros, in whose place others write.
  package func bytes(behind room: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: room + count) { memory, size in
      let to = unsafe UnsafeMutableRawBufferPointer(memory).baseAddress.unsafelyUnwrapped
      // SAFETY: there is room for both.
      unsafe to.initializeMemory(as: UInt8.self, repeating: 0, count: room)
      unsafe (to + room).copyMemory(from: base, byteCount: count)
      size = room + count
    }
  }

  /// Lends what was written.
  @inlinable @unsafe
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body(UnsafeRawBufferPointer(start: base, count: count))
  }
}

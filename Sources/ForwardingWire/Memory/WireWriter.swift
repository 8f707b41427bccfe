// SPDX-License-Identifier: Apache-2.0
import Invocations

// This folder contains all code of this module that handles memory: writing and reading bytes.

/// Bytes that are being written, up to a limit.
@safe
@frozen
package struct WireWriter: ~Copyable {
  // SAFETY: points to `capacity` bytes; the first `count` are initialized. deinit frees them, unless
  // they are lent.
  @usableFromInline var base: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  /// The number of bytes written so far.
  @usableFromInline package internal(set) var count = 0
  @usableFromInline let limit: Int
  /// Whether the memory belongs to the caller, and is not freed.
  @usableFromInline var isLent = false

  /// Makes an empty writer, which refuses more than `limit` bytes.
  package init(limit: Int) {
    capacity = 256
    unsafe base = .allocate(byteCount: capacity, alignment: 8)
    self.limit = limit
  }

  /// Makes an empty writer in memory that the caller frees.
  @unsafe
  private init(limit: Int, in memory: UnsafeMutableRawBufferPointer) {
    unsafe (base, capacity) = (memory.baseAddress.unsafelyUnwrapped, memory.count)
    self.limit = limit
    isLent = true
  }

  deinit { if !isLent { unsafe base.deallocate() } }

  /// The limit of zeros in front of a message.
  private static var mostRoom: Int { 32 }

  /// Returns the bytes that `body` writes, behind `room` zeros, which the caller overwrites. Short
  /// messages are written on the stack, so that the result is the only allocation.
  package static func bytes(
    behind room: Int = 0, limit: Int, _ body: (inout WireWriter) throws(WireError) -> Void
  ) throws(WireError) -> [UInt8] {
    precondition(room <= mostRoom, "the zeros in front of a message have no room")
    return try unsafe withUnsafeTemporaryAllocation(
      byteCount: mostRoom + 512, alignment: 8
    ) { (memory) throws(WireError) in
      // SAFETY: the writer does not outlive the memory. The zeros are in front of its bytes.
      unsafe memory.baseAddress.unsafelyUnwrapped.initializeMemory(
        as: UInt8.self, repeating: 0, count: mostRoom)
      var writer = unsafe WireWriter(
        limit: limit, in: UnsafeMutableRawBufferPointer(rebasing: memory.dropFirst(mostRoom)))
      try body(&writer)
      return writer.bytes(behind: room)
    }
  }

  /// Reserves room for more bytes.
  ///
  /// - Throws: ``WireError`` beyond the limit.
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
    if !isLent { unsafe base.deallocate() }
    (unsafe base, capacity, isLent) = (unsafe memory, larger, false)
  }

  // Integers are little-endian. There is one function for each width, as a generic function is not
  // specialized for other modules.

  /// Appends a byte.
  @inlinable
  @inline(__always)
  package mutating func append(byte: UInt8) throws(WireError) {
    try reserve(1)
    // SAFETY (all): `reserve` made room for the bytes.
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

  /// Overwrites four bytes, which must exist.
  @inlinable
  @inline(__always)
  package mutating func set(_ number: UInt32, at offset: Int) {
    precondition(offset >= 0 && offset + 4 <= count)
    unsafe (base + offset).storeBytes(of: number.littleEndian, as: UInt32.self)
  }

  /// Overwrites eight bytes, which must exist.
  @inlinable
  @inline(__always)
  package mutating func set(_ number: UInt64, at offset: Int) {
    precondition(offset >= 0 && offset + 8 <= count)
    unsafe (base + offset).storeBytes(of: number.littleEndian, as: UInt64.self)
  }

  /// Removes all bytes from an offset on.
  package mutating func cut(to offset: Int) {
    precondition(offset >= 0 && offset <= count)
    count = offset
  }

  /// Appends bytes unchanged.
  package mutating func append(_ bytes: [UInt8]) throws(WireError) {
    try reserve(bytes.count)
    unsafe bytes.withUnsafeBytes {
      if let from = $0.baseAddress {
        unsafe (base + count).copyMemory(from: from, byteCount: $0.count)
      }
    }
    count += bytes.count
  }

  /// Appends the number of bytes of a text, and the bytes.
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

  /// Appends the bytes of a place unchanged.
  @inline(__always)
  mutating func append(_ place: Int, of call: borrowing Invocation, whole size: Int)
    throws(WireError)
  {
    try reserve(size)
    // SAFETY: `size` is the size of the place.
    unsafe call.call.copyBytes(ofPlace: place, to: base + count)
    count += size
  }

  /// Appends the `Bool` of a place, and checks its byte, as C code may have set any value.
  mutating func append(_ place: Int, flagOf call: borrowing Invocation) throws(WireError) {
    try append(place, of: call, whole: 1)
    let byte = unsafe base.load(fromByteOffset: count - 1, as: UInt8.self)
    if byte > 1 { throw WireError(.notBool(byte), at: count - 1) }
  }

  /// Appends the numbers of a place, without the padding between them.
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
      unsafe call.call.copyBytes(ofPlace: place, to: from)
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

  /// A copy of the written bytes.
  package var bytes: [UInt8] {
    unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
  }

  /// A copy of the written bytes behind `room` zeros, which the caller overwrites.
  private func bytes(behind room: Int) -> [UInt8] {
    // SAFETY: lent memory is behind `mostRoom` zeros.
    if isLent {
      return unsafe [UInt8](UnsafeRawBufferPointer(start: base - room, count: room + count))
    }
    var all: [UInt8] = []
    all.reserveCapacity(room + count)
    all.append(contentsOf: repeatElement(0, count: room))
    unsafe all.append(contentsOf: UnsafeRawBufferPointer(start: base, count: count))
    return all
  }

  /// Calls a closure with the written bytes.
  @inlinable @unsafe
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body(UnsafeRawBufferPointer(start: base, count: count))
  }
}

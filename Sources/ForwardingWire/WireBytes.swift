import Invocations

// The one file of this module that handles memory: bytes that are written, and bytes that are read.

/// Bytes that are being written. Short ones lie on the stack.
@safe
package struct WireWriter: ~Copyable {
  // SAFETY: of `capacity` bytes, the first `count` of which are written; lent by `with`, or `isOwned`.
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private var isOwned = false
  /// How many bytes are there.
  package private(set) var count = 0
  private let limit: Int

  private init(_ memory: UnsafeMutableRawBufferPointer, limit: Int) {
    unsafe base = memory.baseAddress.unsafelyUnwrapped
    capacity = memory.count
    self.limit = limit
  }

  deinit { if isOwned { unsafe base.deallocate() } }

  /// Lends a writer for so many bytes at most.
  package static func with<Result>(
    limit: Int, _ body: (inout WireWriter) throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { memory in
      var writer = unsafe WireWriter(memory, limit: limit)
      return try body(&writer)
    }
  }

  /// Makes room for more bytes, or refuses them.
  private mutating func reserve(_ more: Int) throws(WireError) {
    let needed = count + more
    if needed <= capacity, needed <= limit { return }
    guard needed <= limit else { throw WireError(.limit(limit, given: needed), at: count) }
    let larger = max(needed, min(limit, 2 * capacity))
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    unsafe memory.copyMemory(from: base, byteCount: count)
    if isOwned { unsafe base.deallocate() }
    (unsafe base, capacity, isOwned) = (unsafe memory, larger, true)
  }

  /// Appends a number, its lowest byte first.
  @inline(__always)
  package mutating func append<Number: FixedWidthInteger>(_ number: Number) throws(WireError) {
    let size = Number.bitWidth / 8
    try reserve(size)
    // SAFETY: there is room for it.
    unsafe (base + count).storeBytes(of: number.littleEndian, as: Number.self)
    count += size
  }

  /// Writes a number over bytes that are there.
  package mutating func set<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
    precondition(offset >= 0 && offset + Number.bitWidth / 8 <= count)
    unsafe (base + offset).storeBytes(of: number.littleEndian, as: Number.self)
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

  /// Appends the numbers of a place.
  @inline(__always)
  mutating func append(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout
  ) throws(WireError) {
    // What a place holds is copied as a whole, and so needs room for what lies between its numbers.
    try reserve(layout.size)
    if layout.isWhole {
      // SAFETY: the layout is that of the place.
      unsafe call.copyBytes(ofPlace: place, to: base + count)
      count += layout.packed
    } else {
      try appendRuns(place, of: call, layout)
    }
  }

  private mutating func appendRuns(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout
  ) throws(WireError) {
    let start = count
    unsafe withUnsafeTemporaryAllocation(byteCount: layout.size, alignment: 16) { memory in
      let from = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe call.copyBytes(ofPlace: place, to: from)
      for run in layout.runs {
        unsafe (base + count).copyMemory(from: from + run.offset, byteCount: run.count)
        count += run.count
      }
    }
    for flags in layout.flags {
      for offset in flags.offset..<flags.offset + flags.count {
        let byte = unsafe base.load(fromByteOffset: start + offset, as: UInt8.self)
        if byte > 1 { throw WireError(.notBool(byte), at: start + offset) }
      }
    }
  }

  /// A copy of what was written.
  package var bytes: [UInt8] {
    unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Lends what was written.
  @unsafe
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body(UnsafeRawBufferPointer(start: base, count: count))
  }
}

/// Bytes from anywhere that are being read, front to back. Nothing is read beyond their end.
@safe
package struct WireReader {
  // SAFETY: of `end` bytes, lent by who made this for as long as it is used.
  private let base: UnsafeRawPointer?
  private let end: Int
  /// The number of bytes that were read.
  package private(set) var offset = 0

  /// Reads bytes that are lent.
  @unsafe
  package init(_ bytes: UnsafeRawBufferPointer) {
    unsafe base = bytes.baseAddress
    end = bytes.count
  }

  /// Lends a reader of bytes.
  package static func over<Result>(
    _ bytes: [UInt8], _ body: (inout WireReader) throws -> Result
  ) rethrows -> Result {
    try unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe WireReader(bytes)
      return try body(&reader)
    }
  }

  /// How many bytes are left.
  package var left: Int { end - offset }

  /// Goes on behind the next bytes, and returns where they begin.
  @inline(__always)
  private mutating func take(_ count: Int) throws(WireError) -> Int {
    guard count <= end - offset else {
      throw WireError(.tooShort(expected: count, given: left), at: offset)
    }
    defer { offset += count }
    return offset
  }

  /// Reads a number.
  @inline(__always)
  package mutating func number<Number: FixedWidthInteger>(
    _ type: Number.Type = Number.self
  ) throws(WireError) -> Number {
    let start = try take(Number.bitWidth / 8)
    // SAFETY: that many bytes are there.
    return unsafe Number(
      littleEndian: base.unsafelyUnwrapped.loadUnaligned(
        fromByteOffset: start, as: Number.self))
  }

  /// Reads bytes.
  package mutating func bytes(_ count: Int) throws(WireError) -> [UInt8] {
    let start = try take(count)
    return unsafe [UInt8](
      UnsafeRawBufferPointer(start: base.map { unsafe $0 + start }, count: count))
  }

  /// Reads text of so many bytes.
  package mutating func text(_ count: Int) throws(WireError) -> String {
    let start = try take(count)
    let bytes = unsafe UnsafeRawBufferPointer(start: base.map { unsafe $0 + start }, count: count)
    guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
      throw WireError(.notText, at: start)
    }
    return text
  }

  /// Passes over bytes.
  package mutating func skip(_ count: Int) throws(WireError) { _ = try take(count) }

  /// Sets the numbers of a place.
  @inline(__always)
  mutating func set(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout
  ) throws(WireError) {
    let start = try take(layout.packed)
    let from = unsafe base.unsafelyUnwrapped + start
    // SAFETY: the layout is that of the place, and any bytes are numbers; which are none, `setRuns` looks at.
    if layout.isWhole {
      unsafe call.setBytes(ofPlace: place, from: from)
    } else {
      try unsafe setRuns(place, of: call, layout, from, at: start)
    }
  }

  @unsafe
  private func setRuns(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout, _ from: UnsafeRawPointer,
    at start: Int
  ) throws(WireError) {
    for flags in layout.flags {
      for offset in flags.offset..<flags.offset + flags.count {
        let byte = unsafe from.load(fromByteOffset: offset, as: UInt8.self)
        if byte > 1 { throw WireError(.notBool(byte), at: start + offset) }
      }
    }
    unsafe withUnsafeTemporaryAllocation(byteCount: layout.size, alignment: 16) { memory in
      let to = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
      var position = 0
      for run in layout.runs {
        unsafe (to + run.offset).copyMemory(from: from + position, byteCount: run.count)
        position += run.count
      }
      unsafe call.setBytes(ofPlace: place, from: to)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Invocations

/// Reads bytes of any origin from front to back, and never beyond their end.
@safe
@frozen
package struct WireReader {
  // SAFETY: points to `end` bytes, which the code that made the reader keeps alive while it is
  // used.
  @usableFromInline let base: UnsafeRawPointer?
  @usableFromInline let end: Int
  /// The number of bytes read so far.
  @usableFromInline package internal(set) var offset = 0

  /// Reads bytes that must outlive the reader.
  @inlinable @unsafe
  package init(_ bytes: UnsafeRawBufferPointer) {
    unsafe base = bytes.baseAddress
    end = bytes.count
  }

  /// Calls a closure with a reader of bytes.
  @inlinable
  package static func over<Result, Failure: Error>(
    _ bytes: ArraySlice<UInt8>, _ body: (inout WireReader) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in
      var reader = unsafe WireReader(UnsafeRawBufferPointer(bytes))
      return try body(&reader)
    }
  }

  /// The number of bytes left.
  @inlinable
  package var left: Int { end - offset }

  /// Skips bytes, and returns the offset of the first one.
  @inlinable
  @inline(__always)
  mutating func take(_ count: Int) throws(WireError) -> Int {
    guard count <= end - offset else {
      throw WireError(.tooShort(expected: count, given: left), at: offset)
    }
    defer { offset += count }
    return offset
  }

  @inlinable
  @inline(__always)
  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>() throws(WireError) -> Number {
    let start = try take(MemoryLayout<Number>.size)
    // SAFETY: `take` checks that the bytes exist.
    return unsafe Number(
      littleEndian: (base.unsafelyUnwrapped + start).loadUnaligned(as: Number.self))
  }

  /// Reads two bytes.
  @inlinable
  package mutating func uint16() throws(WireError) -> UInt16 { try number() }

  /// Reads four bytes.
  @inlinable
  package mutating func uint32() throws(WireError) -> UInt32 { try number() }

  /// Reads eight bytes.
  @inlinable
  package mutating func uint64() throws(WireError) -> UInt64 { try number() }

  /// Reads `count` bytes.
  package mutating func bytes(_ count: Int) throws(WireError) -> [UInt8] {
    let start = try take(count)
    return unsafe [UInt8](
      UnsafeRawBufferPointer(start: base.map { unsafe $0 + start }, count: count))
  }

  /// Skips `count` bytes.
  package mutating func skip(_ count: Int) throws(WireError) { _ = try take(count) }

  /// Checks that no bytes are left.
  package func finish() throws(WireError) {
    if left > 0 { throw WireError(.tooLong(expected: 0, given: left), at: offset) }
  }

  /// Sets the numbers of a place.
  mutating func set(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout
  ) throws(WireError) {
    let start = try take(layout.packed)
    // SAFETY: `take` checks that the bytes exist. The layout is that of the place, and any bytes are
    // numbers; those that are a `Bool` are checked.
    let from = unsafe UnsafeRawBufferPointer(
      start: base.map { unsafe $0 + start }, count: layout.packed)
    if let wrong = unsafe layout.wrongFlag(of: from) {
      throw unsafe WireError(.notBool(from[wrong]), at: start + wrong)
    }
    guard let from = from.baseAddress else { return }
    unsafe withUnsafeTemporaryAllocation(byteCount: layout.size, alignment: 16) { memory in
      let to = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
      var position = 0
      for run in layout.runs {
        unsafe (to + run.offset).copyMemory(from: from + position, byteCount: run.count)
        position += run.count
      }
      unsafe call.call.setBytes(ofPlace: place, from: to)
    }
  }
}

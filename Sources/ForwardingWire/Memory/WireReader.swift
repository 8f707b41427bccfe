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
    _ bytes: [UInt8], _ body: (inout WireReader) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in
      var reader = unsafe WireReader(UnsafeRawBufferPointer(bytes))
      return try body(&reader)
    }
  }

  /// Calls a closure with a reader of a slice of bytes.
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

  /// Reads a byte.
  @inlinable
  @inline(__always)
  package mutating func byte() throws(WireError) -> UInt8 {
    let start = try take(1)
    // SAFETY (all): `take` checks that the bytes exist.
    return unsafe base.unsafelyUnwrapped.load(fromByteOffset: start, as: UInt8.self)
  }

  /// Reads two bytes.
  @inlinable
  @inline(__always)
  package mutating func uint16() throws(WireError) -> UInt16 {
    let start = try take(2)
    return unsafe UInt16(
      littleEndian: (base.unsafelyUnwrapped + start).loadUnaligned(as: UInt16.self))
  }

  /// Reads four bytes.
  @inlinable
  @inline(__always)
  package mutating func uint32() throws(WireError) -> UInt32 {
    let start = try take(4)
    return unsafe UInt32(
      littleEndian: (base.unsafelyUnwrapped + start).loadUnaligned(as: UInt32.self))
  }

  /// Reads eight bytes.
  @inlinable
  @inline(__always)
  package mutating func uint64() throws(WireError) -> UInt64 {
    let start = try take(8)
    return unsafe UInt64(
      littleEndian: (base.unsafelyUnwrapped + start).loadUnaligned(as: UInt64.self))
  }

  /// Reads `count` bytes.
  package mutating func bytes(_ count: Int) throws(WireError) -> [UInt8] {
    let start = try take(count)
    return unsafe [UInt8](
      UnsafeRawBufferPointer(start: base.map { unsafe $0 + start }, count: count))
  }

  /// Reads text of `count` bytes.
  package mutating func text(_ count: Int) throws(WireError) -> String {
    let start = try take(count)
    let bytes = unsafe UnsafeRawBufferPointer(start: base.map { unsafe $0 + start }, count: count)
    guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
      throw WireError(.notText, at: start)
    }
    return text
  }

  /// Skips `count` bytes.
  package mutating func skip(_ count: Int) throws(WireError) { _ = try take(count) }

  /// Sets a place to bytes that are copied unchanged. Any bytes are valid.
  @inline(__always)
  mutating func set(_ place: Int, of call: borrowing Invocation, whole size: Int) throws(WireError)
  {
    let start = try take(size)
    // SAFETY: `size` is the size of the place.
    unsafe call.call.setBytes(ofPlace: place, from: base.unsafelyUnwrapped + start)
  }

  /// Sets a place to a `Bool`.
  mutating func set(_ place: Int, flagOf call: borrowing Invocation) throws(WireError) {
    var ahead = self
    let byte = try ahead.byte()
    if byte > 1 { throw WireError(.notBool(byte), at: offset) }
    try set(place, of: call, whole: 1)
  }

  /// Sets the numbers of a place.
  mutating func set(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout
  ) throws(WireError) {
    let start = try take(layout.packed)
    // SAFETY: the layout is that of the place. Any bytes are numbers; `setRuns` checks those that
    // are a `Bool`.
    try unsafe setRuns(place, of: call, layout, base.unsafelyUnwrapped + start, at: start)
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
      unsafe call.call.setBytes(ofPlace: place, from: to)
    }
  }
}

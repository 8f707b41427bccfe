// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

// The value of a place as bytes and as an object.
extension ValueSlot {
  /// The object that the place refers to. Setting it does not retain the object.
  var object: AnyObject? {
    get {
      unsafe UnsafeRawPointer(bitPattern: UInt(word)).map {
        unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
      }
    }
    nonmutating set { word = OwnedWord(newValue, isOwned: false).word }
  }

  /// The bytes of the value, exactly as many as its type has.
  var bytes: [UInt8] {
    guard size > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      unsafe fwd_slot_load(slot, frame, buffer.baseAddress.unsafelyUnwrapped, size)
      for hole in holes { unsafe buffer[hole].update(repeating: 0) }
      count = size
    }
  }

  /// Writes the bytes of a value, exactly as many as its type has.
  ///
  /// - Safety: `bytes` must have that many bytes, and they must be a valid value of the type.
  @unsafe
  func store(bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    unsafe fwd_slot_store_raw(slot, frame, bytes)
  }

  /// The bytes in hexadecimal digits, at most `limit` of them.
  func hex(limit: Int) -> String {
    let digits = Array("0123456789abcdef")
    let bytes = bytes
    let shown = bytes.prefix(limit).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return "{" + String(shown) + (bytes.count > limit ? "…" : "") + "}"
  }

  /// The padding bytes of a number: a `long double` uses 10 of its 16 bytes, and the others hold
  /// old bytes of the stack.
  private var holes: [Range<Int>] {
    guard Machine.own == .x86_64Linux else { return [] }
    switch kind.raw {
    case .longDouble: return [10..<16]
    case .complexLongDouble: return [10..<16, 26..<32]
    default: return []
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The content of one place, for code that serializes calls.
package enum PlaceContent: Sendable {
  /// There is no value.
  case nothing
  /// This many bytes. The encoding tells whether they contain addresses.
  case bytes(Int)
  /// A C string.
  case cString
  /// Swift text.
  case text
  /// A Swift value. The place holds its address.
  case value(SwiftType)
  /// Any other address.
  case address
}

extension CallPlan {
  /// The content of a place; 0 is the result.
  package func content(ofPlace place: Int) -> PlaceContent {
    let slot = unsafe place == 0 ? result : slots + (place - 1)
    switch unsafe slot.pointee.kind {
    case .nothing: return .nothing
    case .cString: return .cString
    case .swiftValue:
      guard let type = swiftType(ofPlace: place) else { return .address }
      return type == .text ? .text : .value(type)
    case .object, .block, .classReference, .selector, .pointer, .functionPointer: return .address
    default: return unsafe .bytes(Int(slot.pointee.size))
    }
  }
}

// Copies bytes of places without ownership or addresses: numbers, and structures of numbers.
extension Invocation {
  private func plainSlot(_ place: Int) -> ValueSlot {
    place == 0 ? call.resultSlot : call.slot(place - 1)
  }

  /// Whether there is a result to read.
  package var hasResult: Bool { call.hasResult && call.returnsValue }

  /// Copies the bytes of a value.
  ///
  /// - Safety: the content of the place must be `bytes`, and `memory` must have room for as many.
  @unsafe
  package func copyBytes(ofPlace place: Int, to memory: UnsafeMutableRawPointer) {
    let slot = plainSlot(place)
    unsafe fwd_slot_load(slot.slot, slot.frame, memory, slot.size)
  }

  /// Sets a value by its bytes.
  ///
  /// - Safety: the content of the place must be `bytes`, and `memory` must hold as many bytes,
  ///   which are a valid value of its type.
  @unsafe
  package func setBytes(ofPlace place: Int, from memory: UnsafeRawPointer) {
    let slot = plainSlot(place)
    unsafe fwd_slot_store_raw(slot.slot, slot.frame, memory)
    if place == 0 { call.hasResult = true }
  }
}

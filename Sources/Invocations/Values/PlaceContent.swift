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

extension PlaceContent {
  /// The content of a place of a plan's calls; 0 is the result.
  package init(of plan: CallPlan, place: Int) {
    let slot = unsafe place == 0 ? plan.result : plan.slots + (place - 1)
    self =
      switch unsafe slot.pointee.kind {
      case .nothing: .nothing
      case .cString: .cString
      case .swiftValue:
        plan.swiftType(ofPlace: place).map { $0 == .text ? .text : .value($0) } ?? .address
      case .object, .block, .classReference, .selector, .pointer, .functionPointer: .address
      default: unsafe .bytes(Int(slot.pointee.size))
      }
  }
}

extension PlaceContent {
  /// Whether calls of two plans have equal contents. Swift text and C strings count as equal,
  /// because they are converted.
  package static func isEqual(of plan: CallPlan, and other: CallPlan) -> Bool {
    plan.isInterchangeable(with: other) || plan.differsInText(from: other)
  }
}

// Copies bytes of places without ownership or addresses: numbers, and structures of numbers.
extension Call {
  private func plainSlot(_ place: Int) -> ValueSlot {
    place == 0 ? resultSlot : slot(place - 1)
  }

  /// Whether there is a result to read.
  package var hasReadableResult: Bool { hasResult && returnsValue }

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
    if place == 0 { hasResult = true }
  }
}

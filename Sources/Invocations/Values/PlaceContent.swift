import CForwardingShims

/// What the values of one place are, for who carries them out of the process.
package enum PlaceContent: Sendable {
  /// There is no value.
  case nothing
  /// So many bytes, which may hold addresses if the encoding says so.
  case bytes(Int)
  /// A C string.
  case cString
  /// Swift's own text.
  case text
  /// A value of a Swift type, which travels by its address.
  case value(SwiftType)
  /// An address of anything else.
  case address
}

extension CallPlan {
  /// What the values of a place are; 0 is the result.
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

// Bytes of places that own nothing and hold no address: numbers, and structures of them.
extension Invocation {
  private func plainSlot(_ place: Int) -> ValueSlot {
    place == 0 ? call.resultSlot : call.slot(place - 1)
  }

  /// Whether there is a result to read.
  package var hasResult: Bool { call.hasResult && call.returnsValue }

  /// Copies the bytes of a value.
  ///
  /// - Safety: `memory` has room for as many bytes as the place, whose content is `bytes`, has.
  @unsafe
  package func copyBytes(ofPlace place: Int, to memory: UnsafeMutableRawPointer) {
    let slot = plainSlot(place)
    unsafe fwd_slot_load(slot.slot, slot.frame, memory, slot.size)
  }

  /// Sets a value by its bytes.
  ///
  /// - Safety: `memory` has as many bytes as the place, whose content is `bytes`, and they are a value of its
  ///   type.
  @unsafe
  package func setBytes(ofPlace place: Int, from memory: UnsafeRawPointer) {
    let slot = plainSlot(place)
    unsafe fwd_slot_store_raw(slot.slot, slot.frame, memory)
    if place == 0 { call.hasResult = true }
  }
}

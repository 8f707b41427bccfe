// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Testing

@testable import Forwarding
@testable import Invocations

/// Checks each comment that states the size of a type.
@Suite("Sizes that comments state")
struct SizeTests {
  private static let word = MemoryLayout<UInt>.size

  @Test("the outcome of a delivery fits four registers, also as an optional")
  func tally() {
    #expect(MemoryLayout<TargetList.Tally>.size <= 4 * Self.word)
    #expect(MemoryLayout<TargetList.Tally?>.size <= 4 * Self.word)
  }

  @Test("a call is passed between functions as two words")
  func call() { #expect(MemoryLayout<Call>.size == 2 * Self.word) }

  @Test("a weak reference to an object of one class is one word")
  func weakReference() { #expect(MemoryLayout<WeakReference<MulticastProxy>>.size == Self.word) }

  @Test("a place in the table of registrations takes eight bytes")
  func place() { #expect(MemoryLayout<Registration?>.stride == 8) }

  @Test("the rare parts of a report's entry take one word in each entry")
  func late() { #expect(MemoryLayout<DeliveryReport.Entry.Late?>.size == Self.word) }

  @Test("the image after the header of a stored call is aligned to 16")
  func stored() {
    #expect(MemoryLayout<StoredCall.Header>.size == 2 * Self.word)
    #expect(MemoryLayout<StoredCall.Piece>.size == Self.word)
  }

  @Test(
    "the part of a target that deliveries read fits a cache line, with its object's header"
  )
  func target() { #expect(2 * Self.word + MemoryLayout<FWDTarget>.size <= 64) }

  @Test("a C function is one word, and a Swift closure two")
  func functions() {
    #expect(MemoryLayout<@convention(c) () -> Void>.size == Self.word)
    #expect(MemoryLayout<() -> Void>.size == 2 * Self.word)
  }

  @Test("an executor is two words")
  func executor() { #expect(MemoryLayout<UnownedSerialExecutor>.size == 2 * Self.word) }
}

import CForwardingShims
import Testing

@testable import Forwarding
@testable import Invocations

/// Each sentence of a comment that says how large a type is.
@Suite("Sizes that comments speak of")
struct SizeTests {
  private static let word = MemoryLayout<UInt>.size

  @Test("what comes of a delivery fits four registers, also where there may be nothing")
  func tally() {
    #expect(MemoryLayout<TargetList.Tally>.size <= 4 * Self.word)
    #expect(MemoryLayout<TargetList.Tally?>.size <= 4 * Self.word)
  }

  @Test("a call is passed from function to function as two words")
  func call() { #expect(MemoryLayout<Call>.size == 2 * Self.word) }

  @Test("a weak reference to an object of one class is one word")
  func weakReference() { #expect(MemoryLayout<WeakReference<MulticastProxy>>.size == Self.word) }

  @Test("a place in the table of registrations takes eight bytes")
  func place() { #expect(MemoryLayout<Registration?>.stride == 8) }

  @Test("what few entries of a report have is one word of each")
  func late() { #expect(MemoryLayout<DeliveryReport.Entry.Late?>.size == Self.word) }

  @Test("values behind the head of a packed call are aligned to 16")
  func packed() {
    #expect(MemoryLayout<PackedCall.Header>.size == 2 * Self.word)
    #expect(MemoryLayout<PackedCall.Piece>.size == Self.word)
  }

  @Test(
    "what deliveries read of a target is no longer than a line of the cache, with the head of its object"
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

// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

/// A word of the runtime shows whether an invocation may be reused. At first use, the runtime is
/// tested for that word.
@Suite("The word that shows a sole reference")
struct SoleReferenceTests {
  private final class Object {
    weak var other: Object?
  }

  @Test("the runtime's word distinguishes one reference from more, also weak and unowned ones")
  func runtime() {
    func isSole(_ object: Unmanaged<Object>) -> Bool {
      SoleReference.ofRuntime.leads(to: fwd_object_references(object.toOpaque()))
    }
    let holder = Object()
    let own = Unmanaged.passRetained(Object())
    #expect(isSole(own))
    _ = own.retain()
    #expect(!isSole(own))
    own.release()
    #expect(isSole(own))
    let reference = ObjectReference(own.takeUnretainedValue(), isStrong: false)
    #expect(!isSole(own))
    withExtendedLifetime(reference) {}
    holder.other = own.takeUnretainedValue()
    #expect(!isSole(own))
    holder.other = nil
    own.release()
  }

  /// A runtime that counts some references outside the word.
  enum Elsewhere: String, CaseIterable { case weak, unowned, strong, all }

  @Test(
    "if the word does not show all references, no object counts as solely referenced",
    arguments: Elsewhere.allCases)
  func elsewhere(_ kind: Elsewhere) {
    var looks = 0
    // In the order in which objects are tested: alone, with a strong, a weak, an unowned reference,
    // alone.
    let words: [UInt64] =
      switch kind {
      case .strong: [3, 3, 5, 7, 3]
      case .weak: [3, 4, 3, 7, 3]
      case .unowned: [3, 4, 5, 3, 3]
      case .all: [3, 3, 3, 3, 3]
      }
    let sole = SoleReference { _ in
      defer { looks += 1 }
      return words[looks]
    }
    #expect(looks == words.count)
    for word in words { #expect(!sole.leads(to: word)) }
  }

  @Test("if the words of solely referenced objects differ, none counts as solely referenced")
  func changing() {
    var word: UInt64 = 3
    let sole = SoleReference { _ in
      word += 1
      return word
    }
    for word in 0..<UInt64(20) { #expect(!sole.leads(to: word)) }
  }

  @Test("if the word shows all references, only that word counts as a sole reference")
  func telling() {
    var words: [UInt64] = [3, 4, 5, 6, 3]
    let sole = SoleReference { _ in words.removeFirst() }
    #expect(sole.leads(to: 3))
    #expect(!sole.leads(to: 0) && !sole.leads(to: 4))
  }

  @Test(
    "a spare invocation is reused in this process",
    .disabled(
      if: Sanitizer.current != nil || FWD_IS_CHECKED != 0,
      "a sanitizer and a checked build see each object end"))
  func spares() throws {
    let plan = try CallPlan(MethodSignature(parsing: "v@:i"))
    func spare() -> ObjectIdentifier { SpareInvocations.withOne(plan) { ObjectIdentifier($0) } }
    #expect(spare() == spare())
  }
}

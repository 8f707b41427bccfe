import CForwardingShims
import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

/// Whether an invocation may be used again is read from a word of the runtime's, which is asked first.
@Suite("The word that says whether nobody else has an object")
struct SoleReferenceTests {
  private final class Object {
    weak var other: Object?
  }

  @Test("the runtime's tells one reference from more, weak and unowned ones too")
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

  /// A runtime that counts some references elsewhere than in the word.
  enum Elsewhere: String, CaseIterable { case weak, unowned, strong, all }

  @Test(
    "where it does not tell, no object is one that nobody else has", arguments: Elsewhere.allCases)
  func elsewhere(_ kind: Elsewhere) {
    var looks = 0
    // The order in which objects are looked at: alone, with a strong, a weak, an unowned reference, alone.
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

  @Test("where objects that are alone have different words, neither")
  func changing() {
    var word: UInt64 = 3
    let sole = SoleReference { _ in
      word += 1
      return word
    }
    for word in 0..<UInt64(20) { #expect(!sole.leads(to: word)) }
  }

  @Test("and where it tells, only that word is")
  func telling() {
    var words: [UInt64] = [3, 4, 5, 6, 3]
    let sole = SoleReference { _ in words.removeFirst() }
    #expect(sole.leads(to: 3))
    #expect(!sole.leads(to: 0) && !sole.leads(to: 4))
  }

  @Test(
    "a spare is used again in this process",
    .disabled(
      if: Sanitizer.current == .address || FWD_IS_CHECKED != 0,
      "AddressSanitizer and a checked build see each object end"))
  func spares() throws {
    let plan = try CallPlan(MethodSignature(parsing: "v@:i"))
    func spare() -> ObjectIdentifier { SpareInvocations.withOne(plan) { ObjectIdentifier($0) } }
    #expect(spare() == spare())
  }
}

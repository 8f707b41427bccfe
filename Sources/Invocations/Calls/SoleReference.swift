// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// Recognizes objects with one strong reference and no weak one, by the reference-count word of
/// their header.
///
/// Other versions of the runtime may count differently, or elsewhere. So the runtime is probed
/// once: the word of an object must change when a second strong, a weak or an unowned reference
/// exists. If it does not change, every object counts as shared, and no invocation is reused.
struct SoleReference {
  /// The word of an object with one reference; nil if the word is not reliable.
  private let word: UInt64?

  // SAFETY: the word is read while the object is retained.
  static let ofRuntime = unsafe SoleReference { object in unsafe fwd_object_references(object) }

  /// - Parameter read: returns the word of an object at an address.
  init(reading read: (UnsafeRawPointer) -> UInt64) {
    let word = unsafe Probe.look(read) { _ in nil }
    let others = unsafe [
      Probe.look(read) { Strong($0) }, Probe.look(read) { Weak($0) },
      Probe.look(read) { Unowned($0) },
    ]
    let tells = unsafe Probe.look(read) { _ in nil } == word && !others.contains(word)
    self.word = tells ? word : nil
  }

  /// Whether the word is that of an object with one reference.
  @inline(__always)
  func leads(to word: UInt64) -> Bool { word == self.word }

  private final class Probe {
    /// Reads the word of an object that has one reference, and the references that `refer` adds.
    /// Not optimized, because the optimizer drops references that are never read.
    @inline(never) @_optimize(none)
    static func look(
      _ read: (UnsafeRawPointer) -> UInt64, _ refer: (Probe) -> AnyObject?
    ) -> UInt64 {
      // SAFETY: the one reference is owned here, and released at the end.
      let probe = unsafe make()
      defer { unsafe probe.release() }
      let other = unsafe probe._withUnsafeGuaranteedRef { refer($0) }
      return withExtendedLifetime(other) { unsafe read(probe.toOpaque()) }
    }

    @inline(never)
    private static func make() -> Unmanaged<Probe> { unsafe Unmanaged.passRetained(Probe()) }
  }

  private final class Strong {
    let object: AnyObject
    init(_ object: AnyObject) { self.object = object }
  }

  private final class Weak {
    weak var object: AnyObject?
    init(_ object: AnyObject) { self.object = object }
  }

  private final class Unowned {
    unowned let object: AnyObject
    init(_ object: AnyObject) { self.object = object }
  }
}

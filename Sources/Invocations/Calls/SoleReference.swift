import CForwardingShims

/// How this runtime counts an object with one reference, and no weak one: the word of its header, if that tells.
///
/// Another version of the runtime may count in another way, or elsewhere. So it is asked once: the word of an object that
/// is referred to a second time, weakly or unowned, must be another one. Where it is not, every object counts as one
/// that others refer to, and no invocation is used again.
struct SoleReference {
  /// nil if the word does not tell.
  private let word: UInt64?

  // SAFETY: read while the object is held.
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
    /// The word of an object that has one reference, and what `refer` makes of it. Not for the optimizer, to which
    /// a reference that is not read is none.
    @inline(never) @_optimize(none)
    static func look(
      _ read: (UnsafeRawPointer) -> UInt64, _ refer: (Probe) -> AnyObject?
    ) -> UInt64 {
      // SAFETY: the one reference is ours, until it is given back here.
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

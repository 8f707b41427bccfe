// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Dispatch

/// What this package relies on in Swift's runtime and compiler beyond the language; `fwd_swift.h` lists
/// it. Each part has a probe, so that another toolchain gets a sentence, and no call goes wrong.
package enum SwiftRuntime {
  /// Uses a part of the runtime in a way whose outcome is known.
  package struct Probe: Sendable {
    package let name: String
    package let passes: @Sendable () -> Bool

    package init(_ name: String, _ passes: @escaping @Sendable () -> Bool) {
      (self.name, self.passes) = (name, passes)
    }
  }

  /// Ends the program if a probe fails; read before the first plan or target of the process.
  static let isKnown: Void = check(probes)

  /// The same for what few programs need, and what takes longer, or more stack than a small thread has.
  static let findsConformances: Void = check([search])
  static let callsQueues: Void = check([queues])

  /// Ends the program at the first probe that fails.
  package static func check(_ probes: [Probe]) {
    for probe in probes where !probe.passes() {
      fatalError(
        "this version of swift-forwarding does not know the runtime of \(toolchain): \(probe.name) are not "
          + "as they were in Swift 6.3; use a version that was made for this toolchain")
    }
  }

  #if compiler(>=6.4)
    private static let toolchain = "this toolchain, Swift 6.4 or later"
  #else
    private static let toolchain = "this toolchain, Swift 6.3"
  #endif

  // SAFETY: in all probes, the objects live until the end of the closure, and words that are not as they
  // should be are only compared.
  package static let probes = [
    Probe("the header and the counts of objects") {
      let object = unsafe Unmanaged.passRetained(Plain())
      let address = unsafe object.toOpaque()
      func isPlain() -> Bool {
        unsafe address.load(as: UInt.self) == unsafeBitCast(Plain.self as AnyClass, to: UInt.self)
      }
      let hasNumber =
        unsafe address.load(fromByteOffset: Int(FWD_OBJECT_HEADER), as: Int.self) == 42
      let wasSole = unsafe fwd_object_is_sole(address) != 0
      _ = unsafe swift_unownedRetain(address)
      defer { unsafe swift_unownedRelease(address) }
      let retained = unsafe swift_tryRetain(address)
      let isAlive = unsafe retained == address && !swift_isDeallocating(address)
      let isSole = unsafe fwd_object_is_sole(address) != 0
      if let retained = unsafe retained { unsafe swift_release(retained) }
      unsafe object.release()
      return unsafe hasNumber && isAlive && wasSole && !isSole && isPlain()
        && swift_isDeallocating(address)
        && swift_tryRetain(address) == nil
    },
    Probe("the closures of an actor") {
      let (isolated, number): (@MainActor () -> Int, Int) = ({ Plain().number }, 42)
      return unsafe unsafeBitCast(isolated, to: (() -> Int).self)() == number
        && MemoryLayout.size(ofValue: isolated) == 2 * MemoryLayout<UInt>.size
        && MemoryLayout<any Error>.size == MemoryLayout<UInt>.size
    },
    Probe("the values of a protocol and their witness tables") {
      let object = Plain()
      let words = unsafe unsafeBitCast(object as any Known, to: (UInt, UnsafeRawPointer).self)
      return unsafe words.0 == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        && fwd_existential_protocol(address((any Known).self)) != nil
        && fwd_existential_protocol(address(Plain.self)) == nil
        && !fwd_conformance_is_isolated(words.1) && fwd_conformance_is_isolated(isolatedTable)
    },
    Probe("missing strings") {
      [nil, "", "seven", "a literal of more than fifteen letters"].allSatisfy { text in
        unsafe withUnsafePointer(to: text) {
          unsafe fwd_word_widen(.cString, UnsafeRawPointer($0)) != 0
        }
          == (text != nil)
      }
    },
    Probe("the values of a task") {
      var value = 42
      let key = unsafe Unmanaged.passUnretained($number).toOpaque()
      unsafe fwd_task_push(key, &value, address(Int.self))
      let isSet = unsafe number == 42 && fwd_task_value(key)?.load(as: Int.self) == 42
      fwd_task_pop()
      return unsafe isSet && number == 0 && fwd_task_value(key) == nil
    },
    Probe("executors") {
      actor Other {}
      return unsafe MemoryLayout<UnownedSerialExecutor>.size == MemoryLayout<FWDExecutor>.size
        && !CurrentExecutor.isThat(of: Other())
    },
  ]

  package static let search = Probe("conformances that are isolated") {
    var (actor, other): (UnsafeRawPointer?, UnsafeRawPointer?)
    guard let known = unsafe fwd_existential_protocol(address((any Known).self)),
      let plain = unsafe fwd_conformance_of(address(Plain.self), known, &other),
      let isolated = unsafe fwd_conformance_of(address(Isolated.self), known, &actor)
    else { return false }
    return unsafe other == nil && actor == address(MainActor.self)
      && !fwd_conformance_is_isolated(plain) && fwd_conformance_is_isolated(isolated)
  }

  package static let queues = Probe("the calls of queues") {
    var count = 0
    SystemQueue(unprobed: DispatchQueue(label: "swift-forwarding")).sync { count += 1 }
    return count == 1
  }

  private protocol Known: AnyObject { var number: Int { get } }

  private final class Plain: Known { let number = 42 }

  private final class Isolated: @MainActor Known { let number = 42 }

  @TaskLocal private static var number = 0

  /// The witness table of a conformance that is isolated, which only code of its actor may name.
  @unsafe
  private static var isolatedTable: UnsafeRawPointer {
    let table: @MainActor () -> UnsafeRawPointer = {
      unsafe unsafeBitCast(Isolated() as any Known, to: (UInt, UnsafeRawPointer).self).1
    }
    return unsafe unsafeBitCast(table, to: (() -> UnsafeRawPointer).self)()
  }

  /// A type is the address of its metadata, which lives as long as the process.
  @unsafe
  private static func address(_ type: Any.Type) -> UnsafeRawPointer {
    unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
  }
}

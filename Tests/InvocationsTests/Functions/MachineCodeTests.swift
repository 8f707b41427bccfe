// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

/// The return addresses of the current stack, innermost first.
@inline(never)
private func returnAddresses() -> [UnsafeMutableRawPointer?] {
  var frames = [UnsafeMutableRawPointer?](repeating: nil, count: 256)
  let count = fixture_backtrace(&frames, Int32(frames.count))
  return Array(frames.prefix(Int(count)))
}

/// Each test is a separate process, for trampolines (0) and for libffi's closures (1).
@Suite("Backtraces from Swift through C and assembly")
struct BacktraceTests {
  /// Whether a backtrace taken in a callback includes the frames of its caller.
  @inline(never)
  @Sendable static func reachesCaller(_ encoding: String, viaC: Bool) throws -> Bool {
    let seen = Guarded<[UnsafeMutableRawPointer?]>([])
    let callback = try Callback(MethodSignature(parsing: encoding)) { call in
      let frames = returnAddresses()
      seen.withLock { $0 = frames }
      if call.methodSignature.resultType.description == "q" { try call.setResult(1) }
    }
    let apply = try Fixtures.call("f_apply")
    let call = viaC ? apply.0 : Invocation(callback.plan)
    if viaC { try call.setArgument(callback.address, at: 0) }
    try call.invoke(using: viaC ? apply.1 : callback.address)
    withExtendedLifetime(callback) {}
    // The first three frames are of the backtrace itself and of this function, which is now at
    // another address.
    let here = returnAddresses().dropFirst(3)
    return here.count > 3 && seen.withLock { $0 }.suffix(here.count).elementsEqual(here)
  }

  @Test(
    "a backtrace includes the caller",
    .enabled(
      if: fixture_is_sanitized() == 0,
      "with a sanitizer the addresses differ; why was not found out"),
    arguments: [0, 1])
  func reaches(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      try #require(try Self.reachesCaller("qq", viaC: true))
      try #require(try Self.reachesCaller("qq", viaC: false))
      // The result is returned in registers of two kinds; the words are passed on the stack.
      try #require(try Self.reachesCaller("{P=qd}dd", viaC: false))
      try #require(try Self.reachesCaller("q{L=[500q]}", viaC: false))
    }
  }
}

@Suite("Object files of assembly")
struct MachineCodeTests {
  /// The folder of the C core's objects, if the tests run where they were built.
  static let objects: String? = {
    guard let name = fixture_image() else { return nil }
    let path = URL(fileURLWithPath: String(cString: name)).deletingLastPathComponent()
      .appendingPathComponent("CForwardingShims.build").path
    return FileManager.default.fileExists(atPath: path + "/trampoline_x86_64.S.o") ? path : nil
  }()

  static let readelf = ["/usr/bin/readelf", "/bin/readelf"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(
    "an object not marked for IBT and SHSTK would turn both off for a program",
    .enabled(if: objects != nil && readelf != nil, "needs readelf, and the folder of the build"),
    arguments: ["trampoline_x86_64", "call_stack_x86_64"])
  func notes(name: String) throws {
    let object = try #require(Self.objects) + "/\(name).S.o"
    let notes = try run(try #require(Self.readelf), ["-nW", object])
    #expect(notes.output.contains("x86 feature: IBT, SHSTK"), "\(notes.output)")
    let sections = try run(try #require(Self.readelf), ["-SW", object])
    let stack = sections.output.split(separator: "\n").first { $0.contains(".note.GNU-stack") }
    #expect(try !#require(stack).contains(" X "), "the stack would be executable")
  }
}

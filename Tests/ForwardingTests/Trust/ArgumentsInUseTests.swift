// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
import TypeEncodings

@testable import Forwarding
@testable import Invocations

@Suite("Values in use by a call stay valid until it ends")
struct ArgumentsInUseTests {
  @Test("a Swift body finds its arguments, whatever it does with its own invocation")
  func lentArguments() async {
    await #expect(processExitsWith: .success) {
      final class Holder {
        let call: Invocation
        init(_ call: Invocation) { self.call = call }
      }
      let signature = try MethodSignature("v@:@*")
      try MethodTable.of(Holder.self).register(
        "go:with:",
        Implementation(signature) { lent in
          let call = (lent.target as? Holder)?.call
          #expect(throws: InvocationError.argumentInUse(index: 2)) {
            try call?.setArgument(nil as AnyObject?, at: 2)
          }
          #expect(throws: InvocationError.argumentInUse(index: 3)) {
            try call?.setArgument(String(repeating: "x", count: 100), at: 3)
          }
          guard try (lent.object(at: 2) as? SoundObject)?.isSound == true,
            try lent.argument(at: 3, as: String.self).hasPrefix("the text")
          else { exit(EXIT_FAILURE) }
        })
      let call = try Invocation(signature, selector: "go:with:")
      try call.setArgument(SoundObject() as AnyObject, at: 2)
      try call.setArgument("the text that is long enough to be allocated", at: 3)
      try call.invoke(on: Holder(call))
    }
  }

  /// Reaches an invocation that is on its way to C code.
  private final class Sender: SoundObject, @unchecked Sendable {
    var call: Invocation?
  }

  @Test("C code that gets text of Swift finds its objects, whatever it does with the invocation")
  func translated() async {
    await #expect(processExitsWith: .success) {
      let code:
        @convention(c) (UnsafeRawPointer, UInt, UnsafeRawPointer, UnsafePointer<CChar>) -> Void = {
          sender, _, object, _ in
          let sender = Unmanaged<Sender>.fromOpaque(sender).takeUnretainedValue()
          do {
            try sender.call?.setArgument(SoundObject() as AnyObject, at: 2)
            exit(EXIT_FAILURE)
          } catch {
            guard error as? InvocationError == .argumentInUse(index: 2) else { exit(EXIT_FAILURE) }
          }
          let object = Unmanaged<SoundObject>.fromOpaque(object).takeUnretainedValue()
          guard object.isSound else { exit(EXIT_FAILURE) }
        }
      let message = try Message<Void, SoundObject, String>("take:text:")
      let sender = Sender()
      let call = try message.invocation(SoundObject(), "text")
      try call.setTarget(sender)
      sender.call = call
      try call.invoke(using: unsafeBitCast(code, to: UnsafeRawPointer.self))
      _ = try call.invokeCapturingErrno(using: unsafeBitCast(code, to: UnsafeRawPointer.self))
    }
  }

  /// An invocation that its own method sends again, a given number of times.
  private final class Spiral {
    var call: Invocation?
    var left = 70_000
    var refused: InvocationError?
  }

  @Test(
    "an invocation that is sent 70,000 times inside itself stays in use",
    .disabled(
      if: Sanitizer.current != nil,
      "ThreadSanitizer keeps 65,536 frames, and those of AddressSanitizer have no room on a thread's stack"
    ))
  func manyUses() async {
    await #expect(processExitsWith: .success) {
      let thread = Thread {
        do {
          try MethodTable.of(Spiral.self).register("turn:") {
            (spiral: Spiral, given: SoundObject) in
            spiral.left -= 1
            if spiral.left > 0 { return try spiral.call?.invoke() ?? () }
            do throws(InvocationError) {
              try spiral.call?.setArgument(nil as AnyObject?, at: 2)
            } catch { spiral.refused = error }
            guard given.isSound else { exit(EXIT_FAILURE) }
          }
          let spiral = Spiral()
          let call = try Invocation(MethodSignature("v@:@"), selector: "turn:")
          try call.setArgument(SoundObject() as AnyObject, at: 2)
          spiral.call = call
          // The values around 65,536, at which a 16-bit count would wrap.
          for turns in [65_535, 65_536, 65_537, 70_000] {
            (spiral.left, spiral.refused) = (turns, nil)
            try call.invoke(on: spiral)
            guard spiral.refused == .argumentInUse(index: 2) else { exit(EXIT_FAILURE) }
          }
          exit(EXIT_SUCCESS)
        } catch { exit(EXIT_FAILURE) }
      }
      // Address space only; few of the pages are ever used.
      thread.stackSize = 2 << 30
      thread.start()
      while true { pause() }
    }
  }

  @Test("an answer in a report is independent, also if a target retains the invocation")
  func answers() throws {
    let keeper = HandForwarder()
    var kept: Invocation?
    keeper.body = { call in
      try call.setResult(SoundObject())
      kept = call
    }
    let proxy = MulticastProxy()
    proxy.add(keeper)
    let report = try proxy.deliver(Invocation(MethodSignature("@@:"), selector: "go"))
    try kept?.setResult(AnotherObject())
    #expect(try report.entries[0].answer?.resultObject() is SoundObject)
  }

  @Test("a structure with a pointer is not queued, whatever its first word is", arguments: [0, 1])
  func pointerInStructure(first: Int) throws {
    let call = try Invocation(parsing: "v@:{Pointing=q^v}")
    try call.setArgument(
      bytes: withUnsafeBytes(of: (first, UnsafeRawPointer(bitPattern: 16))) { Array($0) }, at: 2)
    #expect(call.call.firstBorrowedArgument == 2)
  }
}

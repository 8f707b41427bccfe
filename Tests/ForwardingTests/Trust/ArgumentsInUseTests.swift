import ForwardingTestSupport
import Foundation
import Synchronization
import Testing

@testable import Forwarding
@testable import Invocations

@Suite("What a call uses stays until it is over")
struct ArgumentsInUseTests {
  @Test("a Swift body finds its arguments, whatever it does with the invocation it is called by")
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

  private final class Hook: SoundObject, @unchecked Sendable {
    nonisolated(unsafe) static var again: (() -> Void)?
  }

  private static func lend(_ again: () -> Void, _ body: () -> Void) {
    withoutActuallyEscaping(again) { again in
      Hook.again = again
      body()
      Hook.again = nil
    }
  }

  private static func dropOwnReceiver() throws {
    let method = try Implementation(method: { (hook: Hook) -> Int32 in
      Hook.again?()
      guard hook.isSound else { exit(EXIT_FAILURE) }
      return 1
    })
    try CallPlan.shared(for: MethodSignature("i@:")).withInvocation { call in
      try call.setArgument(AnyCallObject(Hook()), at: 0)
      lend(
        { try? call.setArgument(AnyCallObject?.none, at: 0) },
        { try? call.invoke(using: method) })
    }
  }

  @Test("a scoped call keeps its receiver while it is made")
  func scopedReceiver() async {
    await #expect(processExitsWith: .success) { try Self.dropOwnReceiver() }
  }

  @Test("an answer in a report is its own, also of a target that keeps the invocation")
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
    #expect(try report.entries[0].answer?.object() is SoundObject)
  }

  @Test("a structure with a pointer is not queued, whatever its first word is", arguments: [0, 1])
  func pointerInStructure(first: Int) throws {
    let call = try Invocation(parsing: "v@:{Pointing=q^v}")
    try call.setArgument(
      bytes: withUnsafeBytes(of: (first, UnsafeRawPointer(bitPattern: 16))) { Array($0) }, at: 2)
    #expect(call.firstBorrowedArgument == 2)
  }
}

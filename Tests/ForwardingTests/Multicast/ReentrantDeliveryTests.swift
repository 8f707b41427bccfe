// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Testing
import TypeEncodings

private final class Reacher: CallObject {
  let name: String
  init(_ name: String) { self.name = name }
}

@Suite("Invocations that targets access during their delivery")
struct ReentrantDeliveryTests {
  @Test(
    "a target cannot change the invocation's target during its delivery", arguments: [true, false])
  func target(isOwned: Bool) async {
    await #expect(processExitsWith: .success) { [isOwned = isOwned as Bool] in
      let proxy = MulticastProxy()
      let call = try Invocation(MethodSignature(parsing: "v@:"), selector: "reach")
      nonisolated(unsafe) let captured = call
      nonisolated(unsafe) var refused = 0
      try MethodTable.of(Reacher.self).register("reach") { (listener: Reacher) in
        captured.retainArguments()
        for other in [nil, Reacher("other")] {
          do { try captured.setTarget(other) } catch InvocationError.argumentInUse(index: 0) {
            refused += 1
          }
        }
        precondition(!listener.name.isEmpty)
      }
      var listeners = (0..<8).map { Reacher("\($0)") }
      for listener in listeners { proxy.add(listener) }
      for round in 0..<3 {
        if isOwned { try call.setTarget(proxy) }
        _ = try proxy.deliver(call)
        if isOwned { try call.invoke() } else { try call.invoke(on: proxy) }
        precondition(refused == (round + 1) * 32)
        precondition(call.target === proxy)
        try call.setTarget(nil)
      }
      weak let last = listeners.last
      listeners = []
      precondition(last == nil)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Testing

private final class Nested: CallObject {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}

@Suite("Nested deliveries of one message")
struct NestedDeliveryTests {
  @Test(
    "each delivery uses its list as it was, deeper than a thread has hold slots",
    arguments: [true, false])
  func lists(isKept: Bool) async {
    await #expect(processExitsWith: .success) { [isKept = isKept as Bool] in
      nonisolated(unsafe) var reached = 0
      try MethodTable.of(Nested.self).register("reach") { (target: Nested) in target.body() }
      let proxies = (0..<60).map { _ in MulticastProxy() }
      var targets: [Nested] = []
      for (index, proxy) in proxies.enumerated() {
        if index + 1 < proxies.count { proxy.add(proxies[index + 1], strongly: true) }
        for _ in 0..<8 {
          let target = Nested { reached += 1 }
          targets.append(target)
          proxy.add(target)
        }
      }
      // The innermost target replaces all lists, and the memory of the old ones is overwritten.
      let innermost = Nested {
        for proxy in proxies {
          let other = Nested {}
          _ = proxy.add(other)
          proxy.remove(other)
          _ = try? Message<NoResult>("reach")(on: Nested {})
        }
        let fill = (0..<40000).map { [UInt](repeating: UInt(0x5555_5555), count: 4 + $0 % 64) }
        precondition(fill.count == 40000)
      }
      proxies[59].add(innermost)
      if isKept {
        let call = try Message<NoResult>("reach").invocation()
        try call.invoke(on: proxies[0])
      } else {
        try Message<NoResult>("reach")(on: proxies[0])
      }
      precondition(reached == 480, "reached \(reached)")
      withExtendedLifetime(targets) {}
    }
  }
}

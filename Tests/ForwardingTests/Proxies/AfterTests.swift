// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Testing

@Suite("Handlers after the target")
struct AfterTests {
  @Test(
    "a handler sees the arguments of one around the target, and the next multicast target the sender's"
  )
  func sentOn() throws {
    let log = Log()
    let proxy = InterceptingProxy(Listener("target", log))
    proxy.before("did:") { call in log.add("before \(try call.argument(at: 2, as: Int32.self))") }
    proxy.around("did:") { call, proceed in
      try call.setArgument(Int32(2), at: 2)
      try proceed()
    }
    proxy.after("did:") { call in log.add("after \(try call.argument(at: 2, as: Int32.self))") }
    let everyone = MulticastProxy()
    everyone.add(proxy)
    let next = Listener("next", log)
    everyone.add(next)
    try did(1, on: everyone)
    #expect(log.all == ["before 1", "target 2", "after 2", "next 1"])
    withExtendedLifetime(next) {}
  }
}

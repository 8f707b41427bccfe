// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Invocations
import Testing

@Suite("Many observers of one transport", .serialized)
struct ManyObserversTests {
  private final class Object: Sendable {}

  @Test("adding and ending observers takes a time that grows with their number alone")
  func observers() {
    let growth = CPUTime.growth { count in
      let observers = TransportObservers<TransportState>()
      return CPUTime.milliseconds {
        let all = (0..<count).map { _ in observers.add { _ in } }
        for one in all { one.end() }
      }
    }
    #expect(growth < CPUTime.linear, "\(growth) times")
  }

  @Test("exposing objects by a host takes a time that grows with their number alone")
  func exposures() throws {
    let growth = try CPUTime.growth { count in
      let host = RemoteHost(InProcessTransport(), as: "many")
      defer { host.close() }
      let interfaces = (0..<count).map { Interface("object\($0)") }
      let object = Object()
      return try CPUTime.milliseconds {
        for interface in interfaces { try host.expose(object, interface) }
      }
    }
    #expect(growth < CPUTime.linear, "\(growth) times")
  }

  @Test("observers are notified in the order in which they were added, even if some have ended")
  func order() {
    let observers = TransportObservers<TransportState>()
    let told = Guarded<[Int]>([])
    let all = (0..<100).map { number in
      observers.add { _ in told.withLockInPlace { $0.append(number) } }
    }
    for number in stride(from: 0, to: 100, by: 3) { all[number].end() }
    all[3].end()
    observers.tell(.interrupted)
    #expect(told.read { $0 } == (0..<100).filter { $0 % 3 != 0 })
  }
}

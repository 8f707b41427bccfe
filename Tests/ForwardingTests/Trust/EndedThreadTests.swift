// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
@testable import Invocations

@Suite("Ended threads")
struct EndedThreadTests {
  @Test("ended threads leave no records behind")
  func records() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let tick = try Message<NoResult, Int32>("tick:")
      try tick(1, on: Counter())
      let before = fwd_thread_count()
      for _ in 0..<50 { onThreads(20) { _ in _ = try? tick(1, on: Counter()) } }
      for _ in 0..<6000 where fwd_thread_count() > before { usleep(10_000) }
      require(fwd_thread_count() <= before)
    }
  }
}

@Suite("Many signals")
struct SignalTests {
  @Test("many signals disturb no send, no change and no callback")
  func storm() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      var (index, signals) = (0, Int32(0))
      // Signals that arrive while the process does not run are merged into one.
      for _ in 0..<60 where signals <= 100 {
        require(fixture_begin_signals(200) == 0)
        let end = Date() + 1
        while Date() < end {
          try useEverything(proxy, index)
          index += 1
        }
        signals = fixture_end_signals()
      }
      require(signals > 100, "only \(signals) signals came")
    }
  }
}

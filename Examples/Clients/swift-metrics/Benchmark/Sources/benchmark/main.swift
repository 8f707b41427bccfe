// SPDX-License-Identifier: Apache-2.0
// The time of an event of a metric with a number of backends, in nanoseconds, by the public API of
// swift-metrics. Each row of the output is the best of many rounds.
//   counter/N    Counter.increment with N backends
//   recorder/N   Recorder.record of a number with N backends
//   make/N       Counter(label:), with N backends
import CoreMetrics

/// A backend as far as the program needs one.
struct Backend: MetricsFactory {
  final class Handler: CounterHandler, FloatingPointCounterHandler, RecorderHandler, TimerHandler,
    MeterHandler, @unchecked Sendable
  {
    var sum: Int64 = 0
    func increment(by amount: Int64) { sum &+= amount }
    func increment(by amount: Double) {}
    func decrement(by amount: Double) {}
    func set(_ value: Int64) {}
    func set(_ value: Double) {}
    func reset() { sum = 0 }
    func record(_ value: Int64) { sum &+= value }
    func record(_ value: Double) {}
    func recordNanoseconds(_ duration: Int64) {}
  }

  let handler = Handler()

  func makeCounter(label: String, dimensions: [(String, String)]) -> CounterHandler { handler }
  func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> FloatingPointCounterHandler { handler }
  func makeMeter(label: String, dimensions: [(String, String)]) -> MeterHandler { handler }
  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> RecorderHandler { handler }
  func makeTimer(label: String, dimensions: [(String, String)]) -> TimerHandler { handler }
  func destroyCounter(_ handler: CounterHandler) {}
  func destroyFloatingPointCounter(_ handler: FloatingPointCounterHandler) {}
  func destroyMeter(_ handler: MeterHandler) {}
  func destroyRecorder(_ handler: RecorderHandler) {}
  func destroyTimer(_ handler: TimerHandler) {}
}

let clock = ContinuousClock()

/// Prints the least time that one of `operations` takes.
func row(_ name: String, _ operations: Int, rounds: Int = 400, _ body: (Int) -> Void) {
  var least = Double.infinity
  for _ in 0..<rounds {
    let time = clock.measure { body(operations) }
    let nanoseconds =
      Double(time.components.attoseconds) / 1e9 + Double(time.components.seconds) * 1e9
    least = min(least, nanoseconds / Double(operations))
  }
  print("row", name, least)
}

for number in [1, 2, 4] {
  let backends = (0..<number).map { _ in Backend() }
  let factory = MultiplexMetricsHandler(factories: backends)
  func check(_ name: String, _ expected: Int64) {
    for backend in backends {
      precondition(backend.handler.sum == expected, "\(name): a backend missed an event")
    }
  }
  let counter = Counter(label: "requests", factory: factory)
  row("counter/\(number)", 20_000) { count in
    counter.reset()
    for _ in 0..<count { counter.increment() }
    check("counter", Int64(count))
  }
  let recorder = Recorder(label: "sizes", factory: factory)
  row("recorder/\(number)", 20_000) { count in
    counter.reset()
    for _ in 0..<count { recorder.record(1) }
    check("recorder", Int64(count))
  }
  row("make/\(number)", 1_000) { count in
    for _ in 0..<count { _ = Counter(label: "requests", factory: factory) }
  }
}

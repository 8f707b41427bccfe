// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Calls that arrive at random times and wait in queues: utilization alone does not give the waiting
// time.
extension RemoteGrowth {
  /// The times of calls in a simulation, in seconds.
  public struct Times: Sendable {
    public let mean: Double
    public let ninetyNinth: Double
  }

  /// Simulates `count` calls that pass through sender, server, host, and server again at the
  /// present rate. Each part has a queue of its own. The server and the host of each call are drawn
  /// at random.
  ///
  /// Times on the network are not included. Equal parameters give equal times.
  public func simulate(calls count: Int, seed: UInt64 = 1) -> Times {
    var random = Draw(state: seed)
    // The time at which each processor of a part is free.
    var senderLines = Lines(senders, processors)
    var serverLines = Lines(servers, processors)
    var hostLines = Lines(hosts, processors)
    // In the order of events: a call joins a queue when it arrives there, not when it begins.
    var events = EventQueue()
    var now = 0.0
    var begun = [Double](repeating: 0, count: count)
    for call in 0..<count {
      now += random.interval(of: calls)
      begun[call] = now
      events.push(Event(time: now, call: call, step: 0))
    }
    var times: [Double] = []
    times.reserveCapacity(count)
    while let event = events.pop() {
      let end: Double
      switch event.step {
      case 0: end = senderLines.serve(random.number(below: senders), from: event.time, sender)
      case 1, 3:
        end = serverLines.serve(random.number(below: servers), from: event.time, 2 * server)
      default: end = hostLines.serve(random.number(below: hosts), from: event.time, host)
      }
      if event.step == 3 {
        times.append(end - begun[event.call])
      } else {
        events.push(Event(time: end, call: event.call, step: event.step + 1))
      }
    }
    times.sort()
    return Times(
      mean: times.reduce(0, +) / Double(max(1, times.count)),
      ninetyNinth: times.isEmpty ? 0 : times[min(times.count - 1, times.count * 99 / 100)])
  }

  private struct Event {
    let time: Double
    let call: Int
    let step: Int
  }

  /// Events, the earliest first.
  private struct EventQueue {
    private var heap: [Event] = []

    mutating func push(_ event: Event) {
      heap.append(event)
      var child = heap.count - 1
      while child > 0, heap[child].time < heap[(child - 1) / 2].time {
        heap.swapAt(child, (child - 1) / 2)
        child = (child - 1) / 2
      }
    }

    mutating func pop() -> Event? {
      guard let first = heap.first else { return nil }
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
      var parent = 0
      while 2 * parent + 1 < heap.count {
        let left = 2 * parent + 1
        let right = left + 1
        let least = right < heap.count && heap[right].time < heap[left].time ? right : left
        guard heap[least].time < heap[parent].time else { break }
        heap.swapAt(least, parent)
        parent = least
      }
      return first
    }
  }

  /// The processors of several machines: each does one task after the other.
  private struct Lines {
    private var free: [[Double]]

    init(_ machines: Int, _ processors: Double) {
      free = Array(
        repeating: Array(repeating: 0, count: max(1, Int(processors))), count: max(1, machines))
    }

    /// Runs a task of length `time` as soon as a processor of a machine is free. Returns its end.
    mutating func serve(_ machine: Int, from start: Double, _ time: Double) -> Double {
      var first = 0
      for line in free[machine].indices where free[machine][line] < free[machine][first] {
        first = line
      }
      let end = max(start, free[machine][first]) + time
      free[machine][first] = end
      return end
    }
  }

  /// Random numbers that are the same in each run.
  private struct Draw {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }

    mutating func number(below limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }

    /// The time to the next of independent events with the given rate per second.
    mutating func interval(of rate: Double) -> Double {
      -log(1 - Double(next() >> 11) / Double(1 << 53)) / rate
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations

/// Whatever a cancel message contains, it cancels only the call of its number.
enum CancelFuzz {
  /// Holds each call until it is cancelled.
  private final class Keeper: Sendable {
    private let held = Guarded(0)
    private let cancelled = Guarded<Set<Int>>([])

    static let hold = made {
      try MethodTable.of(Keeper.self).register("fuzzHold:") {
        (keeper: Keeper, number: Int) async throws -> Int in
        keeper.held.withLock { $0 += 1 }
        try? await withTaskCancellationHandler {
          try await Task.sleep(for: .seconds(3600))
        } onCancel: {
          keeper.cancelled.withLock { _ = $0.insert(number) }
        }
        return number
      }
      return try AsyncMessage<Int, Int>("fuzzHold:")
    }

    var numbers: Set<Int> { cancelled.read { $0 } }

    /// Waits until so many calls are held.
    func wait(for count: Int) throws {
      let isThere = DispatchSemaphore(value: 0)
      for _ in 0..<1_800_000 where held.read({ $0 }) < count {
        _ = isThere.wait(timeout: .now() + .milliseconds(1))
      }
      try demand(held.read { $0 } == count, "calls are not performed")
    }
  }

  private static let subject = "forwarding.shop.fuzz"

  static func run(_ bytes: [UInt8]) throws {
    let transport = InProcessTransport()
    let keeper = Keeper()
    var interface = Interface("fuzz")
    try interface.allow(Keeper.hold)
    let host = RemoteHost(transport, as: "shop")
    host.longestCall = .seconds(3600)
    defer { host.close() }
    try host.expose(keeper, interface)
    // Three calls of one sender.
    let answers = DispatchSemaphore(value: 0)
    let requests = try (1...3).map { number in
      let call = try interface.encodeSent(Keeper.hold.message.invocation(number))
      return try transport.request(
        FuzzEnvelope.request(1, UInt8(number)) + call, to: RemoteSubject(subject)
      ) { _ in answers.signal() }
    }
    defer { for request in requests { request.end() } }
    try demand(host.statistics.asked == 3, "calls are not taken")
    try keeper.wait(for: 3)
    for payload in [
      bytes, [2, 4] + bytes, [2, 4] + FuzzEnvelope.time + bytes, FuzzEnvelope.request(4, 1) + bytes,
    ] {
      let before = keeper.numbers
      try transport.publish(payload, to: FuzzEnvelope.cancels(subject))
      let after = keeper.numbers
      guard let number = cancelled(by: payload) else {
        try demand(after == before, "\(payload) cancels a call")
        continue
      }
      try demand(after.subtracting(before).subtracting([number]).isEmpty, "another is cancelled")
      let isWhole = payload.count == FuzzEnvelope.head
      try demand(!isWhole || after.contains(number), "\(payload) does not cancel a call")
    }
    try end(keeper, host, transport, answers)
  }

  /// The number of the call that a cancel message names.
  private static func cancelled(by payload: [UInt8]) -> Int? {
    guard FuzzEnvelope.kind(of: payload) == 4 else { return nil }
    return (1...3).first {
      payload[4..<12].elementsEqual(FuzzEnvelope.number(UInt8($0)))
    }
  }

  /// Checks that a valid message cancels its call, and that each call has its answer, whatever
  /// arrived before.
  private static func end(
    _ keeper: Keeper, _ host: RemoteHost, _ transport: InProcessTransport,
    _ answers: DispatchSemaphore
  ) throws {
    // The second time, no call is left that could be cancelled.
    for _ in 1...2 {
      for number in 1...3 as ClosedRange<UInt8> {
        let cancel = FuzzEnvelope.request(4, number)
        try transport.publish(cancel, to: FuzzEnvelope.cancels(subject))
        try demand(keeper.numbers.contains(Int(number)), "the right message cancels nothing")
      }
    }
    for _ in 1...3 { try wait(for: answers, "a call that was held") }
    try demand(host.statistics.answered >= 3, "calls that were held have no answer")
  }
}

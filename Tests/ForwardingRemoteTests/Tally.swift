// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import Invocations

/// Records each number that it receives, and repetitions.
final class Tally: MethodDeclaring, Sendable {
  private struct Notes {
    var numbers: Set<Int> = []
    var twice = 0
    var inOrder: [Int] = []
  }

  private let notes = LockedValue(Notes())
  private let keepsOrder: Bool

  /// Returns the number.
  static let take = try! AsyncMessage<Int, Int>("tallyTake:")
  /// How many numbers it received, and how many of them again.
  static let count = try! AsyncMessage<Int>("tallyCount")
  static let twice = try! AsyncMessage<Int>("tallyTwice")
  /// Returns the number of its process once all may go on: it makes a file of that name in a folder,
  /// and waits for another one. Without a folder, it does not wait.
  static let meet = try! AsyncMessage<Int32, String?>("tallyMeet:")

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("tallyTake:") { (tally: Tally, number: Int) in
      tally.take(number)
      return number
    }
    methods.register("tallyCount") { (tally: Tally) in tally.count }
    methods.register("tallyTwice") { (tally: Tally) in tally.twice }
    methods.register("tallyMeet:") { (_: Tally, folder: String?) async throws in
      if let folder {
        try "".write(toFile: "\(folder)/\(getpid())", atomically: false, encoding: .utf8)
        try await eventually { FileManager.default.fileExists(atPath: folder + "/go on") }
      }
      return getpid()
    }
  }

  init(keepsOrder: Bool = false) { self.keepsOrder = keepsOrder }

  private func take(_ number: Int) {
    notes.withLock { notes in
      if !notes.numbers.insert(number).inserted { notes.twice += 1 }
      if keepsOrder { notes.inOrder.append(number) }
    }
  }

  /// How many different numbers were received.
  var count: Int { notes.withLock { $0.numbers.count } }
  /// How many times a number was received again.
  var twice: Int { notes.withLock { $0.twice } }
  var inOrder: [Int] { notes.withLock { $0.inOrder } }

  static func interface() throws -> Interface {
    var interface = Interface("tally")
    try interface.allow(take)
    try interface.allow(count)
    try interface.allow(twice)
    try interface.allow(meet)
    return interface
  }
}

/// Counts the outcomes of calls.
final class Endings: Sendable {
  private struct Counts {
    var answered: Set<Int> = []
    var others: [String: Int] = [:]
    var next = 0
  }

  private let counts = LockedValue(Counts())

  var answered: Set<Int> { counts.withLock { $0.answered } }
  var others: [String: Int] { counts.withLock { $0.others } }
  var sum: Int { counts.withLock { $0.answered.count + $0.others.values.reduce(0, +) } }

  /// Sends numbers, `width` at a time, and records the outcome of each.
  func send(_ numbers: Range<Int>, to remote: RemoteProxy, atATime width: Int) async {
    counts.withLock { $0.next = numbers.lowerBound }
    await withTaskGroup(of: Void.self) { tasks in
      for _ in 0..<width {
        tasks.addTask {
          while true {
            let number = self.counts.withLock { counts in
              defer { counts.next += 1 }
              return counts.next
            }
            guard number < numbers.upperBound else { return }
            await self.send(number, to: remote)
          }
        }
      }
    }
  }

  /// Runs a closure each time that a given number of calls has ended, on a separate thread, as
  /// those of tasks may all be busy.
  func each(_ sums: [Int], _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        for least in sums {
          while self.sum < least { usleep(100) }
          body()
        }
        continuation.resume()
      }
    }
  }

  private func send(_ number: Int, to remote: RemoteProxy) async {
    do {
      let answer = try await Tally.take(number, on: remote)
      counts.withLock {
        if answer == number {
          $0.answered.insert(number)
        } else {
          $0.others["another's answer", default: 0] += 1
        }
      }
    } catch {
      let name = (error as? RemoteError).map(Self.name) ?? "\(error)"
      counts.withLock { $0.others[name, default: 0] += 1 }
    }
  }

  private static func name(_ error: RemoteError) -> String {
    switch error {
    case .timedOut: "timed out"
    case .interrupted: "interrupted"
    case .unreachable: "unreachable"
    default: "\(error)"
    }
  }
}

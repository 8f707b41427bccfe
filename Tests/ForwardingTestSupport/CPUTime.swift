// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The processor time of the current thread, which does not advance while other threads run.
public enum CPUTime {
  /// The time of the current thread so far, in milliseconds.
  public static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
  }

  /// The time that `body` takes, in milliseconds.
  public static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let before = now
    try body()
    return now - before
  }

  /// A limit between linear and quadratic growth. With a linear cost, 80 may be measured in a
  /// process that does much other work, with cold caches and new pages for everything.
  public static let linear = 200.0

  /// The ratio of the costs of 32 times the count and of the count: 32 for linear growth, 1024 for
  /// quadratic growth. `cost` returns milliseconds. The least of three tries counts, or of up to
  /// twelve while it is above 48, because other work on a busy machine evicts the caches, and the
  /// clock of a virtual machine may lose a part of one time.
  public static func growth(from count: Int = 500, _ cost: (Int) throws -> Double) rethrows
    -> Double
  {
    _ = try cost(count)
    var growth = Double.infinity
    for round in 0..<12 where round < 3 || growth > 48 {
      let few = try cost(count)
      growth = try min(growth, cost(32 * count) / few)
    }
    return growth
  }
}

import Foundation

/// What a body costs, by the clock of this thread, which stands while others have the processor.
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

  /// Between what grows with how many there are and what grows with their square. In a process that does much else, with
  /// little of a lot in its caches and new pages for all of it, 20 was seen where each costs the same.
  public static let linear = 32.0

  /// How many times longer something takes with eight times as many: 8 if each costs the same, 64 if each costs
  /// as much as there are others. `cost` returns milliseconds; the least of three tries counts, and of nine more as long
  /// as it is far from 8: on a busy machine, others take the caches away.
  public static func growth(from count: Int = 2000, _ cost: (Int) throws -> Double) rethrows
    -> Double
  {
    _ = try cost(count)
    var (few, many) = (Double.infinity, Double.infinity)
    for round in 0..<12 where round < 3 || many > 12 * few {
      few = try min(few, cost(count))
      many = try min(many, cost(8 * count))
    }
    return many / few
  }
}

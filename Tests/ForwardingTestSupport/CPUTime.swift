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

  /// How many times longer something takes with eight times as many: 8 if each costs the same, 64 if each costs
  /// as much as there are others. `cost` returns milliseconds; the least of three tries counts.
  public static func growth(from count: Int = 2000, _ cost: (Int) throws -> Double) rethrows
    -> Double
  {
    func least(_ count: Int) throws -> Double {
      try min(cost(count), cost(count), cost(count))
    }
    _ = try cost(count)
    return try least(8 * count) / least(count)
  }
}

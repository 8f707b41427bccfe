// SPDX-License-Identifier: Apache-2.0
import Invocations

/// Closures that are called with each value, such as the changes of a connection; for transports of
/// your own.
///
/// ```swift
/// let observers = TransportObservers<TransportState>()
/// let one = observers.add { print("\($0)") }
/// observers.tell(.interrupted)
/// one.end()
/// ```
public final class TransportObservers<Value: Sendable>: Sendable {
  /// By number, so that removing an observer is equally fast among few and among many.
  private let observers = Guarded<(all: [UInt64: Observer], last: UInt64)>(([:], 0))

  /// Makes an empty list.
  public init() {}

  /// Adds a closure, which is called until the subscription ends.
  public func add(_ changed: @escaping @Sendable (Value) -> Void) -> any TransportSubscription {
    observers.withLockInPlace { state in
      state.last += 1
      let observer = Observer(self, state.last, changed)
      state.all[state.last] = observer
      return observer
    }
  }

  /// Calls all closures, in the order in which they were added.
  public func tell(_ value: Value) {
    let all = observers.read { Array($0.all.values) }
    for observer in all.sorted(by: { $0.number < $1.number }) { observer.changed(value) }
  }

  private final class Observer: TransportSubscription {
    private let list: TransportObservers
    let number: UInt64
    let changed: @Sendable (Value) -> Void

    init(
      _ list: TransportObservers, _ number: UInt64, _ changed: @escaping @Sendable (Value) -> Void
    ) {
      (self.list, self.number, self.changed) = (list, number, changed)
    }

    func end() {
      // Released outside the lock, as the closure may own anything.
      let old = list.observers.withLockInPlace { $0.all.removeValue(forKey: number) }
      withExtendedLifetime(old) {}
    }
  }
}

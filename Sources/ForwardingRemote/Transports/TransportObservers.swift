// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The closures that are called when a connection changes; for transports of your own.
///
/// ```swift
/// let observers = TransportObservers()
/// let one = observers.add { print("\($0)") }
/// observers.tell(.interrupted)
/// one.end()
/// ```
public final class TransportObservers: Sendable {
  private let observers = Observers<TransportState>()

  /// Makes an empty list.
  public init() {}

  /// Adds a closure, which is called until the subscription ends.
  public func add(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription {
    observers.add(changed)
  }

  /// Calls all closures, in the order in which they were added.
  public func tell(_ state: TransportState) { observers.tell(state) }
}

/// Closures that are called with each value, until their subscription ends.
final class Observers<Value: Sendable>: Sendable {
  /// By number, so that removing an observer is equally fast among few and among many.
  private let observers = Guarded<(all: [UInt64: Observer], last: UInt64)>(([:], 0))

  func add(_ changed: @escaping @Sendable (Value) -> Void) -> any TransportSubscription {
    observers.withLockInPlace { state in
      state.last += 1
      let observer = Observer(self, state.last, changed)
      state.all[state.last] = observer
      return observer
    }
  }

  /// Calls all closures, in the order in which they were added.
  func tell(_ value: Value) {
    let all = observers.read { Array($0.all.values) }
    for observer in all.sorted(by: { $0.number < $1.number }) { observer.changed(value) }
  }

  private final class Observer: TransportSubscription {
    private let list: Observers
    let number: UInt64
    let changed: @Sendable (Value) -> Void

    init(_ list: Observers, _ number: UInt64, _ changed: @escaping @Sendable (Value) -> Void) {
      self.list = list
      self.number = number
      self.changed = changed
    }

    func end() {
      // Released outside the lock, as the closure may own anything.
      let old = list.observers.withLockInPlace { $0.all.removeValue(forKey: number) }
      withExtendedLifetime(old) {}
    }
  }
}

/// A transport that knows when a connection has ended, so that the calls that came by it can be
/// cancelled.
protocol ConnectionsTransport: Transport {
  /// The closures that are called with each connection that has ended. All its messages have been
  /// received by then.
  var ends: Observers<ObjectIdentifier> { get }
}

// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The closures that observe a connection, for implementations of ``Transport``.
///
/// ```swift
/// let observers = TransportObservers()
/// let one = observers.add { print("\($0)") }
/// observers.tell(.interrupted)
/// one.end()
/// ```
public final class TransportObservers: Sendable {
  private let observers = Guarded(State())

  /// By number, so that removing an observer is equally fast among few and among many.
  private struct State {
    var observers: [UInt64: Observer] = [:]
    var lastNumber: UInt64 = 0
  }

  /// Makes an empty list.
  public init() {}

  /// Adds a closure, which is called until the subscription ends.
  public func add(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription {
    observers.withLockInPlace { state in
      state.lastNumber += 1
      let observer = Observer(self, state.lastNumber, changed)
      state.observers[state.lastNumber] = observer
      return observer
    }
  }

  /// Calls all closures, in the order in which they were added.
  public func tell(_ state: TransportState) {
    let all = observers.read { Array($0.observers.values) }
    for observer in all.sorted(by: { $0.number < $1.number }) { observer.changed(state) }
  }

  private final class Observer: TransportSubscription {
    private let list: TransportObservers
    let number: UInt64
    let changed: @Sendable (TransportState) -> Void

    init(
      _ list: TransportObservers, _ number: UInt64,
      _ changed: @escaping @Sendable (TransportState) -> Void
    ) {
      self.list = list
      self.number = number
      self.changed = changed
    }

    func end() {
      // Released outside the lock, as the closure may own anything.
      let old = list.observers.withLockInPlace { $0.observers.removeValue(forKey: number) }
      withExtendedLifetime(old) {}
    }
  }
}

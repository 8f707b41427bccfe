// SPDX-License-Identifier: Apache-2.0
import Invocations

/// Closures that are called with each value, until their subscription ends.
final class Observers<Value: Sendable>: Sendable {
  private let observers = Guarded(State())

  /// By number, so that removing an observer is equally fast among few and among many.
  private struct State {
    var observers: [UInt64: Observer] = [:]
    var lastNumber: UInt64 = 0
  }

  func add(_ changed: @escaping @Sendable (Value) -> Void) -> any TransportSubscription {
    observers.withLockInPlace { state in
      state.lastNumber += 1
      let observer = Observer(self, state.lastNumber, changed)
      state.observers[state.lastNumber] = observer
      return observer
    }
  }

  /// Calls all closures, in the order in which they were added.
  func tell(_ value: Value) {
    let all = observers.read { Array($0.observers.values) }
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
      let old = list.observers.withLockInPlace { $0.observers.removeValue(forKey: number) }
      withExtendedLifetime(old) {}
    }
  }
}

/// A transport that knows when a connection has ended, so that the calls that came by it can be
/// cancelled: their answers have no way back.
protocol ConnectionsTransport: Transport {
  /// Calls a closure with each connection that has ended. All its messages have been received by
  /// then.
  func onEnd(
    _ ended: @escaping @Sendable (ObjectIdentifier) -> Void
  ) -> any TransportSubscription
}

extension UnixSocketTransport: ConnectionsTransport {
  func onEnd(
    _ ended: @escaping @Sendable (ObjectIdentifier) -> Void
  ) -> any TransportSubscription {
    ends.add(ended)
  }
}

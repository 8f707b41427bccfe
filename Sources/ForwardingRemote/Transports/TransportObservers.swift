import Invocations

/// Those who want to know what becomes of a connection. For transports to use.
///
/// ```swift
/// let observers = TransportObservers()
/// let one = observers.add { print("\($0)") }
/// observers.tell(.interrupted)
/// one.end()
/// ```
public final class TransportObservers: Sendable {
  private let observers = Guarded<[Observer]>([])

  /// Makes a list of nobody.
  public init() {}

  /// Adds a closure.
  public func add(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription {
    let observer = Observer(self, changed)
    observers.withLock { $0.append(observer) }
    return observer
  }

  /// Tells all.
  public func tell(_ state: TransportState) {
    for observer in observers.read({ $0 }) { observer.changed(state) }
  }

  private final class Observer: TransportSubscription {
    private let list: TransportObservers
    let changed: @Sendable (TransportState) -> Void

    init(_ list: TransportObservers, _ changed: @escaping @Sendable (TransportState) -> Void) {
      self.list = list
      self.changed = changed
    }

    func end() { list.observers.withLock { $0.removeAll { $0 === self } } }
  }
}

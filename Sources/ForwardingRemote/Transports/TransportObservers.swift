// SPDX-License-Identifier: Apache-2.0
/// The closures that observe a connection, for implementations of ``Transport``.
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

// SPDX-License-Identifier: Apache-2.0
public import Invocations
import Synchronization

// Requirements with `sending` parameters: only one target may get such an argument.

/// A `sending` argument, on its way from a proxy to its only target.
@_documentation(visibility: internal)
public final class _SentArgument<Value>: Sendable {
  private let stored: Mutex<Value?>

  /// Takes the value from its sender.
  public init(_ value: consuming sending Value) { stored = Mutex(value) }

  /// Moves the value out, for the only target.
  public func take() -> sending Value {
    let value = stored.withLock { stored -> sending Value? in
      let value = stored
      stored = nil
      return value
    }
    // A forwarder to one target calls it once; all others call none.
    return value ?? { fatalError("a 'sending' argument was taken twice") }()
  }
}

extension _ProxyForwarder {
  /// Whether there is never more than one target.
  private var hasOneTarget: Bool { (untyped as? MulticastProxy)?.targetList.isOfOne ?? false }

  /// The forwarder of a requirement with a `sending` parameter: this one for a ``SingleTarget``, and
  /// otherwise one that calls no target.
  public func sending(for proxy: AnyClass) -> _ProxyForwarder {
    var forwarder = self
    if !hasOneTarget { forwarder.targets = ProxyTargets(nil, for: proxy) }
    return forwarder
  }

  /// The error of a requirement with a `sending` parameter where no target is called.
  fileprivate func refusal(
    _ selector: Selector, _ context: ForwardingError.Context
  ) -> ForwardingError {
    hasOneTarget
      ? .notAMessage(context, because: "an argument is 'sending'") : .needsSingleTarget(selector)
  }
}

extension _ProxyMessage {
  /// Refuses a requirement with a `sending` parameter, unless the delivery is over and no result is
  /// needed.
  ///
  /// - Throws: ``ForwardingError/notAMessage(_:because:)`` for a target of a ``SingleTarget`` that
  ///   takes messages alone, and otherwise ``ForwardingError/needsSingleTarget(_:)``.
  public static func refuseSent<Result>(
    _ selector: Selector, by forwarder: _ProxyForwarder, through delivery: inout ProxyDelivery
  ) throws -> Result? {
    try refuse(selector, through: &delivery) { forwarder.refusal(selector, $0) }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Invocations

// Proxies that ask one of several targets, and proxies for one target.

extension MulticastProxy {
  /// The target that is asked after all others, whatever their priorities. It is held weakly.
  public var fallback: AnyObject? {
    get { snapshot.last { $0.isFallback }?.object }
    set { setFallback(newValue) }
  }

  /// Sets the target that is asked after all others. It is held weakly unless `strongly` is true.
  public func setFallback(_ target: AnyObject?, strongly: Bool = false) {
    guard let target else { return removeFallback() }
    add(
      Registrations.Request(
        proxy: self, target: target, isStrong: strongly, lane: .caller, priority: nil, group: nil,
        isOnce: false, isFallback: true))
  }

  func removeFallback() {
    _ = change { $0.remove(from: $1) { $0.isFallback } }
  }

  /// The target of a proxy for one object, if a message may be passed on to it as it is.
  var passedOnTarget: AnyObject? {
    guard targetList.isOfOne,
      let only = registrations.withLockInPlace({ _ in targetList.first }), only.way == .called,
      let target = only.object
    else { return nil }
    only.markReached()
    return target
  }

  /// Passes a call on to the only target, as a step of this proxy.
  func pass(_ call: Call, on target: AnyObject) throws {
    try call.forwarding(by: self, as: targetList) {
      try call.withInvocation { try $0.send(to: target) }
    }
  }
}

extension ListedTarget.Marks {
  /// The target is asked after all others.
  fileprivate static let fallback = Self(rawValue: 32)
  /// Another target has taken the place of this one.
  fileprivate static let replaced = Self(rawValue: 64)
}

extension Registration {
  var isFallback: Bool { marks.contains(.fallback) }

  func markFallback() { mark(.fallback) }

  func markReplaced() { mark(.replaced) }

  /// Whether it is no longer in the list.
  var isGone: Bool { isRemoved || marks.contains(.replaced) }
}

// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// An event of a multicast that no sender gets as an error.
///
/// ```swift
/// observers.onDiagnostic = { diagnostic in print(diagnostic) }
/// ```
@nonexhaustive
public enum DeliveryDiagnostic: Sendable {
  /// A target was found dead, and its registration was removed.
  case deadTarget(ForwardingToken)
  /// The same for a target of this class that died before its first message: nothing retained it.
  case diedUnreached(ForwardingToken, SwiftType)
  /// No target answered a message.
  case unanswered(Selector)
  /// A target threw, and the sender does not get the error, because it did not wait, or gets an
  /// earlier one.
  case failed(ForwardingToken, Selector, any Error)
  /// The answer of a target does not count: that of a later target takes its place.
  case overruled(ForwardingToken, Selector)
  /// A target answers on its lane, when the sender has its answer.
  case tooLate(ForwardingToken, Selector)
  /// A message of a proxy ended with this error, and the requirement cannot throw.
  case unheard(Selector, any Error)
}

extension DeliveryDiagnostic: CustomStringConvertible {
  public var description: String {
    func name(_ selector: Selector) -> String { "'\(RequirementNames.name(of: selector))'" }
    return switch self {
    case .deadTarget(let token): "\(token) has died, and was removed"
    case .diedUnreached(let token, _):
      "\(token) died before its first message; keep it, or add it strongly"
    case .unanswered(let selector): "no target answered \(RequirementNames.title(of: selector))"
    case .failed(let token, let selector, let error):
      "\(name(selector)) of \(token) ended with an error that its sender does not get: \(error)"
    case .overruled(let token, let selector):
      "the answer of \(token) to \(name(selector)) is discarded: a later target answered too"
    case .tooLate(let token, let selector):
      "the answer of \(token) to \(name(selector)) is discarded, because the sender does not wait for its queue; "
        + "add it with '.blocking', or make the requirement 'async'"
    case .unheard(let selector, let error):
      "\(name(selector)) ended with an error that its sender does not get: \(error)"
    }
  }
}

extension MulticastProxy {
  /// Tells the proxy's own listener; nil without one, and while this thread tells one: what a
  /// listener causes itself is an event of the process, as it would recurse forever.
  private var listener: ((DeliveryDiagnostic) -> Void)? {
    guard let tell = onDiagnostic, !EventReports.isTelling else { return nil }
    return { diagnostic in EventReports.telling { tell(diagnostic) } }
  }

  /// Tells the proxy's own listener; without one it is an event of the process.
  func diagnose(_ diagnostic: DeliveryDiagnostic) {
    if let tell = listener { return tell(diagnostic) }
    switch diagnostic {
    case .failed(let token, let selector, let error):
      EventReports.report(.failed(selector, token.type.type, error))
    case .unheard(let selector, let error): EventReports.report(.failed(selector, nil, error))
    case .tooLate(let token, let selector):
      EventReports.report(.lostAnswer(selector, token.type, "\(diagnostic)"))
    // Dead targets are reported when they are removed, and unanswered messages when they are sent.
    // The last answer wins by rule.
    case .diedUnreached, .deadTarget, .unanswered, .overruled: break
    }
  }

  /// Tells the proxy's own listener, if there is one.
  func tellListener(_ diagnostic: @autoclosure () -> DeliveryDiagnostic) { listener?(diagnostic()) }

  /// Reports errors of targets that the sender does not get.
  func diagnose(_ failures: some Sequence<TargetList.Failure>, of selector: Selector) {
    for failure in failures {
      guard let (id, identity, type) = failure.target else { continue }
      diagnose(.failed(token(id, of: identity, type), selector, failure.error))
    }
  }

  /// Reports a message without a method in any target, once for each proxy and selector. The name
  /// may be mistyped: an optional message of an adopted protocol is declared, and not reported.
  func diagnoseUnanswered(_ selector: Selector, isError: Bool) {
    if let tell = listener { return tell(.unanswered(selector)) }
    if isError || registrations.read({ $0.settings.asked.contains(selector) }) { return }
    // A message to no target is not noted, because a later target may show that its name is wrong.
    // Read once: those that go meanwhile may declare it.
    let targets = targets
    if targets.isEmpty { return }
    // Noted first, because `methodSignature(for:)` may send the message again.
    let limit = Registrations.Settings.unansweredLimit
    let count = registrations.withLockInPlace { registrations in
      let asked = registrations.settings.asked.count
      return asked <= limit && registrations.settings.asked.insert(selector).inserted
        ? asked + 1 : 0
    }
    if count > limit {
      return EventReports.report(.unansweredNoMore(by: Self.self, count: limit))
    }
    guard count > 0, Self.signature(for: selector, in: targets) == nil,
      methodSignature(for: selector) == nil
    else { return }
    let classes = targets.map { type(of: $0) as AnyClass }
    EventReports.report(.unanswered(selector, by: Self.self, with: classes))
  }

  /// The most registrations of dead targets that one sender removes. If a hundred thousand targets
  /// have died, later senders remove the rest.
  private static let mostPurged = 1 << 14

  /// Removes the registrations of dead targets.
  func purge() {
    var dead = snapshot
    // Checked outside the lock, because a target may be deallocated when it is released. The
    // removal is reported.
    dead.removeAll { $0.isAlive }
    dead.removeLast(max(0, dead.count - Self.mostPurged))
    let gone = change { registrations, list in
      defer { registrations.noteSweep() }
      return registrations.remove(dead, from: list)
    }
    guard let tell = listener else { return Self.reportUnreached(gone) }
    for registration in gone {
      let token = token(of: registration)
      tell(
        registration.wasReached
          ? .deadTarget(token) : .diedUnreached(token, SwiftType(registration.type)))
    }
  }

  /// Reports the targets that died before their first message, with one event for each class: there
  /// may be a million.
  private static func reportUnreached(_ gone: [Registration]) {
    var counts: [ObjectIdentifier: (type: AnyClass, count: Int)] = [:]
    for registration in gone where !registration.wasReached {
      let type: AnyClass = registration.type
      counts[ObjectIdentifier(type), default: (type, 0)].count += 1
    }
    for each in counts.values {
      EventReports.report(.diedUnreached(SwiftType(each.type)), times: each.count)
    }
  }
}

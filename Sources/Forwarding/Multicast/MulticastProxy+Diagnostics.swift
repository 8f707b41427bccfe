/// An error that a target threw, or that kept the message from it.
struct DeliveryFailure {
  let token: MulticastProxy.Token
  let type: AnyClass?
  let error: any Error
}

extension MulticastProxy {
  /// Something worth knowing that no sender gets as an error.
  @nonexhaustive
  public enum Diagnostic: Sendable {
    /// A target was found dead, and its registration removed.
    case deadTarget(Token)
    /// A target of this class was dead before its first message: nobody held it.
    case diedUnreached(Token, SwiftType)
    /// Nobody answered a message.
    case unanswered(Selector)
    /// A target threw, and the sender does not get the error: it had gone on, or gets an earlier one.
    case failed(Token, Selector, any Error)
    /// A message of a face met this error, and the requirement that it was sent for cannot throw.
    case unheard(Selector, any Error)
    /// There are more targets than ``MulticastProxy/expectedTargets``.
    case tooManyTargets(count: Int, limit: Int)
  }

  /// Tells the proxy's own listener; without one it is an event of the process.
  func diagnose(_ diagnostic: Diagnostic, _ target: AnyClass? = nil) {
    if let tell = onDiagnostic {
      tell(diagnostic)
    } else {
      Self.report(diagnostic, target ?? type(of: self))
    }
  }

  /// Tells of errors that the sender does not get.
  func diagnose(_ failures: some Sequence<DeliveryFailure>, of selector: Selector?) {
    guard let selector else { return }
    for failure in failures {
      diagnose(.failed(failure.token, selector, failure.error), failure.type)
    }
  }

  static func report(_ diagnostic: Diagnostic, _ target: AnyClass?) {
    switch diagnostic {
    case .failed(_, let selector, let error):
      ForwardingEvent.report(.failed(selector, target, error))
    case .unheard(let selector, let error):
      ForwardingEvent.report(.failed(selector, target, error))
    case .tooManyTargets(let count, let limit):
      ForwardingEvent.report(.tooManyTargets(count: count, limit: limit))
    // Dead targets are reported where they are removed, and an unanswered message is judged where it is sent.
    case .diedUnreached, .deadTarget, .unanswered: break
    }
  }

  /// Reports a message that has targets, but no method in any of them, once for each proxy and
  /// selector. Its name may be mistyped: an optional message of an adopted protocol is declared,
  /// and not reported.
  func diagnoseUnanswered(_ selector: Selector, isError: Bool) {
    if let tell = onDiagnostic { return tell(.unanswered(selector)) }
    guard !isError, let isLast = note(unanswered: selector) else { return }
    let classes = targets.map { type(of: $0) as AnyClass }
    guard !classes.isEmpty, methodSignature(for: selector) == nil else { return }
    ForwardingEvent.report(
      isLast
        ? .unansweredNoMore(by: Self.self, count: Settings.unansweredLimit)
        : .unanswered(selector, by: Self.self, with: classes))
  }

  /// Notes a selector that is to be reported; nil if it is known, or there are too many. With the first that is one
  /// too many it is reported that no more are.
  private func note(unanswered selector: Selector) -> Bool? {
    knownSettings.withLockInPlace { settings in
      let isLast = settings.unanswered.count == Settings.unansweredLimit
      guard settings.unanswered.count <= Settings.unansweredLimit,
        settings.unanswered.insert(selector).inserted
      else { return nil }
      return isLast
    }
  }

  /// How many registrations of dead targets one sender removes: where a hundred thousand have died, the next ones do the
  /// rest.
  private static let mostPurged = 1 << 14

  /// Removes the registrations of dead targets.
  func purge() {
    // The list goes first: what it has would be copied before it changes.
    var dead = change { _, list in list.all }
    // Looked at outside of the lock, as a target may die when it is let go. The removal reports it.
    dead.removeAll { $0.isAlive }
    dead.removeLast(max(0, dead.count - Self.mostPurged))
    let gone = change { registrations, list in registrations.remove(dead, from: list) }
    guard let tell = onDiagnostic else { return Self.reportUnreached(gone) }
    for registration in gone {
      if !registration.wasMet {
        tell(.diedUnreached(registration.token, SwiftType(registration.type)))
      }
      tell(.deadTarget(registration.token))
    }
  }

  /// Reports those that died before their first message, of each class at once: there may be a million.
  private static func reportUnreached(_ gone: [Registration]) {
    var counts: [(type: AnyClass, count: Int)] = []
    var places: [ObjectIdentifier: Int] = [:]
    var place = 0
    for registration in gone where !registration.wasMet {
      let type: AnyClass = registration.type
      // Most have the class of the one before.
      if counts.isEmpty || counts[place].type != type {
        place = places[ObjectIdentifier(type), default: counts.count]
        if place == counts.count {
          places[ObjectIdentifier(type)] = place
          counts.append((type, 0))
        }
      }
      counts[place].count += 1
    }
    for each in counts {
      ForwardingEvent.report(.diedUnreached(SwiftType(each.type)), times: each.count)
    }
  }
}

extension Registration {
  /// Looks at a target that no delivery has seen yet, so that a target that dies later did not die
  /// unseen.
  func meetTarget() { if !wasMet, object != nil { meet() } }
}

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
    if let tell = onDiagnostic { tell(diagnostic) } else { Self.report(diagnostic, target) }
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
    case .diedUnreached(_, let type):
      ForwardingEvent.report(.diedUnreached(type))
    case .tooManyTargets(let count, let limit):
      ForwardingEvent.report(.tooManyTargets(count: count, limit: limit))
    // Weak targets may die, and an unanswered message is judged where it is sent.
    case .deadTarget, .unanswered: break
    }
  }

  /// Reports a message that has targets, but no method in any of them, once for each proxy and
  /// selector. Its name may be mistyped: an optional message of an adopted protocol is declared,
  /// and not reported.
  func diagnoseUnanswered(_ selector: Selector, isError: Bool) {
    if let tell = onDiagnostic { return tell(.unanswered(selector)) }
    guard !isError, isNew(selector) else { return }
    let classes = targets.map { type(of: $0) as AnyClass }
    guard !classes.isEmpty, methodSignature(for: selector) == nil else { return }
    ForwardingEvent.report(.unanswered(selector, by: Self.self, with: classes))
  }

  /// Whether a selector is reported for the first time.
  func isNew(_ selector: Selector) -> Bool {
    knownSettings.withLockInPlace {
      $0.unanswered.count < 1000 && $0.unanswered.insert(selector).inserted
    }
  }

  /// Removes the registrations of dead targets.
  func purge() {
    // Loaded outside of the lock, as a target may die when it is let go. The removal reports it.
    let dead = snapshot.filter { $0.object == nil }.map(\.token)
    let gone = change { registrations, list in
      dead.flatMap { registrations.remove($0, from: list) }
    }
    for registration in gone {
      if !registration.wasMet {
        diagnose(.diedUnreached(registration.token, SwiftType(registration.type)))
      }
      diagnose(.deadTarget(registration.token))
    }
  }
}

extension Registration {
  /// Looks at a target that no delivery has seen yet, so that a target that dies later did not die
  /// unseen.
  func meetTarget() { if !wasMet, object != nil { meet() } }
}

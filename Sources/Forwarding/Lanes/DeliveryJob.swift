/// A message on its way to another thread: a copy that nobody else touches.
///
/// If it is dropped without having run, its queue went away, and the ticket says so.
final class DeliveryJob: @unchecked Sendable {
  // SAFETY: made by the sender, run once by the receiver, and read by a waiting sender only after
  // the ticket was resolved. What it has of the registration is used once, by the receiver.
  let invocation: Invocation
  let ticket = DeliveryTicket()
  /// The answer, once the ticket says so. Kept apart, as the target may keep the invocation and
  /// change it.
  private(set) var answer: Invocation?

  private let token: MulticastProxy.Token
  private let type: AnyClass
  /// Weak, so that messages that have not begun do not keep a registration from ending.
  private weak var registration: Registration?
  /// One that has ended with this message, which so keeps it alone.
  private var ended: Registration?
  /// Those who wait for the outcome; nil if nobody does, and then the proxy reports an error.
  private let chain: BlockingChain?
  private let proxy: ObjectReference
  /// What the target performs, in place of a method of its own.
  private let visit: Implementation?

  init(
    _ invocation: Invocation, _ registration: Registration, isLast: Bool = false,
    _ visit: Implementation?, for proxy: MulticastProxy, awaitedBy chain: BlockingChain?
  ) {
    self.invocation = invocation
    self.chain = chain
    self.visit = visit
    self.proxy = ObjectReference(proxy, isStrong: false)
    token = registration.token
    type = registration.listed.type
    if isLast { ended = registration } else { self.registration = registration }
  }

  deinit { ticket.resolve(.cancelled) }

  /// Runs, unless somebody who waited has given up.
  func run() {
    guard ticket.outcome == nil else { return }
    let outcome = (chain ?? .nobody).run { self.outcome() }
    let isToldOf = ticket.resolve(outcome) && chain != nil
    if !isToldOf, case .failed(let error) = outcome { report(error) }
  }

  /// Sends the message, and lets the target go before it returns: readers of the outcome may rely
  /// on that.
  private func outcome() -> DeliveryOutcome {
    // Held to the end: a removal that waits waits for this.
    let current = registration.flatMap { $0.listed.isRemoved ? nil : $0 }
    guard let registration = ended.take() ?? current else { return .removed }
    defer { withExtendedLifetime(registration) {} }
    guard let target = registration.listed.object else { return .dead }
    do {
      if let visit {
        try invocation.perform(visit, on: target)
      } else {
        try invocation.send(to: target)
      }
      if chain != nil {
        answer = invocation.isKnownToNobodyElse ? invocation : invocation.answerAlone()
      }
      return .answered
    } catch {
      return DeliveryOutcome(error)
    }
  }

  private func report(_ error: any Error) {
    guard let selector = invocation.selector else { return }
    let diagnostic = MulticastProxy.Diagnostic.failed(token, selector, error)
    if let proxy = proxy.object as? MulticastProxy {
      proxy.diagnose(diagnostic, type)
    } else {
      MulticastProxy.report(diagnostic, type)
    }
  }
}

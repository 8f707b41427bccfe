// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// A call on its way to a lane. It retains neither the target nor the registration.
///
/// A parcel that is deallocated without having run lost its queue: its ticket is resolved as
/// cancelled.
final class Parcel: @unchecked Sendable {
  // SAFETY: the sender creates it, and the receiver alone uses it, once.

  private let call: QueuedCall
  /// Weak, so that calls that have not begun do not keep a registration from ending.
  private let registration: WeakReference<Registration>
  private var claim: Claim
  /// What the sender has of the parcel; nil if it neither waits nor wants a ticket.
  private let ticket: DeliveryTicket?
  /// Ends before the outcome is known, or when the parcel is dropped; nil if no sender counts it.
  private var stay: LaneStay?
  /// Tells of an error of the target.
  private var report: (() -> Void)?

  init(
    _ call: consuming QueuedCall, to registration: Registration, _ claim: consuming Claim = .never,
    _ ticket: consuming DeliveryTicket? = nil
  ) {
    self.registration = WeakReference(registration)
    self.claim = claim
    self.ticket = ticket
    if let message = call.message { stay = message.keeper as? LaneStay }
    self.call = call
    stay?.begin()
  }

  deinit {
    stay?.end()
    ticket?.drop()
  }

  /// Whether the method is `async`, or may be.
  var suspends: Bool { call.suspends }

  /// Sets the task to be cancelled by a waiting sender.
  func attach(_ task: Task<Void, Never>) { ticket?.attach(task) }

  /// Makes the call, unless its sender has cancelled it or missed its deadline.
  func perform() {
    guard ticket?.begin() ?? true else { return }
    conclude((ticket?.chain ?? .nobody).run { outcome() })
  }

  /// Makes the call in a task, and awaits its end.
  nonisolated(nonsending) func performAwaiting() async {
    guard ticket?.begin() ?? true else { return }
    conclude(
      await AwaitedStep.arrive(through: self, from: ticket?.step) { await outcomeAwaiting() })
  }

  private func conclude(_ outcome: DeliveryOutcome) {
    stay.take()?.end()
    let isTold = ticket?.tell(outcome) ?? false
    if !isTold { report?() }
  }

  /// Calls the target. When this returns, nothing here retains the target.
  private func outcome() -> DeliveryOutcome {
    guard let registration = takeRegistration() else { return .removed }
    // Retained to the end: ``MulticastProxy/removeAndWait(_:)-(Token)`` waits for its release.
    return withExtendedLifetime(registration) { end(registration, outcome(of: registration)) }
  }

  /// A separate function, so that the target is released before the registration.
  @inline(never)
  private func outcome(of registration: Registration) -> DeliveryOutcome {
    guard let target = registration.object else { return .dead }
    do {
      guard try call.isAnswered(by: target, of: registration) else { return .noMethod }
      return answered()
    } catch {
      return failed(error)
    }
  }

  /// Calls the target in a task; see ``outcome()``.
  private nonisolated(nonsending) func outcomeAwaiting() async -> DeliveryOutcome {
    let isLast = if case .ended = claim { true } else { false }
    guard let registration = takeRegistration(), suspend(registration, isLast: isLast) else {
      return .removed
    }
    let outcome = end(registration, await outcomeAwaiting(of: registration))
    resume(registration)
    return withExtendedLifetime(registration) { outcome }
  }

  /// A separate function for the same reason as ``outcome(of:)``.
  @inline(never)
  private nonisolated(nonsending) func outcomeAwaiting(
    of registration: Registration
  ) async -> DeliveryOutcome {
    guard let message = call.message else { return outcome(of: registration) }
    guard let target = registration.object else { return .dead }
    do {
      try await message.sendAwaiting(to: target)
      return answered()
    } catch {
      return failed(error)
    }
  }

  private func answered() -> DeliveryOutcome {
    if let message = call.message { ticket?.keepAnswer(of: message) }
    return .answered
  }

  private func failed(_ error: any Error) -> DeliveryOutcome {
    call.message.map { DeliveryOutcome(error, of: $0.call) } ?? DeliveryOutcome(error)
  }

  private func takeRegistration() -> Registration? {
    guard let registration = claimedRegistration() else { return nil }
    // Not added by the sender: the list retains the targets, which end with their proxy.
    if let message = call.message, let list = registration.details?.owner?.targetList {
      message.addToPath(list)
    }
    return registration
  }

  private func claimedRegistration() -> Registration? {
    if case .ended(let registration) = claim {
      claim = .never
      return registration
    }
    guard let registration = registration.object, !registration.isRemoved else { return nil }
    return claim.begins(registration) ? registration : nil
  }

  /// Notes that a method, which may need any actor to end, has the registration. Returns false if the
  /// registration was removed before, unless it ended with this call. Without its proxy, no thread
  /// waits for it.
  private func suspend(_ registration: Registration, isLast: Bool) -> Bool {
    registration.details?.owner?.registrations.withLockInPlace { _ in
      if registration.isRemoved, !isLast { return false }
      registration.details?.suspended += 1
      return true
    } ?? true
  }

  /// Notes that the method has ended.
  private func resume(_ registration: Registration) {
    registration.details?.owner?.registrations.withLockInPlace { _ in
      registration.details?.suspended -= 1
    }
  }

  private func end(_ registration: Registration, _ outcome: DeliveryOutcome) -> DeliveryOutcome {
    claim.settle(registration, outcome)
    if let error = outcome.error { report = registration.report(error, of: call.selector) }
    return outcome
  }
}

extension Registration {
  /// What tells of an error that the sender does not get. It does not retain the registration,
  /// because the listener may wait for its end.
  fileprivate func report(_ error: any Error, of selector: Selector) -> () -> Void {
    guard let proxy = details?.owner else {
      let type = targetType
      return { EventReports.report(.failed(selector, type, error)) }
    }
    let token = proxy.token(of: self)
    return { proxy.diagnose(.failed(token, selector, error)) }
  }
}

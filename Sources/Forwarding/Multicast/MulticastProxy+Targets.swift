// SPDX-License-Identifier: Apache-2.0
public import Invocations

extension MulticastProxy {
  /// The current registrations, in the order of delivery.
  var snapshot: [Registration] { registrations.withLockInPlace { _ in targetList.all } }

  /// The current options of a registration.
  func wishes(of registration: Registration) -> Registration.Wishes {
    registrations.withLockInPlace { _ in registration.wishes }
  }

  func withRegistration<Result>(_ token: ForwardingToken, _ body: (Registration) -> Result)
    -> Result?
  {
    registrations.withLockInPlace { $0.find(token).map(body) }
  }

  /// The number of registrations, including those of dead targets that no delivery has found yet.
  public var registrationCount: Int { registrations.withLockInPlace { $0.count } }

  /// The targets that are alive, in the order of delivery.
  public var targets: [AnyObject] { snapshot.compactMap { $0.object } }

  /// The targets of a class.
  public func targets<Target: AnyObject>(of type: Target.Type) -> [Target] {
    targets.compactMap { $0 as? Target }
  }

  /// The targets that respond to a selector.
  public func targets(respondingTo selector: Selector) -> [AnyObject] {
    targets.filter { Introspection.responds($0, to: selector) }
  }
}

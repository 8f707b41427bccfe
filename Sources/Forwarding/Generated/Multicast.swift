// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// Many objects of one protocol or class: a *multicast delegate*.
///
/// ```swift
/// let savers = Multicast<any Observer>()  // any protocol, or a class
/// savers.add(screen)
/// savers.forEach { $0.didSave() }
/// ```
///
/// Objects are held weakly, unless `strongly` is true; structures and enumerations are held until they
/// are removed. For the class that `@Forwardable` makes, there is also an object of the protocol that
/// forwards to all of them:
///
/// <!-- macros -->
/// ```swift
/// delegates.add(window)
/// delegates.add(journal, on: .mainActor)
/// session.delegate = delegates.proxy
/// delegates.proxy.chat(chat, didReceive: hello)
/// ```
public class Multicast<Subject> {
  /// The proxy that delivers.
  final let forwarder: MulticastProxy
  /// The object of the protocol, if the subject is the class of one.
  @usableFromInline final let front: AnyObject?
  /// The targets, as visits find them.
  @usableFromInline final let list: ProxyTargets

  init(_ untyped: MulticastProxy, _ front: AnyObject?) {
    forwarder = untyped
    self.front = front
    list = ProxyTargets(untyped.targetList, for: Subject.self)
  }

  /// Creates one without targets.
  public convenience init() {
    let untyped = MulticastProxy()
    // Where `Subject` is a type parameter, it may be the class of a proxy.
    let proxy = Subject.self as? any GeneratedProxy.Type
    self.init(untyped, proxy?.init(forwardingTo: untyped))
  }

  // MARK: Adding

  /// Adds a target, behind those of the same or a higher priority. It is called on the sender's
  /// thread.
  ///
  /// - Parameters:
  ///   - strongly: whether an object is retained.
  ///   - priority: targets with higher priorities come first; 0 by default.
  ///   - group: a name for removing several registrations at once.
  ///   - once: whether the registration ends with the first call.
  /// - Returns: what identifies the registration.
  @_disfavoredOverload
  @discardableResult
  public final func add(
    _ target: Subject, strongly: Bool = false, priority: Int? = nil, group: String? = nil,
    once: Bool = false
  ) -> ForwardingToken {
    forwarder.add(
      registered(target).request(
        to: forwarder, strongly: strongly, on: .caller, priority: priority, group: group, once: once
      ))
  }

  /// The targets that are alive, in order.
  @_disfavoredOverload
  public final var targets: [Subject] {
    requireNoProxy()
    return forwarder.snapshot.compactMap { member in member.object.flatMap { subject(member, $0) } }
  }

  private func registered(_ target: Subject) -> RegisteredTarget {
    guard let proxy = Subject.self as? any GeneratedProxy.Type, front != nil else {
      return RegisteredTarget(of: target)
    }
    return RegisteredTarget(of: target, for: proxy)
  }

  /// The target that a member stands for.
  @usableFromInline
  final func subject(_ member: ListedTarget, _ object: AnyObject) -> Subject? {
    if let witnesses = member.witnesses {
      return WitnessRecords.value(of: object, witnesses) as Subject
    }
    return object as? Subject
  }

  /// Ends the program if there is a proxy: its targets are not of the type `Subject`.
  @inlinable
  final func requireNoProxy() { if front != nil { refuseProxy() } }

  @usableFromInline
  @inline(never)
  final func refuseProxy() -> Never {
    fatalError(
      "Multicast<\(Subject.self)> has targets of the proxy's protocol; constrain this generic code with "
        + "'where \(Subject.self): GeneratedProxy'")
  }
}

extension Multicast: TargetRegistry {
  public final var _registry: _Registry { _Registry(proxy: forwarder, isTyped: front != nil) }
}

extension Multicast where Subject: GeneratedProxy {
  /// Creates one without targets.
  public convenience init() { self.init(inFrontOf: MulticastProxy()) }

  convenience init(inFrontOf untyped: MulticastProxy) {
    self.init(untyped, Subject(forwardingTo: untyped))
  }

  /// Creates one in front of a proxy.
  ///
  /// - Safety: the proxy gives its targets to any thread. Where the protocol is not `Sendable`, no
  ///   other thread may use it.
  @unsafe
  public convenience init(_ untyped: MulticastProxy) { self.init(inFrontOf: untyped) }

  /// The proxy that delivers. It may also have targets that were added to it directly, and answer the
  /// same selectors.
  ///
  /// - Safety: the proxy gives its targets to any thread. Where the protocol is not `Sendable`, no
  ///   other thread may use it.
  @unsafe
  public final var untyped: MulticastProxy { forwarder }

  /// The object of the protocol. It retains the proxy, so it may outlive this object.
  @inlinable
  public final var proxy: Subject {
    // Lends the object: a getter would retain it.
    _read { yield KnownClass.object(front, as: Subject.self) }
  }

  /// Adds a target that is called on the sender's thread. The other parameters are those of
  /// ``MulticastProxy/add(_:strongly:on:priority:group:once:)``.
  @discardableResult
  public final func add(
    _ target: Subject.__Target, strongly: Bool = false, priority: Int? = nil, group: String? = nil,
    once: Bool = false
  ) -> ForwardingToken {
    add(
      unchecked: target, strongly: strongly, on: .caller, priority: priority, group: group,
      once: once)
  }

  /// Adds a target with a lane, without a check that its class and the values of its messages may
  /// be used on the thread of the lane. The caller vouches for that, for instance for an object
  /// that only its queue uses.
  ///
  /// The lane cannot return the result of a requirement that is not awaited: the target runs, and
  /// its result is ignored.
  @discardableResult
  public final func add(
    unchecked target: Subject.__Target, strongly: Bool = false, on lane: DeliveryLane,
    priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> ForwardingToken {
    forwarder.add(
      RegisteredTarget(target, of: Subject.self).request(
        to: forwarder, strongly: strongly, on: lane, priority: priority, group: group, once: once))
  }

  /// Adds a closure for one requirement, in place of a target.
  ///
  /// ```
  /// let token = delegates.on(\.chatDidReceive) { chat, message in print(message.text) }
  /// token.remove()
  /// ```
  ///
  /// The closure is kept until its token removes it, and runs on the sender's thread. A requirement
  /// that it has a result for gets the closure's answer.
  ///
  /// - Parameters:
  ///   - requirement: the name of the requirement among ``messages``.
  ///   - priority: targets with higher priorities are called first; 0 by default.
  ///   - group: a name for removing several registrations at once.
  ///   - once: whether the registration ends with its first message.
  ///   - body: what the requirement runs.
  /// - Precondition: The requirement is not `async`.
  @discardableResult
  public final func on<Result, each Argument>(
    _ requirement: KeyPath<Subject.__Messages, Requirement<Result, repeat each Argument>>,
    priority: Int? = nil, group: String? = nil, once: Bool = false,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) -> ForwardingToken {
    let requirement = Subject.__Messages()[keyPath: requirement]
    let target = ClosureTarget()
    do throws(InvocationError) {
      try target.register(requirement.selector) { (arguments: repeat each Argument) in
        try body(repeat each arguments)
      }
    } catch {
      fatalError("'\(requirement.selector)' cannot be answered by a closure: \(error)")
    }
    return forwarder.add(target, strongly: true, priority: priority, group: group, once: once)
  }

  /// The targets that are alive and conform to the protocol, in the order of delivery. A proxy that
  /// was added as a target is returned as another proxy in front of the same untyped one.
  public final var targets: [Subject.__Target] {
    forwarder.targets.compactMap { Subject.__found($0) }
  }
}

// Where a value crosses to another thread, the compiler checks that it is Sendable. Where it cannot, the argument
// label `unchecked` shows that the caller vouches for it.
extension Multicast where Subject: GeneratedProxy, Subject.__Values: Sendable {
  /// Adds a target with a lane, in the way of
  /// ``MulticastProxy/add(_:strongly:on:priority:group:once:)``. The target and all values of the
  /// protocol are `Sendable`.
  @discardableResult
  public final func add(
    _ target: Subject.__SendableTarget, strongly: Bool = false, on lane: DeliveryLane,
    priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> ForwardingToken {
    add(
      unchecked: Subject.__target(target), strongly: strongly, on: lane, priority: priority,
      group: group, once: once)
  }
}

extension Multicast where Subject: GeneratedProxy & Sendable {
  /// Creates one in front of a proxy.
  public convenience init(_ untyped: MulticastProxy) { self.init(inFrontOf: untyped) }

  /// The proxy that delivers. It may also have targets that were added to it directly, and answer the
  /// same selectors.
  public final var untyped: MulticastProxy { forwarder }
}

// SAFETY: its stored properties are the proxy, the untyped one, which is thread-safe, and what they own.
extension Multicast: @unchecked Sendable where Subject: Sendable {}

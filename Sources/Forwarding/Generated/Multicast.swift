// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// Many objects of one protocol or class: a *multicast delegate*.
///
/// ```
/// let delegates = Multicast<any ChatDelegate>()            // any protocol, or a class
/// delegates.add(screen)                                    // weak; nothing but a ChatDelegate compiles
/// delegates.forEach { $0.chat(chat, didReceive: text) }    // everyone is told, in order
/// ```
///
/// For the class that `@Forwardable` makes, there is also an object of the protocol that forwards to
/// all of them:
///
/// ```
/// let delegates = Multicast<ChatDelegateProxy>()
/// delegates.add(screen)
/// delegates.add(logger, on: .queue(background))
/// session.delegate = delegates.proxy            // for any API that takes a ChatDelegate
/// delegates.proxy.chat(chat, didReceive: text)  // everyone is told, in order
/// ```
///
/// Objects are held weakly, unless `strongly` is true; structures and enumerations are held until they
/// are removed.
///
/// ```swift
/// func both<Proxy: GeneratedProxy>(_ one: Proxy.__Target, _ other: Proxy.__Target) -> Multicast<Proxy> {
///   let both = Multicast<Proxy>()
///   both.add(one)
///   both.add(other, priority: 1)
///   return both
/// }
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

  /// The targets that are alive and conform to the protocol, in the order of delivery. A proxy that
  /// was added as a target is returned as another proxy in front of the same untyped one.
  public final var targets: [Subject.__Target] {
    forwarder.targets.compactMap { Subject.__found($0) }
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

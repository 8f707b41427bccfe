/// One requirement of a protocol, as a message: what a face sends, and the methods of its targets answer.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// let everyone = MulticastProxy()
/// var delivery = FaceDelivery(to: everyone)
/// try FaceMessage.send(close, 5, through: &delivery)
/// ```
public final class Requirement<Result, each Argument>: Sendable {
  /// The message's name.
  public let selector: Selector
  @usableFromInline package let prepared: PreparedMessage?
  /// Whether the values of a call may go to another thread without a closer look.
  public let travels: Bool
  /// Why there is no message: a type of the protocol's describes itself wrongly.
  private let refusal: InvocationError?

  /// Makes the message of a requirement.
  public init(_ selector: Selector) {
    self.selector = selector
    do throws(InvocationError) {
      let prepared = try Message<Result, repeat each Argument>(selector).prepared
      self.prepared = prepared
      travels = prepared.plan.travels
      refusal = nil
    } catch {
      prepared = nil
      travels = false
      refusal = error
    }
  }

  @usableFromInline var missing: InvocationError { refusal ?? .selectorNotSet }

  /// The message; throws if its types cannot be passed.
  @usableFromInline
  package var checked: Message<Result, repeat each Argument> {
    get throws(InvocationError) {
      guard let prepared else { throw missing }
      return Message(selector, prepared)
    }
  }
}

/// The requirements of generic faces, by the types of the faces: such a class has no constants.
private let knownRequirements = Guarded<[KnownRequirement: AnyObject]>([:])

private struct KnownRequirement: Hashable {
  let face: ObjectIdentifier
  let selector: Selector
}

extension Requirement {
  /// The message of a requirement of a generic face: the same one each time.
  public static func known(_ selector: Selector, of face: AnyClass) -> Requirement {
    let key = KnownRequirement(face: ObjectIdentifier(face), selector: selector)
    if let known = knownRequirements.read({ $0[key] }) as? Requirement { return known }
    let made = Requirement(selector)
    return knownRequirements.withLockInPlace { known in
      if let first = known[key] as? Requirement { return first }
      known[key] = made
      return made
    }
  }
}

extension ForwardingProxy {
  /// Tells of an error of a target that met a sender who cannot throw.
  @usableFromInline
  @inline(never)
  func report(unheard error: any Error, _ selector: Selector) {
    if let proxy = self as? MulticastProxy { return proxy.diagnose(.unheard(selector, error)) }
    // What is behind the face: a journal, say, which has no target to name.
    ForwardingEvent.report(.failed(selector, type(of: self), error))
  }
}

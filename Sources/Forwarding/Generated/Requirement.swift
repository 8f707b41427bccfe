// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// One requirement of a protocol as a message: a proxy sends it, and the methods of its targets
/// answer it.
///
/// Only the code that `@Forwardable` writes makes one.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// let everyone = MulticastProxy()
/// var delivery = ProxyDelivery(to: everyone)
/// try _ProxyMessage.send(close, 5, through: &delivery)
/// ```
public final class Requirement<Result, each Argument>: Sendable {
  /// The selector of the message.
  public let selector: Selector
  @usableFromInline package let prepared: PreparedMessage?
  /// Whether the values of a call may be handed to another thread without a further check.
  public let __travels: Bool
  /// The reason why the message cannot be sent: a type of the requirement has an invalid encoding.
  private let refusal: InvocationError?

  /// Creates the message of a requirement.
  ///
  /// - Parameters:
  ///   - name: the requirement and its protocol, such as `ChatDelegate.chat(_:upload:)`, for errors.
  ///   - proxy: the proxy of the protocol.
  ///   - combine: makes one answer of two.
  public init(
    _ selector: Selector, name: String? = nil, of proxy: AnyClass? = nil,
    combine: (@Sendable (Result, Result) -> Result)? = nil
  ) {
    self.selector = selector
    if let name { RequirementNames.note(name, for: selector) }
    do throws(InvocationError) {
      let prepared = try Message<Result, repeat each Argument>(selector).prepared
      self.prepared = prepared
      if let combine, let proxy {
        AnswerCombiner.note(combine, for: selector, prepared, of: proxy)
      }
      __travels = prepared.plan.travels
      refusal = nil
    } catch {
      prepared = nil
      __travels = false
      refusal = error
    }
  }

  @usableFromInline var missing: InvocationError { refusal ?? .selectorNotSet }

  /// The message, with its types checked.
  ///
  /// - Throws: an ``InvocationError`` if the types cannot be passed.
  @usableFromInline
  package var checked: Message<Result, repeat each Argument> {
    get throws(InvocationError) {
      guard let prepared else { throw missing }
      return Message(selector, prepared)
    }
  }
}

/// The types of what a requirement carries: `Sendable` if all are.
@_documentation(visibility: internal)
@frozen
public struct _RequirementValues<each Value> {
  /// Makes a value, which has nothing in it.
  public init() {}
}

extension _RequirementValues: Sendable where repeat each Value: Sendable {}

/// The requirements of generic proxies, by the types of the proxies: such a class has no constants.
private let knownRequirements = Guarded<[ObjectIdentifier: [Selector: AnyObject]]>([:])

extension Requirement {
  /// Returns the message of a generic proxy's requirement. All calls for the same proxy return the
  /// same object.
  public static func __known(
    _ selector: Selector, of proxy: AnyClass, name: String? = nil,
    combine: (@Sendable (Result, Result) -> Result)? = nil
  ) -> Requirement {
    let key = ObjectIdentifier(proxy)
    if let known = knownRequirements.read({ $0[key]?[selector] }) as? Requirement { return known }
    let made = Requirement(selector, name: name, of: proxy, combine: combine)
    return knownRequirements.withLockInPlace { known in
      if let first = known[key]?[selector] as? Requirement { return first }
      known[key, default: [:]][selector] = made
      return made
    }
  }
}

extension ForwardingProxy {
  /// Reports the error of a target to the proxy, because the requirement cannot throw it.
  @usableFromInline
  @inline(never)
  func report(unheard error: any Error, _ selector: Selector) {
    if let untyped = self as? MulticastProxy { return untyped.diagnose(.unheard(selector, error)) }
    // The sender has the answer that the protocol gives for exactly this.
    if case ForwardingError.nobodyAnswered(selector) = error { return }
    // Another proxy, such as a journal, has no target to name.
    EventReports.report(.failed(selector, type(of: self), error))
  }
}

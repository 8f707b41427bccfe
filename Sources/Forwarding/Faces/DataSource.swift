// SPDX-License-Identifier: Apache-2.0
/// Objects of one protocol that answer questions, and an object of the protocol that asks them in
/// order.
///
/// ```
/// let source = DataSource<TableSourceProxy>()
/// source.add(contacts)
/// source.fallback = empty
/// table.source = source.face  // the first who answers is asked
/// ```
///
/// If neither a target nor the fallback answers, a requirement returns its `@Otherwise` value or
/// nil, or throws.
///
/// ```swift
/// func ask<Face: ForwardingFace>(_ one: Face.__Target, or other: Face.__Target) -> Face {
///   let source = DataSource<Face>()
///   source.add(one)
///   source.fallback = other
///   return source.face
/// }
/// ```
public final class DataSource<Face: ForwardingFace>: Multicast<Face> {
  /// Creates one without targets.
  public init() {
    let proxy = MulticastProxy(asksOne: true)
    let face = Face(forwardingTo: proxy)
    super.init(proxy, face, face.__forwarder.targets)
  }

  /// The target that is asked after all others, whatever their priorities. It is held weakly.
  public var fallback: Face.__Target? {
    get { forwarder.fallback.flatMap { Face.__found($0) } }
    set { setFallback(newValue) }
  }

  /// Sets the target that is asked after all others. It is held weakly unless `strongly` is true.
  public func setFallback(_ target: Face.__Target?, strongly: Bool = false) {
    guard let target else { return forwarder.removeFallback() }
    var request = RegisteredTarget(target, of: Face.self).request(
      to: forwarder, strongly: strongly, on: .caller, priority: nil)
    request.isFallback = true
    forwarder.add(request)
  }
}

// SAFETY: the same holds as for `Multicast`.
extension DataSource: @unchecked Sendable where Face: Sendable {}

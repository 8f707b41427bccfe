// SPDX-License-Identifier: Apache-2.0
/// Objects of one protocol that answer questions, and an object of the protocol that asks them in
/// order.
///
/// ```
/// let source = DataSource<TableSourceProxy>()
/// source.add(contacts)
/// source.setFallback(empty)
/// table.source = source.face  // the first who answers is asked
/// ```
///
/// If neither a target nor the fallback answers, a requirement returns its `@Otherwise` value or
/// nil, or throws. A data source is a ``Multicast`` with a ``DataSourceProxy``:
///
/// ```swift
/// func ask<Face: ForwardingFace>(_ one: Face.__Target, or other: Face.__Target) -> Face {
///   let source = DataSource<Face>()
///   source.add(one)
///   source.setFallback(other)
///   return source.face
/// }
/// ```
public final class DataSource<Face: ForwardingFace>: Multicast<Face> {
  private let source: DataSourceProxy

  /// Creates one without targets, in front of a proxy.
  public init(_ proxy: DataSourceProxy = DataSourceProxy()) {
    source = proxy
    let face = Face(forwardingTo: proxy)
    super.init(proxy, face, face.__forwarder.targets)
  }

  /// The proxy that asks the targets. It may also have targets that were added to it directly, and
  /// answer the same selectors.
  public override var proxy: DataSourceProxy { source }

  /// The object that is asked when no target answers, if it conforms to the protocol.
  public var fallback: Face.__Target? {
    source.fallback.flatMap { Face.__found($0) }
  }

  /// Sets the object that is asked when no target answers. It is held weakly unless `strongly` is
  /// true.
  public func setFallback(_ target: Face.__Target?, strongly: Bool = false) {
    guard let target else { return source.setFallback(nil) }
    let object = Face.__receiver(of: target)
    source.setFallback(object, strongly: strongly || Face.__isBox(object))
  }
}

// SAFETY: the same holds as for `Multicast`.
extension DataSource: @unchecked Sendable where Face: Sendable {}

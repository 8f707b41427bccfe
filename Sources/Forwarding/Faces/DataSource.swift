/// Objects of one protocol that are asked for things, and an object of the protocol that asks them.
///
/// ```
/// let source = DataSource<TableSourceProxy>()
/// source.add(contacts)
/// source.setFallback(empty)
/// table.source = source.face  // the first who answers is asked
/// ```
///
/// Where neither a target nor the fallback answers, a question gets what its requirement says: `@Otherwise`, nil,
/// or an error. That is a ``Multicast`` with a ``DataSourceProxy`` behind it:
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

  /// Makes one that asks nobody yet, in front of a proxy.
  public init(_ proxy: DataSourceProxy = DataSourceProxy()) {
    source = proxy
    super.init(proxy)
  }

  /// The proxy that asks. It may have other targets as well, which answer the same selectors.
  public override var proxy: DataSourceProxy { source }

  /// The object that is asked when no target answers, if it conforms to the protocol.
  public var fallback: Face.__Target? {
    source.fallback.flatMap { Face.__found($0) }
  }

  /// Sets the object that is asked when no target answers; held weakly unless told otherwise.
  public func setFallback(_ target: Face.__Target?, strongly: Bool = false) {
    guard let target else { return source.setFallback(nil) }
    let object = Face.__receiver(of: target)
    source.setFallback(object, strongly: strongly || Face.__isBox(object))
  }
}

// SAFETY: as of `Multicast`.
extension DataSource: @unchecked Sendable where Face: Sendable {}

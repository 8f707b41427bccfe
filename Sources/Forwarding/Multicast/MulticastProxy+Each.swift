// SPDX-License-Identifier: Apache-2.0
extension MulticastProxy {
  /// Calls `body` with every target of a Swift type, in the lane and order of the target.
  ///
  /// ```swift
  /// observers.each((any DownloadObserver).self) { $0.didFinish(file) }
  /// ```
  ///
  /// Targets of other types are skipped.
  ///
  /// - Throws: the first error of `body`, after all targets were visited. Other errors are
  ///   diagnostics, and so are those on queues.
  public func each<Target>(
    _ type: Target.Type, _ body: @escaping @Sendable (Target) throws -> Void
  ) throws {
    try visitEach(Visit(body))
  }

  /// Calls a `body` that cannot throw with every target of a Swift type.
  public func each<Target>(
    _ type: Target.Type, _ body: @escaping @Sendable (Target) -> Void
  ) {
    // The signature is a constant, so it is not refused. If a lane refuses, that is an event.
    do {
      try visitEach(Visit(body))
    } catch {
      EventReports.report(.failed("each", Swift.type(of: self), error))
    }
  }

  private func visitEach(_ visit: Visit) throws {
    let call = try Invocation(visit.method.signature, selector: "each")
    let report = try deliver(call, performing: visit) { _ in .next }
    try throwFirst(report, of: call)
  }
}

/// A closure that is performed on the targets of one Swift type, instead of a method.
struct Visit: Sendable {
  let method: Implementation
  let accepts: @Sendable (AnyObject) -> Bool

  init<Target>(_ body: @escaping @Sendable (Target) throws -> Void) throws {
    method = try Implementation(MethodSignature(method: "v@:")) { call in
      if let target = call.target as? Target { try body(target) }
    }
    accepts = { $0 is Target }
  }
}

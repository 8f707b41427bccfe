extension MulticastProxy {
  /// Runs `body` with every target that is of a Swift type, in the target's own lane and order.
  ///
  /// ```swift
  /// observers.each((any DownloadObserver).self) { $0.didFinish(file) }
  /// ```
  ///
  /// Targets of other types are left out. If `body` throws for some, all others are called first;
  /// then the first error is thrown, and the others are diagnostics, as are those of queues.
  public func each<Target>(
    _ type: Target.Type, _ body: @escaping @Sendable (Target) throws -> Void
  ) throws {
    try visitEach(Visit(body))
  }

  /// Runs a `body` that cannot throw.
  public func each<Target>(
    _ type: Target.Type, _ body: @escaping @Sendable (Target) -> Void
  ) {
    // The signature is spelled by this package, so nothing is refused; a lane's refusal is an event.
    do {
      try visitEach(Visit(body))
    } catch {
      ForwardingEvent.report(.failed("each", Swift.type(of: self), error))
    }
  }

  private func visitEach(_ visit: Visit) throws {
    let call = try Invocation(visit.method.signature, selector: "each")
    let report = try deliver(call, performing: visit) { _ in .next }
    try throwFirst(report, of: call)
  }
}

/// What is done with the targets of one Swift type, in place of a method of theirs.
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

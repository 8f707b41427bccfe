// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// Makes bodies that take their arguments from a frame, from closures over any types.
@usableFromInline
package enum AnyBody {
  /// A body that reads its arguments from argument `first` on, and writes a result.
  @inlinable
  static func returning<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    { frame in
      var cursor = PlaceCursor(fitted.plan, fitted.arguments, frame, fitted.first)
      let value = try body(repeat try cursor.next((each Argument).self))
      try unsafe fitted.result.store(value, in: frame.result(of: fitted.plan))
    }
  }

  /// A method's body.
  ///
  /// - Safety: the closure must be safe to share between threads.
  @inlinable @unsafe
  static func returning<
    Receiver: AnyObject, Value, each Argument
  >(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    method body: @escaping (Receiver, repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    nonisolated(unsafe) let body = body
    let type = ObjectIdentifier(Receiver.self)
    let receiver = unsafe Int(fitted.plan.facts.pointee.receiver_offset)
    if let layout = TupleLayout(fitted), layout.isWords {
      return { frame in
        let arguments = layout.load(as: (repeat each Argument).self, from: frame)
        let value = try unsafe SwiftBody.withReceiver(
          at: receiver, frame, exactly: type
        ) {
          (receiver: Receiver) in
          try unsafe body(receiver, repeat each arguments)
        }
        try unsafe fitted.result.store(value, in: frame.result(of: fitted.plan))
      }
    }
    return { frame in
      var cursor = PlaceCursor(fitted.plan, fitted.arguments, frame, fitted.first)
      let value = try unsafe SwiftBody.withReceiver(at: receiver, frame, exactly: type) {
        (receiver: Receiver) in
        try unsafe body(receiver, repeat try cursor.next((each Argument).self))
      }
      try unsafe fitted.result.store(value, in: frame.result(of: fitted.plan))
    }
  }
}

/// Iterates over the arguments of a frame, left to right, and reads each as its place says.
@usableFromInline
@frozen
struct PlaceCursor {
  @usableFromInline let plan: CallPlan
  @usableFromInline let places: [TypedPlace]
  @usableFromInline let frame: FrameReference
  @usableFromInline let first: Int
  @usableFromInline var next = 0

  @inlinable
  init(_ plan: CallPlan, _ places: [TypedPlace], _ frame: FrameReference, _ first: Int) {
    self.plan = plan
    self.places = places
    self.frame = frame
    self.first = first
  }

  @inlinable
  @inline(__always)
  mutating func next<Value>(_ type: Value.Type) throws(InvocationError) -> Value {
    defer { next += 1 }
    return try unsafe places[next].load(as: type, from: frame.argument(first + next, of: plan))
  }
}

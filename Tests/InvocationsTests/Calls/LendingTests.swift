// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing
import TypeEncodings

private final class Host: CallObject {}

/// Hands each invocation that it is lent to a borrower.
private final class Keeper: MessageForwarding {
  let borrow: @Sendable (Invocation) -> Void
  init(_ borrow: @escaping @Sendable (Invocation) -> Void) { self.borrow = borrow }
  func methodSignature(for selector: Selector) -> MethodSignature? {
    try? MethodSignature("v@:@*")
  }
  func forward(_ invocation: Invocation) { borrow(invocation) }
}

/// Who lends an invocation, with an object and a text that end when its call returns.
private enum Lender: CaseIterable {
  case callback, messageCallback, method, message

  /// The number of methods so far: each has its own selector, because tests run concurrently.
  private static let count = Atomic(0)

  /// The index of the object; the text follows.
  var index: Int { self == .callback ? 0 : 2 }

  func lend(
    _ text: String, _ census: Census, to borrower: @escaping @Sendable (Invocation) -> Void
  ) throws {
    let number = Self.count.add(1, ordering: .relaxed).newValue
    let selector = try Selector(interning: "lend\(number):text:")
    switch self {
    case .callback:
      callOnce(
        try Callback(MethodSignature(parsing: "v@*")) { call in borrower(call) }, text, census)
    case .messageCallback:
      let keeper = Keeper(borrower)
      callOnce(try Callback(to: keeper, selector: selector, encoding: "v@*"), text, census)
    case .method:
      let method = try Implementation(MethodSignature(parsing: "@@:@*")) { call in
        try call.setResult(Tracked("result", in: census))
        borrower(call)
      }
      MethodTable.of(Host.self).replace(selector, method)
      let call = try Invocation(MethodSignature(parsing: "@@:@*"), selector: selector)
      try call.setArgument(Tracked("watched", in: census), at: 2)
      try call.setArgument(text, at: 3)
      try call.invoke(on: Host())
      MethodTable.of(Host.self).remove(selector)
    case .message:
      let message = try Message<NoResult, Tracked, String>(selector)
      try message(Tracked("watched", in: census), text, on: Keeper(borrower))
    }
  }

  /// Calls a C function with an object and a C string that are released as soon as it returns.
  private func callOnce(_ callback: Callback, _ text: String, _ census: Census) {
    typealias Function = @convention(c) (UnsafeRawPointer, UnsafePointer<CChar>) -> Void
    let object = Tracked("watched", in: census)
    let bytes = strdup(text)!
    callback.pointer.function(as: Function.self)(
      Unmanaged.passUnretained(object).toOpaque(), bytes)
    memset(bytes, 0x7F, strlen(bytes))
    free(bytes)
    withExtendedLifetime((object, callback)) {}
  }
}

@Suite("Lent invocations")
struct LendingTests {
  @Test("an invocation that is retained or copied owns its values", arguments: Lender.allCases)
  private func kept(lender: Lender) throws {
    let census = Census()
    let kept = Guarded<[Invocation]>([])
    for index in 0..<4 {
      try lender.lend("text \(index)", census) { call in
        kept.withLock { $0 += [call, call.copy()] }
      }
    }
    do {
      let calls = kept.withLock { $0 }
      try #require(calls.count == 8)
      #expect(Set(calls.map(ObjectIdentifier.init)).count == 8)
      for (index, call) in calls.enumerated() {
        #expect(try call.argument(at: lender.index, as: Tracked.self).name == "watched")
        #expect(try call.argument(at: lender.index + 1, as: String.self) == "text \(index / 2)")
        switch lender {
        case .callback: #expect(call.target == nil)
        case .method: #expect(call.target is Host)
        // A copy has the receiver that the invocation had while it was forwarded.
        case .messageCallback, .message:
          #expect(index % 2 == 0 ? call.target == nil : call.target is Keeper)
        }
        if lender == .method { #expect(try call.result(as: Tracked.self).name == "result") }
      }
      #expect(census.alive == (lender == .method ? 8 : 4))
    }
    kept.withLock { $0 = [] }
    #expect(census.alive == 0)
  }

  @Test("an invocation that is not retained retains nothing, and ends", arguments: Lender.allCases)
  private func notKept(lender: Lender) throws {
    let census = Census()
    final class Weak { weak var call: Invocation? }
    let weak = Guarded<[Weak]>([])
    let unowned = Guarded<[ObjectReference]>([])
    for round in 0..<6 {
      try lender.lend("borrowed", census) { call in
        let text = try? call.argument(at: lender.index + 1, as: String.self)
        #expect(text == "borrowed" && census.alive > 0)
        // No reference of either kind reaches an invocation that the thread reuses.
        if round % 2 == 0 {
          let reference = Weak()
          reference.call = call
          weak.withLock { $0.append(reference) }
        } else {
          unowned.withLock { $0.append(ObjectReference(call, isStrong: false)) }
        }
      }
      #expect(census.alive == 0)
    }
    #expect(weak.withLock { $0.count { $0.call == nil } } == 3)
    #expect(unowned.withLock { $0.count { $0.object == nil } } == 3)
  }

  @Test("a deinit that reads its invocation does not find its own object")
  func looking() throws {
    let call = try Invocation(parsing: "v@:@")
    nonisolated(unsafe) var found: [AnyObject?] = []
    let looking = { found.append(try? call.object(at: 2)) }
    try call.setArgument(Tracked(atEnd: looking), at: 2)
    try call.setArgument(bytes: [UInt8](repeating: 0, count: 8), at: 2)
    #expect(found.count == 1)
    #expect(found.allSatisfy { $0 == nil })
  }
}

/// Violates the requirement to store itself.
private final class Lazy: CallObject {
  func store(in slot: ValueSlot) throws(InvocationError) {}
}

@Suite("Results of Swift bodies")
struct BodyResultTests {
  @Test("a pointer in place of a C string is not freed, and replaces a result that the body sets")
  func borrowed() async {
    await #expect(processExitsWith: .success) {
      let functions = FunctionTable()
      let literal: StaticString = "a literal"
      let call = try Invocation(parsing: "*")
      nonisolated(unsafe) let captured = call
      try functions.register("twice", encoding: "*") { () -> UnsafePointer<CChar> in
        try captured.setResult("its own")
        return UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
      }
      for retains in [false, true] {
        if retains { call.retainArguments() }
        for _ in 0..<3 {
          #expect(try functions.call("twice", returning: String.self) == "a literal")
          try call.invoke(using: functions.function(named: "twice"))
          #expect(try call.result(as: String.self) == "a literal")
        }
      }
      #expect(try call.copy().result(as: String.self) == "a literal")
    }
  }

  @Test("a value that stores nothing leaves nothing to free")
  func lazy() async {
    await #expect(processExitsWith: .success) {
      let functions = FunctionTable()
      try functions.register("lazy") { () -> Lazy? in Lazy() }
      let call = try functions.invocation(of: "lazy")
      for _ in 0..<3 {
        try call.setResult(Subject("a"))
        try call.invoke(using: functions.function(named: "lazy"))
        #expect(try call.resultObject() == nil)
      }
      let other = try Invocation(parsing: "v@")
      try other.setArgument(Subject("b"), at: 0)
      try other.setArgument(Lazy(), at: 0)
      #expect(try other.object(at: 0) == nil)
    }
  }

  @Test("the first argument of a function is no target, and cannot be replaced while it runs")
  func firstArgument() throws {
    let functions = FunctionTable()
    let call = try Invocation(parsing: "v*")
    nonisolated(unsafe) let captured = call
    try functions.register("read", encoding: "v*") { (_: String) -> Void in
      #expect(throws: InvocationError.argumentInUse(index: 0)) {
        try captured.setArgument("other", at: 0)
      }
    }
    try call.setArgument("text", at: 0)
    try call.invoke(using: functions.function(named: "read"))
    #expect(try call.argument(at: 0) == "text")
  }
}

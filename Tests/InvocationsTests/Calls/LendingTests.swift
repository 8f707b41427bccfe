// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TypeEncodings

@testable import Invocations

/// Reports when it is deallocated.
private final class Watched: CallObject {
  let name = "watched"
}

/// Retains the invocation that it is lent.
private final class Keeper: MessageForwarding {
  var kept: Invocation?
  var copied: Invocation?
  weak var seen: Invocation?
  let keeps: Bool
  let signature: MethodSignature

  init(_ encoding: String, keeps: Bool = true) throws {
    signature = try MethodSignature(parsing: encoding)
    self.keeps = keeps
  }

  func methodSignature(for selector: Selector) -> MethodSignature? { signature }

  func forward(_ invocation: Invocation) {
    seen = invocation
    guard keeps else { return }
    kept = invocation
    copied = invocation.copy()
  }
}

/// Calls a C function with an object and a C string that are released as soon as it returns.
private func callOnce(_ address: UnsafeRawPointer) -> () -> Watched? {
  typealias Function = @convention(c) (UnsafeRawPointer, UnsafePointer<CChar>) -> Void
  let function = unsafeBitCast(address, to: Function.self)
  let object = Watched()
  let text = strdup("borrowed")!
  function(Unmanaged.passUnretained(object).toOpaque(), text)
  memset(text, 0x7F, strlen(text))
  free(text)
  return { [weak object] in object }
}

@Suite("Lent invocations")
struct LendingTests {
  @Test("a retained invocation of a callback retains its object and text")
  func callback() throws {
    nonisolated(unsafe) var kept: [Invocation] = []
    let callback = try Callback(MethodSignature(parsing: "v@*")) { call in
      kept = [call, call.copy()]
    }
    let object = callOnce(callback.address)
    #expect(kept.count == 2)
    for call in kept {
      #expect(try call.argument(at: 0, as: Watched.self).name == "watched")
      #expect(try call.argument(at: 1, as: String.self) == "borrowed")
    }
    kept = []
    #expect(object() == nil)
  }

  @Test("an invocation of a callback that is not retained retains nothing")
  func notKept() throws {
    nonisolated(unsafe) var reads = 0
    let callback = try Callback(MethodSignature(parsing: "v@*")) { call in
      if try call.argument(at: 1, as: String.self) == "borrowed" { reads += 1 }
    }
    for _ in 0..<3 { #expect(callOnce(callback.address)() == nil) }
    #expect(reads == 3)
  }

  @Test("a retained invocation of a message callback retains its object and text, and no target")
  func door() throws {
    let keeper = try Keeper("v@:@*")
    let door = try Callback(to: keeper, selector: "door:text:", encoding: "v@*")
    let object = callOnce(door.address)
    for call in [try #require(keeper.kept), try #require(keeper.copied)] {
      #expect(try call.argument(at: 2, as: Watched.self).name == "watched")
      #expect(try call.argument(at: 3, as: String.self) == "borrowed")
    }
    #expect(keeper.kept?.target == nil)
    keeper.kept = nil
    keeper.copied = nil
    #expect(object() == nil)
  }

  @Test("a retained invocation of a method retains its arguments and result")
  func method() throws {
    nonisolated(unsafe) var kept: Invocation?
    let method = try Implementation(MethodSignature(parsing: "@@:@")) { call in
      try call.setResult(Watched())
      kept = call
    }
    MethodTable.of(Host.self).replace(Selector("keep:"), method)
    weak var argument: Watched?
    weak var result: Watched?
    try autoreleased {
      let object = Watched()
      argument = object
      let call = try Invocation(MethodSignature(parsing: "@@:@"), selector: "keep:")
      try call.setArgument(object, at: 2)
      try call.invoke(on: Host())
      result = try call.result(as: Watched.self)
    }
    #expect(argument != nil)
    #expect(result != nil)
    #expect(try kept?.argument(at: 2, as: Watched.self) === argument)
    #expect(try kept?.result(as: Watched.self) === result)
    #expect(kept?.target is Host)
    kept = nil
    #expect(argument == nil)
  }

  @Test("no weak reference reaches an invocation that the thread reuses")
  func weakly() throws {
    let keeper = try Keeper("v@:@", keeps: false)
    let plan = try CallPlan.shared(for: MethodSignature(parsing: "v@:@"))
    for _ in 0..<3 {
      try plan.withCall { call in
        try call.setFitting(Watched(), Place(of: Watched.self), at: 2)
        try call.send(compared: "seen:", to: keeper)
      }
      #expect(keeper.seen == nil)
    }
  }

  @Test("a deinit that reads its invocation does not find its own object")
  func looking() throws {
    final class Looking: CallObject {
      let call: Invocation
      nonisolated(unsafe) static var found: [AnyObject?] = []
      init(_ call: Invocation) { self.call = call }
      deinit { Self.found.append(try? call.object(at: 2)) }
    }
    let call = try Invocation(parsing: "v@:@")
    try call.setArgument(Looking(call), at: 2)
    try call.setArgument(bytes: [UInt8](repeating: 0, count: 8), at: 2)
    #expect(Looking.found.count == 1)
    #expect(Looking.found.allSatisfy { $0 == nil })
  }

  private final class Host: CallObject {}

  private func autoreleased(_ body: () throws -> Void) rethrows { try body() }
}

@Suite("Results of Swift bodies")
struct BodyResultTests {
  @Test("a pointer returned in place of a C string is not freed")
  func borrowed() async {
    await #expect(processExitsWith: .success) {
      let functions = FunctionTable()
      let literal: StaticString = "a literal"
      try functions.register("v", encoding: "*") { () -> UnsafePointer<CChar> in
        UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
      }
      for _ in 0..<3 {
        #expect(try functions.call("v", returning: String.self) == "a literal")
      }
      let call = try functions.invocation(of: "v")
      call.retainArguments()
      try call.invoke(using: functions.function(named: "v"))
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
}

/// Violates the requirement to store itself.
private final class Lazy: CallObject {
  func store(in slot: ValueSlot) throws(InvocationError) {}
}

@Suite("Invocations that are changed by their callees")
struct ReentrantTests {
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

  @Test("a result that the body sets on its own invocation is replaced by its return value")
  func result() async {
    await #expect(processExitsWith: .success) {
      let functions = FunctionTable()
      let call = try Invocation(parsing: "*")
      nonisolated(unsafe) let captured = call
      let literal: StaticString = "a literal"
      try functions.register("twice", encoding: "*") { () -> UnsafePointer<CChar> in
        try captured.setResult("its own")
        return UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
      }
      for _ in 0..<3 {
        try call.invoke(using: functions.function(named: "twice"))
        #expect(try call.result(as: String.self) == "a literal")
      }
    }
  }
}

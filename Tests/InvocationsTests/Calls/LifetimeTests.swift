// SPDX-License-Identifier: Apache-2.0
import Foundation
import TypeEncodings
import Testing

@testable import Invocations

/// Every test counts live objects, and ends with the number that it began with.
@Suite("No leaks and no double releases", .serialized)
struct LifetimeTests {
  private func balanced(_ body: () throws -> Void) rethrows {
    let before = Tracked.live
    try body()
    #expect(Tracked.live == before)
  }

  @Test("objects are retained on set and released on replacement")
  func objects() throws {
    try balanced {
      let call = try Invocation(parsing: "v@:@@")
      weak var first: Tracked?
      do {
        let object = Tracked()
        first = object
        try call.setArgument(object, at: 2)
        try call.setArgument(object as AnyObject, at: 3)
      }
      #expect(first != nil)
      try call.setArgument(Tracked(), at: 2)
      #expect(first != nil)
      try call.setArgument(nil, at: 3)
      #expect(first == nil)
    }
  }

  @Test("setting the same object again keeps it alive")
  func sameObject() throws {
    try balanced {
      let call = try Invocation(parsing: "v@:@")
      try call.setArgument(Tracked("x"), at: 2)
      for _ in 0..<3 { try call.setArgument(call.argument(at: 2, as: Tracked.self), at: 2) }
      #expect(try call.argument(at: 2, as: Tracked.self).name == "x")
    }
  }

  /// A value whose carrier is read while it is set as an argument, and which sets the same argument
  /// there.
  private struct Meddler: CarriedValue {
    nonisolated(unsafe) static var call: Invocation?
    nonisolated(unsafe) static var refused: InvocationError?
    var carrier: Tracked {
      do throws(InvocationError) { try Self.call?.setArgument(Tracked("other"), at: 2) } catch {
        Self.refused = error
      }
      return Tracked("mine")
    }
    init() {}
    init?(carrier: Tracked) { self.init() }
  }

  @Test("a value that sets its own place while it is set is refused, and nothing leaks")
  func meddling() throws {
    try balanced {
      let call = try Invocation(parsing: "v@:@")
      try call.setArgument(Tracked("old"), at: 2)
      Meddler.call = call
      defer { (Meddler.call, Meddler.refused) = (nil, nil) }
      try call.setArgument(Meddler(), at: 2)
      #expect(Meddler.refused == .argumentInUse(index: 2))
      #expect(try call.argument(at: 2, as: Tracked.self).name == "mine")
    }
  }

  @Test("unretained objects are borrowed until retainArguments, then retained; later ones too")
  func unretained() throws {
    try balanced {
      let call = try Invocation(parsing: "v@:@")
      let object = Tracked()
      let count = CFGetRetainCountLike(object)
      try call.setArgument(unretained: object, at: 2)
      #expect(CFGetRetainCountLike(object) == count)
      call.retainArguments()
      #expect(call.argumentsRetained)
      #expect(CFGetRetainCountLike(object) == count + 1)
      call.retainArguments()
      #expect(CFGetRetainCountLike(object) == count + 1)
      let later = Tracked()
      let laterCount = CFGetRetainCountLike(later)
      try call.setArgument(unretained: later, at: 2)
      #expect(CFGetRetainCountLike(later) == laterCount + 1)
      #expect(CFGetRetainCountLike(object) == count)
    }
  }

  @Test("an invocation can be made without its target, so that it does not retain it")
  func withoutTarget() throws {
    final class Owner {
      var call: Invocation?
      let tracked = Tracked()
    }
    try balanced {
      let owner = Owner()
      let call = try Invocation(parsing: "v@:@")
      try call.setArgument(unretained: owner, at: 0)
      try call.setArgument(unretained: owner.tracked, at: 2)
      call.retainArguments(includingTarget: false)
      #expect(call.argumentsRetained)
      #expect(!call.call.retainsTarget)
      owner.call = call
    }
  }

  @Test("strings are copied, a replaced copy is freed, NULL stays NULL")
  func strings() throws {
    let call = try Invocation(parsing: "v@:*")
    var text = "hello"
    try call.setArgument(text, at: 2)
    text += "!"
    #expect(try call.argument(at: 2, as: String.self) == "hello")
    #expect(throws: InvocationError.embeddedNUL(offset: 2)) { try call.setArgument("ab\0c", at: 2) }
    #expect(try call.argument(at: 2, as: String.self) == "hello")
    try call.setArgument(nil as String?, at: 2)
    call.retainArguments()
    #expect(try call.argument(at: 2, as: String?.self) == nil)
  }

  @Test("a borrowed C string keeps its address; retained, it is a copy, also if it is set later")
  func borrowedStrings() throws {
    let call = try Invocation(parsing: "v@:*")
    try "borrowed".withCString { text in
      try call.setArgument(text, at: 2)
      #expect(try call.argument(at: 2, as: UnsafePointer<CChar>.self) == text)
      call.retainArguments()
      #expect(try call.argument(at: 2, as: UnsafePointer<CChar>.self) != text)
    }
    #expect(try call.argument(at: 2, as: String.self) == "borrowed")
    try "later".withCString { text in
      try call.setArgument(text, at: 2)
      #expect(try call.argument(at: 2, as: UnsafePointer<CChar>.self) != text)
    }
    #expect(try call.argument(at: 2, as: String.self) == "later")
  }

  @Test("the caller sees a callee's change to a borrowed string")
  func loopString() throws {
    let (call, function) = try Fixtures.call("m_loop")
    var text = Array("Hello There".utf8CString)
    try text.withUnsafeMutableBufferPointer { buffer in
      try call.setArgument(buffer.baseAddress, at: 2)
      try call.invoke(using: function)
      #expect(try call.result(as: UnsafeMutablePointer<CChar>.self) == buffer.baseAddress)
    }
    #expect(String(decoding: text.dropLast().map { UInt8($0) }, as: UTF8.self) == "Iello There")
  }

  @Test("the target is retained while it is set, and during its own call")
  func target() throws {
    try balanced {
      try MethodTable.of(Tracked.self).register("name") { (target: Tracked) in target.name }
      let call = try Invocation(MethodSignature("*@:"), selector: "name")
      try call.setTarget(Tracked("kept"))
      try call.invoke()
      #expect(try call.result(as: String.self) == "kept")
      try call.setTarget(nil)
    }
  }

  @Test("the object result of a C function is retained unless it is registered as retained")
  func nativeResults() throws {
    try balanced {
      let (call, function) = try Fixtures.call("m_same")
      var object: Tracked? = Tracked("x")
      try call.setArgument(object!, at: 2)
      try call.invoke(using: function)
      object = nil
      try call.setArgument(nil, at: 2)
      #expect(try call.result(as: Tracked.self).name == "x")
      // A function that returns an unowned reference of the caller.
      let other = Tracked("y")
      try call.setArgument(other, at: 2)
      _ = Unmanaged.passRetained(other)
      try call.invoke(using: function, returnsRetained: true)
      #expect(try call.result(as: Tracked.self) === other)
    }
  }

  @Test("the object result of a Swift body is owned once; so is one that was set")
  func closureResults() throws {
    try balanced {
      let functions = FunctionTable()
      try functions.register("make") { (name: String) in Tracked(name) }
      for _ in 0..<3 {
        #expect(try functions.call("make", "a", returning: Tracked.self).name == "a")
      }
      let call = try functions.invocation(of: "make")
      try call.setArgument("b", at: 0)
      try call.invoke(using: functions.function(named: "make"))
      try call.setResult(Tracked("c"))
      try call.setResult(nil as AnyObject?)
      #expect(try call.resultObject() == nil)
    }
  }

  @Test("a copy retains what the original retains, and each releases its own")
  func copies() throws {
    try balanced {
      var call: Invocation? = try Invocation(parsing: "{R=dddd}@:@*d")
      try call!.setArgument(Tracked("x"), at: 2)
      try call!.setArgument("text", at: 3)
      try call!.setArgument(2.5, at: 4)
      let image = (0..<32).map { UInt8($0) }
      try call!.setResult(bytes: image)
      let copy = call!.copy()
      try call!.setArgument(Tracked("y"), at: 2)
      try call!.setArgument("changed", at: 3)
      call = nil
      #expect(try copy.argument(at: 2, as: Tracked.self).name == "x")
      #expect(try copy.argument(at: 3, as: String.self) == "text")
      #expect(try copy.argument(at: 4, as: Double.self) == 2.5)
      #expect(try copy.resultBytes() == image)
    }
  }

  @Test("the large result of a copy is stored in its own frame")
  func copiedHiddenPointer() throws {
    let (call, function) = try Fixtures.call("m_rectangle")
    let rectangle = [1.0, 2, 3, 4].withUnsafeBytes { Array($0) }
    try call.setArgument(bytes: rectangle, at: 2)
    let copy = call.copy()
    try copy.invoke(using: function)
    #expect(try copy.resultBytes() == rectangle)
    #expect(throws: InvocationError.resultNotAvailable) { try call.resultBytes() }
  }

  /// The retain count as far as it is visible: only differences are meaningful.
  private func CFGetRetainCountLike(_ object: AnyObject) -> Int { _getRetainCountOf(object) }
}

@_silgen_name("swift_retainCount")
private func swiftRetainCount(_: UnsafeMutableRawPointer) -> Int

private func _getRetainCountOf(_ object: AnyObject) -> Int {
  swiftRetainCount(Unmanaged.passUnretained(object).toOpaque())
}

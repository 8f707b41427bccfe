// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing
import TypeEncodings

private typealias Number = @convention(c) (Int) -> Int

/// Carries a value of another layout.
private struct Carrier: CallStructure {
  var first: Int, second: Int
  static var structure: VouchedStructure<Carrier> { unsafe VouchedStructure("{Carrier=qq}") }
}

private struct Carried: CarriedValue {
  var text: String
  init(_ text: String) { self.text = text }
  init?(carrier: Carrier) { text = "\(carrier.first), \(carrier.second)" }
  var carrier: Carrier { Carrier(first: text.count, second: 7) }
}

@Suite("Callbacks: C function pointers to Swift closures")
struct CallbackTests {
  @Test("a value that a structure carries is converted")
  func carried() throws {
    let read = try Callback { (value: Carried) in value.text.count }
    let function = unsafe read.pointer.function(as: (@convention(c) (Int, Int) -> Int).self)
    #expect(function(40, 2) == 5)
    let write = try Callback { (count: Int) in Carried(String(repeating: "a", count: count)) }
    #expect(unsafe write.pointer.function(as: Number.self)(9) == 9)
  }

  @Test(
    "after an error C gets zero, and the handler gets the error, which is released",
    arguments: [false, true])
  func errors(isWide: Bool) throws {
    struct Failure: Error { let witness: Tracked }
    let census = Census()
    let seen = Guarded<[String]>([])
    let note: Callback.ErrorHandler = { error in
      let text = error is Failure ? "Failure" : "\(error)"
      seen.withLock { $0.append(text) }
    }
    let fails =
      isWide
      ? try Callback(onError: note) { (_: Int, _: Int, _: Int, _: Int, _: Int) throws -> Int in
        throw Failure(witness: Tracked(in: census))
      }
      : try Callback(onError: note) { (_: Int) throws -> Int in
        throw Failure(witness: Tracked(in: census))
      }
    for _ in 0..<10 { #expect(unsafe fails.pointer.function(as: Number.self)(1) == 0) }
    #expect(census.died == 10)
    #expect(seen.withLock { $0 } == Array(repeating: "Failure", count: 10))
    // The error of an argument that a closure does not take has its index.
    let takes =
      isWide
      ? try Callback(onError: note) { (_: Double, _: Int, _: UnsafeRawPointer, _: Int, _: Int) in }
      : try Callback(onError: note) { (_: Double, _: Int, _: UnsafeRawPointer) in }
    typealias Function = @convention(c) (Double, Int, UnsafeRawPointer?) -> Void
    unsafe takes.pointer.function(as: Function.self)(1, 2, nil)
    let text = try Callback(onError: note) { (text: String) -> Int in text.count }
    typealias Length = @convention(c) (UnsafePointer<CChar>?) -> Int
    #expect(unsafe text.pointer.function(as: Length.self)(nil) == 0)
    #expect(
      seen.withLock { $0.dropFirst(10) } == [
        "argument 2 is NULL; make the type optional, as in 'UnsafeRawPointer?'",
        "argument 0 is NULL or not UTF-8; use 'String?' for text that may be NULL, and a pointer for "
          + "other bytes",
      ])
  }

  @Test("a result that C would have to free is refused")
  func ownedResults() {
    #expect(throws: InvocationError.ownedResultInCallback(encodingOf("*"))) {
      try Callback { () -> String in "text" }
    }
    #expect(throws: InvocationError.ownedResultInCallback(encodingOf("@"))) {
      try Callback { () -> Subject in Subject() }
    }
    #expect(throws: InvocationError.ownedResultInCallback(encodingOf("@"))) {
      try Callback(MethodSignature("@@:")) { _ in }
    }
  }

  @Test("a Swift closure type is not a C function")
  func wrongFunctionType() throws {
    let callback = try Callback { () -> Void in }
    #expect(throws: InvocationError.notACFunction(SwiftType((() -> Void).self))) {
      try callback.function(as: (() -> Void).self)
    }
  }

  @Test("many threads unknown to Swift call in concurrently")
  func foreignThreads() throws {
    let total = Atomic(0)
    let body = try Callback { (context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? in
      total.add(Int(bitPattern: context), ordering: .relaxed)
      return context
    }
    typealias Start = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    let start = unsafe body.pointer.function(as: Start.self)
    var threads: [pthread_t] = []
    for index in 1...8 {
      var thread = pthread_t()
      #expect(pthread_create(&thread, nil, start, UnsafeMutableRawPointer(bitPattern: index)) == 0)
      threads.append(thread)
    }
    for (index, thread) in threads.enumerated() {
      var result: UnsafeMutableRawPointer?
      pthread_join(thread, &result)
      #expect(Int(bitPattern: result) == index + 1)
    }
    withExtendedLifetime(body) {}
    #expect(total.load(ordering: .relaxed) == 36)
  }
}

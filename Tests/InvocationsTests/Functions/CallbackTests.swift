// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Synchronization
import TypeEncodings
import Testing

@testable import Invocations

@Suite("Callbacks: C function pointers to Swift closures")
struct CallbackTests {
  @Test("a callback works as qsort's comparator")
  func qsortComparator() throws {
    let calls = Guarded(0)
    let compare = try Callback { (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
      calls.withLock { $0 += 1 }
      return a.pointee < b.pointee ? -1 : a.pointee > b.pointee ? 1 : 0
    }
    typealias Comparator = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
    var numbers: [Int32] = (0..<200).map { ($0 &* 7919) % 1009 }
    qsort(&numbers, numbers.count, 4, try compare.function(as: Comparator.self))
    withExtendedLifetime(compare) {}
    #expect(numbers == numbers.sorted())
    #expect(calls.withLock { $0 } > 200)
  }

  @Test("after an error C gets zero, and the error is reported")
  func errors() throws {
    struct Refusal: Error {}
    let seen = Guarded<[String]>([])
    let callback = try Callback(onError: { error in
      seen.withLock { $0.append("\(type(of: error))") }
    }) {
      (_: Int) throws -> Int in throw Refusal()
    }
    #expect(try callback.function(as: (@convention(c) (Int) -> Int).self)(5) == 0)
    let text = try Callback(onError: { error in
      let text = "\(error)"
      seen.withLock { $0.append(text) }
    }) {
      (text: String) -> Int in text.count
    }
    #expect(try text.function(as: (@convention(c) (UnsafePointer<CChar>?) -> Int).self)(nil) == 0)
    #expect(
      seen.withLock { $0 } == ["Refusal", "\(InvocationError.notText(index: 0))"])
    #expect(
      "\(InvocationError.notText(index: 0))"
        == "argument 0 is NULL or not UTF-8; use 'String?' for text that may be NULL, and a pointer for "
        + "other bytes")
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
    let start = try body.function(as: Start.self)
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

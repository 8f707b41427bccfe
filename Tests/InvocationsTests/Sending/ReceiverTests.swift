// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import CForwardingShims
import Foundation
import Testing
import TypeEncodings

@testable import Invocations

private class Animal: CallObject {
  let legs: Int = 4
}

private final class Dog: Animal {}

private final class Stone: CallObject {
  let weight = 1.5
}

/// A C function that takes an animal, and would read a stone as an animal.
private let legs = try! Callback(encoding: "q@:") { (animal: AnyCallObject, _: Selector) -> Int in
  unsafeDowncast(animal.object, to: Animal.self).legs
}

@Suite("Receivers of C functions")
struct ReceiverTests {
  private let selector = Selector("receiverLegs")

  private func call() throws -> Invocation {
    try Invocation(MethodSignature(parsing: "q@:"), selector: "receiverLegs")
  }

  private func register() throws -> Implementation {
    try MethodTable.of(Animal.self).register(
      "receiverLegs", replacing: true, encoding: "q@:", unsafeFunction: legs.address)
    return try #require(MethodTable.of(Animal.self).own(selector))
  }

  @Test("a function table calls a C method only with objects of its class")
  func named() throws {
    let functions = FunctionTable()
    try functions.register("legs", register())
    let wrong = InvocationError.wrongClass(
      expected: SwiftType(Animal.self), given: SwiftType(Stone.self))
    let none = InvocationError.wrongClass(expected: SwiftType(Animal.self), given: nil)
    #expect(try functions.call("legs", AnyCallObject(Dog()), selector, returning: Int.self) == 4)
    let stone = AnyCallObject(Stone())
    #expect(throws: wrong) { try functions.call("legs", stone, selector, returning: Int.self) }
    #expect(throws: wrong) { try functions.call("legs", stone, selector) }
    #expect(throws: wrong) {
      try functions.callCapturingErrno("legs", stone, selector, returning: Int.self)
    }
    #expect(throws: none) {
      try functions.call("legs", AnyCallObject?.none, selector, returning: Int.self)
    }
    let typed = try functions.function("legs", as: ((Stone, Selector) -> Int).self)
    #expect(throws: wrong) { try typed(Stone(), selector) }
  }

  @Test("objects of the class and of its subclasses are accepted")
  func own() throws {
    _ = try register()
    for animal in [Animal(), Dog()] {
      let call = try call()
      for _ in 0..<2 {
        try call.invoke(on: animal)
        #expect(try call.result(as: Int.self) == 4)
      }
    }
  }

  @Test("a function added to another class is refused at every send")
  func added() throws {
    let method = try register()
    final class Pebble: CallObject {}
    let expected = InvocationError.wrongClass(
      expected: SwiftType(Animal.self), given: SwiftType(Pebble.self))
    MethodTable.of(Pebble.self).replace(selector, method)
    let call = try call()
    for _ in 0..<3 { #expect(throws: expected) { try call.invoke(on: Pebble()) } }
  }

  @Test("a function called by hand refuses another class, and nil")
  func byHand() throws {
    let method = try register()
    let call = try call()
    try call.setTarget(Dog())
    try call.invoke(using: method)
    #expect(try call.result(as: Int.self) == 4)
    for (target, given) in [(Stone() as AnyObject?, SwiftType(Stone.self)), (nil, nil)] {
      try call.setTarget(target)
      #expect(throws: InvocationError.wrongClass(expected: SwiftType(Animal.self), given: given)) {
        try call.invoke(using: method)
      }
    }
  }

  @Test("an object's own method may not be a C function of another class")
  func ownMethod() throws {
    final class Pretender: MethodProviding {
      let method: Implementation
      init(_ method: Implementation) { self.method = method }
      func ownMethod(for selector: Selector) -> Implementation? { method }
    }
    let pretender = Pretender(try register())
    #expect(
      throws: InvocationError.wrongClass(
        expected: SwiftType(Animal.self), given: SwiftType(Pretender.self))
    ) {
      try call().invoke(on: pretender)
    }
  }

  @Test("super of a class that the target is not an instance of is refused")
  func foreignSuper() throws {
    _ = try register()
    let call = try call()
    try call.setTarget(Stone())
    #expect(
      throws: InvocationError.wrongClass(
        expected: SwiftType(Dog.self), given: SwiftType(Stone.self))
    ) {
      try call.invokeSuper(of: Dog.self)
    }
    try call.setTarget(Dog())
    try call.invokeSuper(of: Dog.self)
    #expect(try call.result(as: Int.self) == 4)
  }

  @Test("a function that takes any object may be added to any class")
  func anyObject() throws {
    let any = try Callback(encoding: "q@:") { (_: AnyCallObject, _: Selector) -> Int in 7 }
    let method = try Implementation(methodEncoding: "q@:", unsafeFunction: any.address)
    final class Shell: CallObject {}
    MethodTable.of(Shell.self).replace(selector, method)
    let call = try call()
    try call.invoke(on: Shell())
    #expect(try call.result(as: Int.self) == 7)
    MethodTable.of(Shell.self).remove(selector)
  }

  @Test("super forwards if no superclass has the method")
  func forwards() throws {
    class Base {}
    final class Forwarder: Base, MessageForwarding {
      var forwarded: [String] = []
      func methodSignature(for selector: Selector) -> MethodSignature? {
        try? MethodSignature(parsing: "q@:q")
      }
      func forward(_ invocation: Invocation) throws {
        forwarded.append(invocation.selector?.name ?? "")
        try invocation.setResult(invocation.argument(at: 2, as: Int.self) + 1)
      }
    }
    let call = try Invocation(MethodSignature(parsing: "q@:q"), selector: "superForwards:")
    try MethodTable.of(Forwarder.self).register("superForwards:", replacing: true) {
      (_: Forwarder, n: Int) in
      -n
    }
    let target = Forwarder()
    try call.setArgument(41, at: 2)
    try call.setTarget(target)
    try call.invokeSuper(of: Forwarder.self)
    #expect(try call.result(as: Int.self) == 42)
    #expect(target.forwarded == ["superForwards:"])
    try call.invoke()
    #expect(try call.result(as: Int.self) == -41)
  }

  @Test(
    "super of an object that does not forward is unrecognized, with the superclass in the error")
  func unrecognized() throws {
    let call = try Invocation(MethodSignature(parsing: "v@:"), selector: "superUnknown")
    try call.setTarget(Dog())
    #expect(
      throws: InvocationError.unrecognizedSelector(
        "superUnknown", type: SwiftType(Animal.self), nearest: nil)
    ) { try call.invokeSuper(of: Dog.self) }
  }
}

@Suite("Unowned addresses are interchangeable")
struct AddressTests {
  private final class Reader: CallObject {}

  @Test(
    "a method with a Swift pointer accepts any pointee type of the sender",
    arguments: ["^v", "^i", "^*", "^?", "@?", "^{list=^{list}i}", "[4i]", "r^i"])
  func argument(type: String) throws {
    try MethodTable.of(Reader.self).register("readAddress:", replacing: true) {
      (_: Reader, pointer: UnsafePointer<Int32>?) in pointer?.pointee ?? -1
    }
    var number: Int32 = 42
    try withUnsafePointer(to: &number) { pointer in
      let call = try Invocation(MethodSignature(parsing: "i@:" + type), selector: "readAddress:")
      #expect(call.methodSignature.description == "i@:" + type)
      try call.setArgument(pointer, at: 2)
      for _ in 0..<2 {
        try call.invoke(on: Reader())
        #expect(try call.result(as: Int32.self) == 42)
      }
    }
  }

  @Test("a result may be any pointer as well")
  func result() throws {
    try MethodTable.of(Reader.self).register("giveAddress", replacing: true) { (_: Reader) in
      UnsafeRawPointer(bitPattern: 4096)
    }
    let call = try Invocation(MethodSignature(parsing: "^{list=i}@:"), selector: "giveAddress")
    try call.invoke(on: Reader())
    #expect(try call.result(as: UnsafeRawPointer.self) == UnsafeRawPointer(bitPattern: 4096))
  }

  @Test("plans of different pointers are distinct, and have one identity")
  func plans() throws {
    let one = try CallPlan.shared(for: MethodSignature(parsing: "v@:^i"))
    let other = try CallPlan.shared(for: MethodSignature(parsing: "v@:^v"))
    #expect(one !== other)
    #expect(one.isInterchangeable(with: other))
    #expect(one.facts.pointee.identity == other.facts.pointee.identity)
  }

  @Test(
    "text, objects, classes, selectors and members of structures are not interchangeable",
    arguments: ["*", "@", "#", ":", "{box=^i}", "q"])
  func owned(type: String) throws {
    let pointer = try CallPlan.shared(for: MethodSignature(parsing: "v@:^v"))
    let other = try CallPlan.shared(for: MethodSignature(parsing: "v@:" + type))
    #expect(!pointer.isInterchangeable(with: other))
  }

  @Test("a method with a pointer can be registered for text by an encoding")
  func text() throws {
    try MethodTable.of(Reader.self).register("length:", replacing: true, encoding: "q@:*") {
      (_: Reader, text: UnsafePointer<CChar>) in strlen(text)
    }
    let call = try Invocation(MethodSignature(parsing: "q@:*"), selector: "length:")
    try call.setArgument("four", at: 2)
    try call.invoke(on: Reader())
    #expect(try call.result(as: Int.self) == 4)
  }

  @Test("a message callback to an object with other types is refused when it is made")
  func door() throws {
    try MethodTable.of(Reader.self).register("doorTypes:", replacing: true) {
      (_: Reader, _: Double) in
    }
    #expect(
      throws: InvocationError.signatureMismatch(
        name: "doorTypes:", expected: signatureOf("v@:d"), given: signatureOf("v@:i"))
    ) { _ = try Callback(to: Reader(), selector: "doorTypes:", encoding: "vi") }
    _ = try Callback(to: Reader(), selector: "doorTypes:", encoding: "v^vd", skipping: 1)
  }
}

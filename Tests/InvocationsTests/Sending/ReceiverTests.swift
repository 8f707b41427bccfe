// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

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

  private func call(on target: AnyObject? = nil) throws -> Invocation {
    let call = try Invocation(MethodSignature(parsing: "q@:"), selector: selector)
    try call.setTarget(target)
    return call
  }

  private func register() throws -> Implementation {
    try MethodTable.of(Animal.self).register(
      selector, replacing: true, encoding: "q@:", unsafeFunction: legs.address)
    return try #require(MethodTable.of(Animal.self).own(selector))
  }

  private func wrong(_ given: AnyClass?, expected: AnyClass = Animal.self) -> InvocationError {
    .wrongClass(expected: SwiftType(expected), given: given.map { SwiftType($0) })
  }

  @Test("a C method is called with objects of its class and its subclasses, whoever calls it")
  func accepted() throws {
    let method = try register()
    let functions = FunctionTable()
    try functions.register("legs", method)
    for animal in [Animal(), Dog()] {
      let call = try call(on: animal)
      for round in 0..<3 {
        try round == 0 ? call.invoke(using: method) : call.invoke()
        #expect(try call.result(as: Int.self) == 4)
      }
      let any = AnyCallObject(animal)
      #expect(try functions.call("legs", any, selector, returning: Int.self) == 4)
    }
    let call = try call(on: Dog())
    try call.invokeSuper(of: Dog.self)
    #expect(try call.result(as: Int.self) == 4)
    // A function that takes any object may be added to any class.
    let any = try Callback(encoding: "q@:") { (_: AnyCallObject, _: Selector) -> Int in 7 }
    final class Shell: CallObject {}
    MethodTable.of(Shell.self).replace(
      selector, try Implementation(methodEncoding: "q@:", unsafeFunction: any.address))
    try call.invoke(on: Shell())
    #expect(try call.result(as: Int.self) == 7)
    MethodTable.of(Shell.self).remove(selector)
  }

  @Test("an object of another class, and nil, are refused at every send, whoever calls it")
  func refused() throws {
    let method = try register()
    let functions = FunctionTable()
    try functions.register("legs", method)
    let stone = AnyCallObject(Stone())
    for _ in 0..<3 {
      #expect(throws: wrong(Stone.self)) {
        try functions.call("legs", stone, selector, returning: Int.self)
      }
      #expect(throws: wrong(Stone.self)) { try functions.call("legs", stone, selector) }
      #expect(throws: wrong(Stone.self)) {
        try functions.callCapturingErrno("legs", stone, selector, returning: Int.self)
      }
      #expect(throws: wrong(nil)) {
        try functions.call("legs", AnyCallObject?.none, selector, returning: Int.self)
      }
      let typed = try functions.function("legs", as: ((Stone, Selector) -> Int).self)
      #expect(throws: wrong(Stone.self)) { try typed(Stone(), selector) }
      #expect(throws: wrong(Stone.self)) { try call(on: Stone()).invoke(using: method) }
      #expect(throws: wrong(nil)) { try call().invoke(using: method) }
      #expect(throws: wrong(Stone.self, expected: Dog.self)) {
        try call(on: Stone()).invokeSuper(of: Dog.self)
      }
    }
    // A method that was added to another class, and one that an object provides itself.
    final class Pebble: CallObject {}
    MethodTable.of(Pebble.self).replace(selector, method)
    let pebbles = try call()
    for _ in 0..<3 {
      #expect(throws: wrong(Pebble.self)) { try pebbles.invoke(on: Pebble()) }
    }
    final class Pretender: MethodProviding {
      let method: Implementation
      init(_ method: Implementation) { self.method = method }
      func ownMethod(for selector: Selector) -> Implementation? { method }
    }
    #expect(throws: wrong(Pretender.self)) { try call().invoke(on: Pretender(method)) }
  }

  @Test("super forwards if no superclass has the method, or is unrecognized by the superclass")
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
      (_: Forwarder, n: Int) in -n
    }
    let target = Forwarder()
    try call.setArgument(41, at: 2)
    try call.setTarget(target)
    try call.invokeSuper(of: Forwarder.self)
    #expect(try call.result(as: Int.self) == 42)
    #expect(target.forwarded == ["superForwards:"])
    try call.invoke()
    #expect(try call.result(as: Int.self) == -41)
    let unknown = try Invocation(MethodSignature(parsing: "v@:"), selector: "superUnknown")
    try unknown.setTarget(Dog())
    #expect(
      throws: InvocationError.unrecognizedSelector(
        "superUnknown", type: SwiftType(Animal.self), nearest: nil)
    ) { try unknown.invokeSuper(of: Dog.self) }
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

  @Test("a result may be any pointer as well, and a pointer is registered for text by an encoding")
  func others() throws {
    let methods = MethodTable.of(Reader.self)
    try methods.register("giveAddress", replacing: true) { (_: Reader) in
      UnsafeRawPointer(bitPattern: 4096)
    }
    let address = try Invocation(MethodSignature(parsing: "^{list=i}@:"), selector: "giveAddress")
    try address.invoke(on: Reader())
    #expect(try address.result(as: UnsafeRawPointer.self) == UnsafeRawPointer(bitPattern: 4096))
    try methods.register("length:", replacing: true, encoding: "q@:*") {
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

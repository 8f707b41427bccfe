// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

/// A log of events in order, for any thread.
final class Log: Sendable {
  private let entries = Guarded<[String]>([])
  func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  var all: [String] { entries.withLock { $0 } }
  var count: Int { entries.withLock { $0.count } }
  func clear() { entries.withLock { $0.removeAll() } }
}

/// A target that logs its messages under its name.
class Listener: MethodDeclaring, @unchecked Sendable {
  let name: String
  let log: Log

  init(_ name: String, _ log: Log) {
    self.name = name
    self.log = log
  }

  class func declareMethods(_ methods: MethodDeclarations) {
    methods.register("did:") { (self: Listener, value: Int32) in
      self.log.add("\(self.name) \(value)")
    }
    methods.register("value") { (self: Listener) -> Int32 in
      self.log.add(self.name)
      return Int32(self.name) ?? -1
    }
    methods.register("fail") { (self: Listener) throws -> Int32 in throw Failure(name: self.name) }
    methods.register("maybe:") { (self: Listener, fails: Bool) throws -> Int32 in
      if fails == (self.name == "2") { throw Failure(name: self.name) }
      return Int32(self.name) ?? -1
    }
    methods.register("text:") { (self: Listener, text: String) in
      self.log.add("\(self.name) \(text)")
    }
  }
}

struct Failure: Error, Equatable { let name: String }

func caseName(_ diagnostic: DeliveryDiagnostic) -> String {
  Mirror(reflecting: diagnostic).children.first?.label ?? "\(diagnostic)"
}

let did = Messages.did
enum Messages {
  static let did = try! Message<NoResult, Int32>("did:")
  static let value = try! Message<Int32>("value")
  static let fail = try! Message<Int32>("fail")
  static let maybe = try! Message<Int32, Bool>("maybe:")
  static let text = try! Message<NoResult, String>("text:")
}

// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Foundation
import Invocations
import Synchronization
import Testing
import TypeEncodings

/// The C functions of `Tests/Fixtures`, by name.
enum Fixtures {
  static func named(_ name: String) -> (function: UnsafeRawPointer, encoding: String) {
    for index in 0..<fixture_count() {
      let fixture = fixture_at(index)
      if String(cString: fixture.name) == name {
        return (fixture.function, String(cString: fixture.encoding))
      }
    }
    fatalError("no fixture is called \(name)")
  }

  /// An invocation of a fixture, without arguments.
  static func call(_ name: String) throws -> (Invocation, UnsafeRawPointer) {
    let fixture = named(name)
    return (try Invocation(parsing: fixture.encoding), fixture.function)
  }
}

extension FunctionTable {
  /// A table of functions of the program and its libraries, by their names and encodings.
  convenience init(ofProgram functions: KeyValuePairs<String, String>) throws {
    self.init()
    for (name, encoding) in functions {
      try register(name, encoding: encoding, unsafeSymbolIn: Library(""))
    }
  }
}

/// What a process printed to stderr.
func printed(_ result: ExitTest.Result?) throws -> String {
  String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
}

extension FixturePoint: CallStructure, @retroactive Equatable {
  public static var structure: VouchedStructure<Self> { VouchedStructure("{FixturePoint=dd}") }
  public static func == (a: Self, b: Self) -> Bool { (a.x, a.y) == (b.x, b.y) }
}

extension FixtureRectangle: CallStructure, @retroactive Equatable {
  public static var structure: VouchedStructure<Self> {
    VouchedStructure("{FixtureRectangle={FixturePoint=dd}{FixturePoint=dd}}")
  }
  public static func == (a: Self, b: Self) -> Bool { a.origin == b.origin && a.size == b.size }
}

extension FixtureMixed: CallStructure {
  public static var structure: VouchedStructure<Self> { VouchedStructure("{FixtureMixed=id}") }
}

extension FixturePadded: CallStructure {
  public static var structure: VouchedStructure<Self> { VouchedStructure("{FixturePadded=[0t]i}") }
}

/// A receiver of messages.
final class Subject: CallObject {
  let name: String
  init(_ name: String = "") { self.name = name }
}

/// Counts the objects of a test that live. Tests run concurrently, so each has its own.
final class Census: Sendable {
  private let counts = Atomic(0)
  private let deaths = Atomic(0)

  var alive: Int { counts.load(ordering: .relaxed) }
  var died: Int { deaths.load(ordering: .relaxed) }

  fileprivate func begin() { counts.add(1, ordering: .relaxed) }
  fileprivate func end() {
    counts.subtract(1, ordering: .relaxed)
    deaths.add(1, ordering: .relaxed)
  }
}

/// An object that a census counts, so that a leak or an early release shows. Runs a closure at its
/// end.
final class Tracked: CallObject, @unchecked Sendable {
  let name: String
  private let census: Census?
  // SAFETY: a test sets it before it gives the object away.
  var atEnd: () -> Void = {}

  init(_ name: String = "", in census: Census? = nil, atEnd: @escaping () -> Void = {}) {
    (self.name, self.census, self.atEnd) = (name, census, atEnd)
    census?.begin()
  }

  deinit {
    atEnd()
    census?.end()
  }
}

extension Census {
  /// A closure that owns an object of the census.
  func owning(
    _ body: @escaping @Sendable (Int) -> Int = { $0 }, atEnd: @escaping () -> Void = {}
  ) -> @Sendable (Int) -> Int {
    let owned = Tracked(in: self, atEnd: atEnd)
    return { number in withExtendedLifetime(owned) { body(number) } }
  }
}

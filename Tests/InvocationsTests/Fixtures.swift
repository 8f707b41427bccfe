// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Foundation
import TypeEncodings

@testable import Invocations

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
    let call = try Invocation(parsing: fixture.encoding)
    return (call, fixture.function)
  }
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

/// A receiver of messages.
final class Subject: CallObject {
  let name: String
  init(_ name: String = "") { self.name = name }
}

/// Counts its instances, so that a leak or an early release shows. Each thread has a count of its
/// own, because suites run concurrently.
final class Tracked: CallObject, Sendable {
  static var live: Int {
    get { Thread.current.threadDictionary["live"] as? Int ?? 0 }
    set { Thread.current.threadDictionary["live"] = newValue }
  }
  let name: String

  init(_ name: String = "") {
    self.name = name
    Self.live += 1
  }

  deinit { Self.live -= 1 }
}

extension FixturePadded: CallStructure {
  public static var structure: VouchedStructure<Self> { VouchedStructure("{FixturePadded=[0t]i}") }
}

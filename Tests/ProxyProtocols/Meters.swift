// SPDX-License-Identifier: Apache-2.0
#if Macros
  public import Forwarding
  public import Foundation

  /// A protocol that structures and classes may conform to.
  @Forwardable
  public protocol Meter {
    mutating func add(_ number: Int)
    @Otherwise(0) var sum: Int { get }
    var limit: Int? { get set }
    subscript(key key: String) -> Int? { get set }
    @Optional mutating func reset()
    mutating func load(_ number: Int) async
  }

  @Forwardable
  public protocol NamedMeter: Meter {
    mutating func rename(_ name: String)
    var name: String? { get }
  }

  /// Requirements that no message can carry.
  @Forwardable
  public protocol Tool: AnyObject, Sendable {
    @Otherwise(0) func count<Value: Equatable>(_ values: [Value], of value: Value) -> Int
    func visit(_ body: (Int) -> Void)
    func log(_ text: @autoclosure () -> String)
    func map(_ transform: (Int) throws -> Int) rethrows -> Int?
    func note<each Value: Sendable>(_ values: repeat each Value)
    func measure(_ one: some Sequence<Int> & Sendable, into sum: inout Int) async throws
    func close()
  }

  /// A protocol with an associated type, which each proxy fixes.
  @Forwardable
  public protocol Listener<Event> {
    associatedtype Event: Sendable
    func hear(_ event: Event)
    func answer(to event: Event) -> Event?
    func translate<Other>(_ event: Event, _ body: (Event) -> Other) -> Other?
  }

  /// Requirements of the standard library's protocols.
  @Forwardable
  public protocol Identified: AnyObject, Hashable, Identifiable, CustomStringConvertible {
    func call()
  }

  /// Requirements under conditional compilation, and requirements of the type.
  @Forwardable
  public protocol Conditional: AnyObject, Sendable {
    typealias Done = @Sendable (Int) -> Void
    #if os(Linux)
      func begin(_ done: @escaping Done)
    #else
      func begin()
    #endif
    @Otherwise("nobody") static var kind: String { get }
    @Otherwise(1) static func make(_ number: Int) -> Int
    func find(in: String, default: Int) -> Int?
    var size: Int? { get throws }
    var weight: Int? { get async throws }
    @Optional var title: String? { get }
  }

  /// A protocol of a module without proxies.
  public protocol Guest: NSObjectProtocol {
    func enter(_ room: String)
    func leave(_ room: String) -> Bool
    func rest()
  }

  extension Guest {
    public func rest() {}
  }
#endif

// SPDX-License-Identifier: Apache-2.0
#if Macros
  public import Forwarding

  /// A type with protocols inside, whose requirements name the types beside them.
  public enum Hostel {
    public struct Note: Equatable, Sendable {
      public var text: String
      public init(_ text: String) { self.text = text }
    }
    public struct Pair<Value> {
      public var one: Value
      public var other: Value
      public init(_ one: Value, _ other: Value) { (self.one, self.other) = (one, other) }
    }
    public enum Mood: Sendable { case calm, wild }
    public enum Failure: Error { case closed }
    public protocol Named { var name: String { get } }
    @globalActor public actor RoomActor { public static let shared = RoomActor() }

    @Forwardable
    public protocol Guest: AnyObject {
      func take(_ note: Note)
      @Otherwise(Mood.calm) var mood: Mood { get }
      @Optional func idle(_ notes: [Note], in pair: Pair<Note>?)
      @Otherwise(Pair(Mood.wild, .wild)) @Optional func moods() throws(Failure) -> Pair<Mood>
      @Otherwise(throw: Failure.closed) func admit(_ note: inout Note) throws(Failure) -> Note
      func find(_ named: any Named) -> (any Named)?
      @Otherwise([]) func all<Value: Named>(_ value: Value, in pair: Pair<Value>) -> [Pair<Value>]
      func visit(_ body: (Note) throws -> Void) rethrows
      func upload(_ note: Note) async throws -> Note
      @Optional func wake(_ note: Note) async
      @Otherwise(Pair(Mood.calm, .calm)) subscript(_ note: Note) -> Pair<Mood> { get }
    }

    /// Inherits a protocol beside it.
    @Forwardable
    public protocol Host: Guest {
      func open(_ note: Note)
    }

    @Forwardable
    @RoomActor
    public protocol Cellar: AnyObject {
      @Optional func enter(_ note: Note)
      @Otherwise(Mood.calm) func mood(_ note: Note) -> Mood
    }

    @Forwardable
    public protocol Keeper<Item> {
      associatedtype Item: Named
      @Optional mutating func put(_ item: Item, _ note: Note)
      @Otherwise(nil) func pair(_ item: Item) -> Pair<Item>?
    }
  }

  extension Hostel.Note {
    public struct Line: Sendable {
      public var number: Int
      public init(_ number: Int) { self.number = number }
    }

    /// In an extension of a type that is inside of another one.
    @Forwardable
    public protocol Reader: AnyObject, Sendable {
      func read(_ line: Line, of note: Hostel.Note)
      @Optional @Otherwise(Line(0)) func last(of note: Hostel.Note) -> Line
    }
  }
#endif

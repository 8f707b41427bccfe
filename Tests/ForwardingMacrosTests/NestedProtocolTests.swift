// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ProxyProtocols
  import Forwarding
  import Testing

  private struct Lamp: Hostel.Named, Equatable { let name = "lamp" }

  private final class Visitor: Hostel.Guest {
    var taken: [Hostel.Note] = []
    var mood: Hostel.Mood { .wild }
    func take(_ note: Hostel.Note) { taken.append(note) }
    func admit(_ note: inout Hostel.Note) throws(Hostel.Failure) -> Hostel.Note {
      note.text += "!"
      return note
    }
    func find(_ named: any Hostel.Named) -> (any Hostel.Named)? { named }
    func all<Value: Hostel.Named>(_ value: Value, in pair: Hostel.Pair<Value>) -> [Hostel.Pair<
      Value
    >] {
      [pair, pair]
    }
    func visit(_ body: (Hostel.Note) throws -> Void) rethrows { try body(Hostel.Note("visit")) }
    func upload(_ note: Hostel.Note) async throws -> Hostel.Note { Hostel.Note(note.text + " up") }
    subscript(_ note: Hostel.Note) -> Hostel.Pair<Hostel.Mood> { Hostel.Pair(.wild, .wild) }
  }

  /// Inherits a protocol that is inside of another type.
  @Forwardable
  protocol Caretaker: Hostel.Guest {
    @Optional func sweep(_ note: Hostel.Note)
  }

  private final class Sweeper: Caretaker {
    var heard: [String] = []
    var mood: Hostel.Mood { .calm }
    func take(_ note: Hostel.Note) { heard.append("take \(note.text)") }
    func idle(_ notes: [Hostel.Note], in pair: Hostel.Pair<Hostel.Note>?) { heard.append("idle") }
    func moods() throws(Hostel.Failure) -> Hostel.Pair<Hostel.Mood> { throw .closed }
    func admit(_ note: inout Hostel.Note) throws(Hostel.Failure) -> Hostel.Note { throw .closed }
    func find(_ named: any Hostel.Named) -> (any Hostel.Named)? { nil }
    func all<Value: Hostel.Named>(_ value: Value, in pair: Hostel.Pair<Value>) -> [Hostel.Pair<
      Value
    >] {
      []
    }
    func visit(_ body: (Hostel.Note) throws -> Void) rethrows {}
    func upload(_ note: Hostel.Note) async throws -> Hostel.Note { note }
    func wake(_ note: Hostel.Note) async { heard.append("wake \(note.text)") }
    subscript(_ note: Hostel.Note) -> Hostel.Pair<Hostel.Mood> { Hostel.Pair(.calm, .wild) }
    func sweep(_ note: Hostel.Note) { heard.append("sweep \(note.text)") }
  }

  @Hostel.RoomActor
  private final class Barrel: Hostel.Cellar {
    var count = 0
    func mood(_ note: Hostel.Note) -> Hostel.Mood {
      count += 1
      return .wild
    }
  }

  private struct Drawer: Hostel.Keeper {
    func pair(_ item: Lamp) -> Hostel.Pair<Lamp>? { Hostel.Pair(item, item) }
  }

  private final class Eye: Hostel.Note.Reader {
    func read(_ line: Hostel.Note.Line, of note: Hostel.Note) {}
  }

  /// Protocols of this file, inside of a class and an actor.
  private final class House {
    struct Key { let number: Int }
    @Forwardable
    fileprivate protocol Owner: AnyObject {
      @Optional func lock(_ key: Key)
      @Otherwise(Key(number: 1)) func key() -> Key
    }
    actor Safe {
      struct Code { let number: Int }
      @Forwardable
      fileprivate protocol Watcher: AnyObject { func open(_ code: Code, _ key: Key) }
    }
  }

  private final class Tenant: House.Owner, House.Safe.Watcher {
    var opened: [Int] = []
    func key() -> House.Key { House.Key(number: 2) }
    func open(_ code: House.Safe.Code, _ key: House.Key) { opened.append(code.number + key.number) }
  }

  @Suite("Protocols inside of other types")
  struct NestedProtocolTests {
    private let note = Hostel.Note("hello")

    @Test("the proxy calls its targets")
    func direct() async throws {
      let guests = Multicast<Hostel.GuestProxy>()
      let visitor = Visitor()
      guests.add(visitor)
      guests.proxy.take(note)
      #expect(visitor.taken == [note])
      #expect(guests.proxy.mood == .wild)
      var sent = note
      #expect(try guests.proxy.admit(&sent).text == "hello!")
      #expect(sent.text == "hello!")
      #expect(guests.proxy.find(Lamp())?.name == "lamp")
      #expect(guests.proxy.all(Lamp(), in: Hostel.Pair(Lamp(), Lamp())).count == 2)
      var visited: [Hostel.Note] = []
      guests.proxy.visit { visited.append($0) }
      #expect(visited == [Hostel.Note("visit")])
      #expect(try await guests.proxy.upload(note).text == "hello up")
      #expect(guests.proxy[note].one == .wild)
    }

    @Test("its requirements are messages")
    func messages() throws {
      let guests = Multicast<Hostel.GuestProxy>()
      let visitor = Visitor()
      guests.add(visitor)
      #expect(try guests.messages.mood.all() == [.wild])
      _ = try guests.messages.take.all(note)
      let queue = DispatchQueue(label: "room")
      let other = Visitor()
      guests.add(unchecked: other, on: .queue(queue))
      guests.proxy.take(note)
      queue.sync {}
      #expect(visitor.taken == [note, note])
      #expect(other.taken == [note])
    }

    @Test("without a target, '@Otherwise' answers with the types beside the protocol")
    func otherwise() {
      let guests = Multicast<Hostel.GuestProxy>()
      #expect(guests.proxy.mood == .calm)
      #expect(guests.proxy.all(Lamp(), in: Hostel.Pair(Lamp(), Lamp())).isEmpty)
      #expect(guests.proxy[note].one == .calm)
      #expect(throws: Hostel.Failure.closed) {
        var note = note
        _ = try guests.proxy.admit(&note)
      }
    }

    @Test("a class may leave out optional requirements")
    func optional() async throws {
      let guests = Multicast<Hostel.GuestProxy>()
      guests.add(Visitor(), strongly: true)
      guests.proxy.idle([note], in: nil)
      await guests.proxy.wake(note)
      #expect(try guests.proxy.moods().one == .wild)
      #expect(try guests.messages.idleIn.report([note], nil).answered == 0)
    }

    @Test("a protocol at the top of a file, or beside it, may inherit it")
    func inherited() async throws {
      let sweepers = Multicast<CaretakerProxy>()
      let sweeper = Sweeper()
      sweepers.add(sweeper)
      sweepers.proxy.take(note)
      sweepers.proxy.idle([], in: nil)
      await sweepers.proxy.wake(note)
      sweepers.proxy.sweep(note)
      #expect(sweeper.heard == ["take hello", "idle", "wake hello", "sweep hello"])
      #expect(throws: Hostel.Failure.closed) { try sweepers.proxy.moods() }
      #expect(sweepers.proxy[note].other == .wild)
      let hosts = Multicast<Hostel.HostProxy>()
      #expect(hosts.proxy.mood == .calm)
      #expect(try hosts.messages.mood.all() == [])
    }

    @Test("the global actor may be beside the protocol")
    @Hostel.RoomActor
    func actors() {
      let cellars = Multicast<Hostel.CellarProxy>()
      let barrel = Barrel()
      cellars.add(barrel)
      cellars.proxy.enter(note)
      #expect(cellars.proxy.mood(note) == .wild)
      #expect(barrel.count == 1)
    }

    @Test("a structure may be a target, of an associated type")
    func values() {
      let keepers = Multicast<Hostel.KeeperProxy<Lamp>>()
      keepers.add(Drawer())
      keepers.proxy.put(Lamp(), note)
      #expect(keepers.proxy.pair(Lamp())?.one == Lamp())
    }

    @Test("it may be in an extension, a class or an actor")
    func places() {
      let readers = Multicast<Hostel.Note.ReaderProxy>()
      readers.add(Eye(), strongly: true)
      readers.proxy.read(Hostel.Note.Line(1), of: note)
      #expect(readers.proxy.last(of: note).number == 0)
      let owners = Multicast<House.OwnerProxy>()
      #expect(owners.proxy.key().number == 1)
      let tenant = Tenant()
      owners.add(tenant)
      owners.proxy.lock(House.Key(number: 1))
      #expect(owners.proxy.key().number == 2)
      let watchers = SingleTarget<House.Safe.WatcherProxy>(tenant)
      watchers.proxy.open(House.Safe.Code(number: 1), House.Key(number: 2))
      #expect(tenant.opened == [3])
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  @testable import Forwarding
  import Dispatch
  import Testing

  /// A type that only one thread at a time may use.
  final class Note {
    var text = ""
  }

  struct Refused: Error, Equatable {}

  @Forwardable
  protocol UploadDelegate: AnyObject, Sendable {
    func upload(_ file: [UInt8], as name: String) async throws -> String
    func finish(_ name: String) async
    @Otherwise(-1) func size(of name: String) async throws(Refused) -> Int
    @Optional func wake() async
    @Optional @Otherwise("nobody") func owner(of name: String) async -> String
    func note(_ name: String)
  }

  /// Takes values that are not Sendable, and runs on the actor of its caller.
  @Forwardable
  protocol NoteDelegate: AnyObject {
    nonisolated(nonsending) func write(_ note: Note) async
  }

  @Forwardable
  @MainActor
  protocol PageDelegate: AnyObject {
    func load(_ note: Note) async -> String?
  }

  /// Its conforming types are actors, and so is its proxy.
  @Forwardable
  protocol CounterDelegate: Actor {
    @Otherwise(0) func add(_ count: Int) async -> Int
    func check(_ text: String) async throws
    @Optional func reset() async
    nonisolated func hint(_ text: String)
  }

  actor Counter: CounterDelegate {
    var count = 0
    let hints = Guarded<[String]>([])
    func add(_ count: Int) async -> Int {
      self.count += count
      return self.count
    }
    func check(_ text: String) async throws { if text.isEmpty { throw Refused() } }
    nonisolated func hint(_ text: String) { hints.withLock { $0.append(text) } }
  }

  final class Server: UploadDelegate {
    let name: String
    let seen = Guarded<[String]>([])
    init(_ name: String) { self.name = name }

    func upload(_ file: [UInt8], as name: String) async throws -> String {
      await Task.yield()
      if file.isEmpty { throw Refused() }
      return "\(self.name): \(name), \(file.count)"
    }
    func finish(_ name: String) async {
      await Task.yield()
      seen.withLock { $0.append(name) }
    }
    func size(of name: String) async throws(Refused) -> Int {
      await Task.yield()
      if name == "secret" { throw Refused() }
      return name.count
    }
    func note(_ name: String) { seen.withLock { $0.append("note \(name)") } }
  }

  final class Owner: UploadDelegate {
    let woken = Guarded(0)
    func upload(_ file: [UInt8], as name: String) async throws -> String { "" }
    func finish(_ name: String) async {}
    func size(of name: String) async throws(Refused) -> Int { 0 }
    func wake() async {
      await Task.yield()
      woken.withLock { $0 += 1 }
    }
    func owner(of name: String) async -> String { "owner of \(name)" }
    func note(_ name: String) {}
  }

  final class Writer: NoteDelegate {
    nonisolated(nonsending) func write(_ note: Note) async {
      await Task.yield()
      note.text += isOnMain() ? "main" : "elsewhere"
    }
  }

  final class Reader: PageDelegate {
    func load(_ note: Note) async -> String? {
      await Task.yield()
      return isOnMain() ? note.text : nil
    }
  }

  private func isOnMain() -> Bool { QueueMark.of(.main).isCurrent }

  @Suite("Proxies with async requirements", .timeLimit(.minutes(60)))
  struct AsyncProxyTests {
    let delegates = Multicast<UploadDelegateProxy>()

    @Test(
      "a data source asks the first target, a single target is asked, and handlers see the message")
    func others() async throws {
      let server = Server("one")
      #expect(
        try await SingleTarget<UploadDelegateProxy>(server).proxy.upload([1], as: "a")
          == "one: a, 1")
      let source = DataSource<UploadDelegateProxy>()
      source.add(server)
      #expect(try await source.proxy.upload([1], as: "a") == "one: a, 1")
      #expect(
        try await Intercepting<UploadDelegateProxy>(server).proxy.upload([1], as: "a")
          == "one: a, 1")
    }

    @MainActor
    @Test("values that are not Sendable stay on the actor of the caller")
    func nonsending() async {
      let notes = Multicast<NoteDelegateProxy>()
      let writer = Writer()
      notes.add(writer)
      let note = Note()
      await notes.proxy.write(note)
      #expect(note.text == "main")
      withExtendedLifetime(writer) {}
    }

    @MainActor
    @Test("a proxy of the main actor stays on it")
    func mainActor() async {
      let pages = Multicast<PageDelegateProxy>()
      let page = Reader()
      pages.add(page)
      let note = Note()
      note.text = "hello"
      #expect(await pages.proxy.load(note) == "hello")
      withExtendedLifetime(page) {}
    }

    @Test("a proxy of actors is an actor, and its targets are actors")
    func actors() async throws {
      let counters = Multicast<CounterDelegateProxy>()
      let (one, other) = (Counter(), Counter())
      counters.add(one)
      counters.add(other, on: .actor(other))
      let proxy: any CounterDelegate = counters.proxy
      #expect(await proxy.add(2) == 2)
      #expect(await proxy.add(3) == 5)
      #expect(await one.count == 5)
      await proxy.reset()
      await #expect(throws: Refused.self) { try await proxy.check("") }
      counters.remove(other)
      proxy.hint("quick")
      #expect(one.hints.read { $0 } == ["quick"])
    }

    @Test("messages by name have all answers, one after the other or concurrently")
    func messages() async throws {
      let (one, other) = (Server("one"), Server("other"))
      delegates.add(one)
      delegates.add(other)
      let upload = delegates.messages.uploadAs
      for concurrently in [false, true] {
        #expect(
          try await upload.all([1], "a", concurrently: concurrently) == [
            "one: a, 1", "other: a, 1",
          ])
        #expect(try await upload([1], "a", concurrently: concurrently) == "other: a, 1")
        #expect(try await upload.report([], "a", concurrently: concurrently).errors.count == 2)
      }
      #expect(try await upload.first([1], "a", concurrently: false) == "one: a, 1")
      #expect(throws: InvocationError.self) { try upload.all([1], "a") }
    }

    @Test("a handler around an async requirement awaits what it sends on")
    func around() async throws {
      let server = Server("one")
      let watched = Intercepting<UploadDelegateProxy>(server)
      watched.messages.uploadAs.around { proceed, file, name in
        await Task.yield()
        return try await proceed(file + [2], name) + "!"
      }
      #expect(try await watched.proxy.upload([1], as: "a") == "one: a, 2!")
    }

    @Test("a proxy has a stream of its messages")
    func stream() async throws {
      let notes = try delegates.messages.note.calls()
      delegates.proxy.note("one")
      delegates.proxy.note("two")
      delegates.removeAll()
      #expect(await notes.reduce(into: []) { $0.append($1) } == ["one", "two"])
    }
  }
#endif

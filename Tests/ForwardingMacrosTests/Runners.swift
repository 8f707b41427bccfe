// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding

  struct Lame: Error, Equatable { let name: String }

  /// A protocol with each kind of async requirement.
  @Forwardable
  protocol Running: AnyObject, Sendable {
    func run(_ number: Int) async
    @Otherwise(-1) func weigh(_ number: Int) async -> Int
    func check(_ number: Int) async throws -> Int
    @Otherwise(-1) func grade(_ number: Int) async throws(Lame) -> Int
    @Optional func rest(_ number: Int) async
    @Optional @Otherwise("none") func title(_ number: Int) async -> String
    @Optional func rate(_ number: Int) async throws -> Int
    func tick(_ number: Int)
  }

  class Runner: Running, @unchecked Sendable {
    let name: String
    let story: Story
    let errand = Guarded<(@Sendable () async throws -> Void)?>(nil)
    let fails = Guarded(false)

    init(_ name: String, _ story: Story) { (self.name, self.story) = (name, story) }

    func does(_ body: @escaping @Sendable () async throws -> Void) { errand.withLock { $0 = body } }

    func note(_ what: String) async throws {
      story.tell("\(name) \(what)")
      await Task.yield()
      try await errand.read { $0 }?()
      if fails.read({ $0 }) { throw Lame(name: name) }
    }

    func run(_ number: Int) async { try? await note("runs \(number)") }
    func weigh(_ number: Int) async -> Int {
      try? await note("weighs \(number)")
      return number + name.count
    }
    func check(_ number: Int) async throws -> Int {
      try await note("checks \(number)")
      return number
    }
    func grade(_ number: Int) async throws(Lame) -> Int {
      do { try await note("grades \(number)") } catch { throw Lame(name: name) }
      return number
    }
    func tick(_ number: Int) { story.tell("\(name) ticks \(number)") }
  }

  final class Rested: Running, @unchecked Sendable {
    let runner: Runner
    init(_ name: String, _ story: Story) { runner = Runner(name, story) }
    func run(_ number: Int) async { await runner.run(number) }
    func weigh(_ number: Int) async -> Int { await runner.weigh(number) }
    func check(_ number: Int) async throws -> Int { try await runner.check(number) }
    func grade(_ number: Int) async throws(Lame) -> Int { try await runner.grade(number) }
    func rest(_ number: Int) async { try? await runner.note("rests \(number)") }
    func title(_ number: Int) async -> String { "title \(number)" }
    func rate(_ number: Int) async throws -> Int {
      try await runner.note("rates \(number)")
      return number
    }
    func tick(_ number: Int) { runner.tick(number) }
  }

  /// Tests of proxies with async targets.
  protocol RunningTests {
    var story: Story { get }
    /// Strong references to objects that proxies hold weakly.
    var kept: Guarded<[any Sendable]> { get }
  }

  extension RunningTests {
    func running(_ way: ProxyWay) -> Multicast<RunningProxy> {
      let untyped = way.untyped
      story.listen(to: untyped)
      return Multicast<RunningProxy>(untyped)
    }

    @discardableResult
    func runner(
      _ name: String, in targets: Multicast<RunningProxy>, priority: Int = 0
    ) -> Runner {
      let runner = Runner(name, story)
      kept.withLock { $0.append(runner) }
      targets.add(runner, priority: priority)
      return runner
    }
  }
#endif

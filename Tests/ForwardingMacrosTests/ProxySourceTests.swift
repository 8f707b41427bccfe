// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import ForwardingTestSupport
  import Testing

  @Suite("The expansions of '@Forwardable' and '@CLibrary'")
  struct ProxySourceTests {
    @Test(
      "an unsupported declaration is refused at its token, with advice")
    func refused() throws {
      let sources = RefusedSources(
        "RefusedProtocols", options: Toolchain.macroOptions, hasColumns: true)
      for issue in try sources.check() { Issue.record("\(issue)") }
    }

    @Test("the expansion equals the golden")
    func expansion() throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let folder = Toolchain.package.appendingPathComponent("Tests/Data/Proxies")
      let source = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString).swift")
      try FileManager.default.copyItem(
        at: folder.appendingPathComponent("Expanded.swift.txt"), to: source)
      defer { try? FileManager.default.removeItem(at: source) }
      let finished = try run(
        swiftc,
        [
          "-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
          "-strict-memory-safety", "-Xfrontend", "-dump-macro-expansions", source.path,
        ] + Toolchain.moduleOptions + Toolchain.macroOptions)
      #expect(finished.status == 0, "\(finished.errors)")
      let text = finished.errors.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("@__swiftmacro") && !$0.hasPrefix("------") }
        .map { $0.reversed().drop { $0 == " " }.reversed() }.map { String($0) }
        .joined(separator: "\n")
      let golden = folder.appendingPathComponent("Expanded.expansion.txt")
      if Toolchain.records { try text.write(to: golden, atomically: true, encoding: .utf8) }
      #expect(try text == String(contentsOf: golden, encoding: .utf8))
    }

    /// The compiler's errors for a source.
    private func errors(of source: String, _ options: [String]) throws -> [String] {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString).swift")
      defer { try? FileManager.default.removeItem(at: file) }
      try source.write(to: file, atomically: true, encoding: .utf8)
      let finished = try run(
        swiftc,
        [
          "-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
          "-strict-memory-safety", "-diagnostic-style=llvm", file.path,
        ] + options)
      return finished.errors.replacing(file.path, with: "client.swift")
        .components(separatedBy: "\n")
    }

    @Test("the types, arguments and properties of a program may have any names")
    func names() throws {
      let options = Toolchain.moduleOptions + Toolchain.macroOptions
      #expect(try errors(of: TakenNames.source(), options) == [""])
    }

    @Test("without the trait, the attributes explain how to enable it")
    func noTrait() throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let compiled = try run(
        swiftc,
        [
          "-emit-module", "-emit-module-path", "\(folder.path)/Forwarding.swiftmodule",
          "-module-name", "Forwarding", "-swift-version", "6", "-parse-as-library",
          "\(Toolchain.package.path)/Sources/Forwarding/Generated/Macros.swift",
        ])
      try #require(compiled.status == 0, "\(compiled.errors)")
      let source = """
        import Forwarding
        @Forwardable
        protocol Door: AnyObject {
          @Otherwise(true) func open() -> Bool
        }
        @Forwardable(as: (any Door).self)
        protocol Doors: AnyObject {
          func open() -> Bool?
        }
        final class Session {
          @Delegates var delegate: any Door
        }
        @CLibrary("libm.so.6")
        struct Math {
          let cos: @convention(c) (Double) -> Double
        }
        """
      let why = "it needs the trait Macros, which `traits: []` left out"
      #expect(
        try Set(errors(of: source, ["-I", folder.path]).filter { $0.contains(" error: ") }) == [
          "client.swift:2:2: error: 'Forwardable' is unavailable: \(why)",
          "client.swift:4:4: error: 'Otherwise' is unavailable: \(why)",
          "client.swift:4:3: error: result builder attributes cannot have arguments",
          "client.swift:6:2: error: 'Forwardable' is unavailable: \(why)",
          "client.swift:6:1: error: global actor attribute 'Forwardable' cannot have arguments",
          "client.swift:11:4: error: 'Delegates' is unavailable: \(why)",
          "client.swift:13:2: error: 'CLibrary' is unavailable: \(why)",
          "client.swift:13:1: error: global actor attribute 'CLibrary' cannot have arguments",
        ])
    }

    /// A source that the compiler refuses without `mark` in place of `MARK`.
    private struct Advice: CustomTestStringConvertible, Sendable {
      let testDescription: String
      let error: String
      let advice: String
      let mark: String
      /// The number of such errors.
      var count: Int?
      let source: String
    }

    private static let advice = [
      Advice(
        testDescription: "a base without a proxy", error: "cannot find type 'NamedProxy' in scope",
        advice: "// if it is not found: put '@Forwardable' on 'Named'", mark: "@Forwardable",
        // One error, however often the macro's expansion uses the proxy.
        count: 1,
        source: """
          MARK protocol Named: AnyObject {
            func rename(_ name: String)
          }
          @Forwardable protocol Door: Named {
            func open()
          }
          """),
      Advice(
        testDescription: "an actor that only a base names",
        error: "crosses into main actor-isolated code",
        advice: "write the actor, as '@MainActor', on 'Door', too", mark: "@MainActor",
        source: """
          @Forwardable @MainActor protocol Named: AnyObject {
            func rename(_ name: String)
          }
          @Forwardable MARK protocol Door: Named {
            func open()
          }
          """),
      Advice(
        testDescription: "delegates of an actor in a class without it",
        error: "main actor-isolated default value in a nonisolated context",
        advice: "write '@MainActor' on 'Session', too", mark: "@MainActor", count: 1,
        source: """
          @Forwardable @MainActor protocol Named: AnyObject {
            func rename(_ name: String)
          }
          MARK final class Session {
            @Delegates var delegate: any Named
          }
          """),
      Advice(
        testDescription: "a base of actors", error: "non-actor type 'DoorProxy' cannot conform",
        advice: "if it is of actors: inherit 'Actor', too", mark: ", Actor",
        source: """
          @Forwardable protocol Named: Actor {
            func rename(_ name: String) async
          }
          @Forwardable protocol Door: NamedMARK {
            func open() async
          }
          """),
      Advice(
        testDescription: "a generic base without types", error: "requires arguments in <...>",
        advice: "inherit 'Listener' with its types, as 'Listener<Int>'", mark: "<Int>",
        count: 1,
        source: """
          @Forwardable protocol Listener<Event> {
            associatedtype Event: Sendable
            func hear(_ event: Event)
          }
          @Forwardable protocol Numbers: ListenerMARK {
            func close()
          }
          """),
      Advice(
        testDescription: "a generic base without types, of a protocol with a type",
        error: "requires arguments in <...>",
        advice: "inherit 'Listener' with its types, as 'Listener<Int>'", mark: "<Int>",
        count: 1,
        source: """
          @Forwardable protocol Listener<Event> {
            associatedtype Event: Sendable
            func hear(_ event: Event)
          }
          @Forwardable protocol Levels<Level>: ListenerMARK {
            associatedtype Level
            func reach(_ level: Level)
          }
          """),
      Advice(
        testDescription: "subclasses of a class", error: "cannot find type 'ViewProxy' in scope",
        advice: "if it is a class: no proxy is one of its subclasses", mark: "ing", count: 1,
        source: """
          class View {}
          @Forwardable protocol Viewing: AnyObject {
            func view()
          }
          @Forwardable protocol Cell: ViewMARK {
            func select()
          }
          """),
      Advice(
        testDescription: "a value whose type is bound to the protocol",
        error: "generic struct 'Handle' has self-referential generic requirements",
        advice: "struct Handle<P: Plugin> {}", mark: "//", count: 1,
        source: """
          struct Handle<P: Plugin> {}
          final class Foo: Plugin {
            func handle() -> Handle<Foo> { Handle() }
          }
          @Forwardable protocol Plugin: AnyObject {
            MARK @Otherwise(Handle<Foo>())
            func handle() throws -> Handle<Foo>
          }
          """),
    ]

    @Test("an error of a wrong base shows the solution, which compiles", arguments: advice)
    private func bases(_ row: Advice) throws {
      func errors(_ mark: String) throws -> [String] {
        try self.errors(
          of: "import Forwarding\n" + row.source.replacing("MARK", with: mark),
          Toolchain.moduleOptions + Toolchain.macroOptions)
      }
      let lines = try errors("")
      let wrong = lines.indices.filter { lines[$0].contains(row.error) }
      #expect(row.count.map { $0 == wrong.count } ?? !wrong.isEmpty, "\(lines)")
      for line in wrong {
        #expect(lines[line + 1].contains(row.advice), "\(lines)")
      }
      #expect(try errors(row.mark) == [""])
    }

    @Test("the optimizer does not treat a proxy as an object of the protocol's only class")
    func oneClass() throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let source = folder.appendingPathComponent("main.swift")
      let program = folder.appendingPathComponent("program").path
      try FileManager.default.copyItem(
        at: Toolchain.package.appendingPathComponent("Tests/Data/Proxies/OneClass.swift.txt"),
        to: source)
      let modules = ["Forwarding", "Invocations", "TypeEncodings", "CForwardingShims"]
      let compiled = try run(
        swiftc,
        [
          "-O", "-whole-module-optimization", "-swift-version", "6", source.path, "-o", program,
        ] + Toolchain.moduleOptions + Toolchain.macroOptions
          + Toolchain.linkOptions(for: modules))
      try #require(compiled.status == 0, "\(compiled.errors)")
      let finished = try run(program, [])
      #expect(finished.status == 0)
      #expect(
        finished.output.split(separator: "\n") == [
          "hear [\"hello\"]", "see 1", "smell 42", "think 13", "hear more twice", "more 42",
        ])
    }
  }
#endif

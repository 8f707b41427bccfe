// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// Two small modules, compiled into a folder. One inherits from the other.
private final class Modules: Sendable {
  static let base = """
    public final class Room: Sendable { public init() {} }
    public protocol Named: AnyObject {
      var title: String? { get set }
      func rename(_ name: String)
    }
    extension Named { public func rename(_ name: String) {} }
    public protocol Sized { var size: Int { get } }
    public protocol Numbered { init(number: Int) }
    """
  static let rooms = """
    public import Base
    public struct Rooms { public struct Key: Hashable, Sendable { public init() {} } }
    public enum Full: Error { case full }
    public protocol Door { func open() -> Bool }
    @MainActor public protocol RoomDelegate: Named, Door, CustomStringConvertible {
      typealias Done = (Int) -> Void
      func room(_ room: Room, `in`: Rooms.Key, then done: @escaping Done) -> [String: Int]
      func enter(_ room: Room) async throws -> Rooms.Key
      func leave() throws(Full) -> Int
      func find() -> Room!
      var limit: Int { get }
      var kind: String { get throws }
      subscript(index: Int) -> Int { get }
      static func make() -> String
    }
    public protocol Listener<Event>: AnyObject {
      associatedtype Event: Sendable
      func hear(_ event: Event) -> Event?
    }
    public protocol Made { init(number: Int) }
    public protocol Ordered: Comparable {}
    public protocol Suite: Numbered {}
    """

  static let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("forwarding-\(UUID().uuidString)")
  var folder: URL { Self.folder }

  /// Compiled once for all tests.
  static let compiled = Result { try Modules() }

  init() throws {
    atexit { try? FileManager.default.removeItem(at: Modules.folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, source) in [("Base", Self.base), ("Rooms", Self.rooms)] {
      let finished = try compile(
        source, name,
        ["-emit-module", "-emit-module-path", path("\(name).swiftmodule"), "-module-name", name])
      try #require(finished.status == 0, "\(finished.errors)")
    }
  }

  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  func compile(_ source: String, _ name: String, _ options: [String]) throws -> Finished {
    let file = path("\(name).swift")
    try source.write(toFile: file, atomically: true, encoding: .utf8)
    return try run(
      #require(Toolchain.path(of: "swiftc")),
      ["-swift-version", "6", "-diagnostic-style=llvm", "-I", folder.path, file] + options)
  }
}

@Suite("forward proxy")
struct ProxyCommandTests {
  private static let restated = """
    import Base
    import Forwarding
    import Rooms

    @Forwardable(as: (any Rooms::RoomDelegate).self)
    @MainActor protocol RoomDelegateList: AnyObject, CustomStringConvertible {
      typealias Done = (Int) -> Void
      @Otherwise(<#[String: Int]#>) func room(_ room: Room, in: Rooms.Key, then done: @escaping Done) -> [String: Int]
      func enter(_ room: Room) async throws -> Rooms.Key
      @Otherwise(<#Int#>) func leave() throws(Full) -> Int
      func find() -> Room!
      @Otherwise(<#Int#>) var limit: Int { get }
      var kind: String { get throws }
      @Otherwise(<#Int#>) subscript(index: Int) -> Int { get }
      @Otherwise(<#String#>) static func make() -> String
      // From 'Door':
      @Otherwise(<#Bool#>) nonisolated func open() -> Bool
      // From 'Named':
      nonisolated var title: String? { get set }
      nonisolated func rename(_ name: String)
    }

    """

  @Test(
    "a protocol of another module is printed with its inherited requirements", .compilerOfOwnMachine
  )
  func restated() throws {
    let modules = try Modules.compiled.get()
    let finished = try Tool.run(["proxy", "Rooms.RoomDelegate", "-I", modules.folder.path])
    #expect(finished.status == 0, "\(finished.errors)")
    #expect(finished.output == Self.restated)
  }

  @Test("a protocol with a type parameter is printed under a chosen name", .compilerOfOwnMachine)
  func generic() throws {
    let modules = try Modules.compiled.get()
    let finished = try Tool.run([
      "proxy", "--name", "Ears", "Rooms.Listener", "-I", modules.folder.path,
    ])
    #expect(
      finished.output == """
        import Forwarding
        import Rooms

        @Forwardable(as: (any Rooms::Listener).self)
        protocol Ears<Event>: AnyObject {
          associatedtype Event: Sendable
          func hear(_ event: Event) -> Event?
        }

        """, "\(finished.errors)")
  }

  @Test(
    "a protocol that no proxy can represent, or that does not exist, is an error with advice",
    .compilerOfOwnMachine,
    arguments: [
      (["Rooms.Made"], 1, "no proxy can have 'init(number: Int)', which 'Made' requires"),
      (["Rooms.Suite"], 1, "no proxy can have 'init(number: Int)', which 'Numbered' requires"),
      (["Rooms.Ordered"], 1, "'Ordered' inherits 'Comparable', and no proxy can conform to that"),
      (["Rooms.Roam"], 1, "no public protocol 'Roam'; it has: Door, Listener, Made, Ordered, "),
      (["Rooms.Roam"], 1, "'FoundationEssentials' and 'FoundationXML' are beside 'Foundation'"),
      (["Rooms.Dor"], 1, "no public protocol 'Dor'; did you mean 'Door'?"),
      (["Attic.Door"], 65, "the module 'Attic' is not found"),
      (["Attic.Door"], 65, "forward proxy Attic.SomeDelegate -I .build/debug/Modules"),
      (["RoomDelegate"], 64, "'RoomDelegate' names no module: write Module.RoomDelegate"),
      (["Rooms.Door", "Rooms.Made"], 64, "takes one protocol, but 'Rooms.Made' was given, too"),
      ([], 64, "a protocol with its module: forward proxy FoundationXML.XMLParserDelegate"),
    ])
  func refused(_ arguments: [String], _ status: Int, _ message: String) throws {
    let modules = try Modules.compiled.get()
    let options = arguments.isEmpty ? [] : ["-I", modules.folder.path]
    let finished = try Tool.run(["proxy"] + arguments + options)
    #expect(finished.status == Int32(status))
    #expect(finished.errors.contains(message), "\(finished.errors)")
    #expect(finished.output.isEmpty)
  }

  #if Macros
    private func check(_ source: String, _ name: String, in modules: Modules) throws -> Finished {
      try modules.compile(
        source, name,
        ["-typecheck", "-parse-as-library", "-warnings-as-errors", "-module-name", "Client"]
          + Toolchain.moduleOptions + Toolchain.macroOptions)
    }

    @Test("the output compiles as soon as each placeholder has a value")
    func compiles() throws {
      let modules = try Modules.compiled.get()
      let client = """

        @MainActor func ask(_ target: any RoomDelegate) -> Int {
          let all = Multicast<RoomDelegateListProxy>()
          all.add(target)
          let proxy: any RoomDelegate = all.proxy
          proxy.rename("hall")
          return proxy.limit
        }
        """
      let filled = ["[String: Int]": "[:]", "Int": "0", "String": "\"\"", "Bool": "true"]
      let source = filled.reduce(Self.restated) {
        $0.replacing("<#\($1.key)#>", with: $1.value)
      }
      let finished = try check(source + client, "Client", in: modules)
      #expect(finished.status == 0, "\(finished.errors)")
      let empty = try check(Self.restated, "Client", in: modules)
      let errors = empty.errors.split(separator: "\n").filter { $0.contains(" error: ") }
        .filter { $0.contains("/Client.swift:") }.map { $0.split(separator: "error: ")[1] }
      #expect(errors.count == 12, "\(empty.errors)")
      #expect(errors.count { $0 == "editor placeholder in source file" } == 6)
      #expect(errors.contains { $0.hasPrefix("'@Otherwise' has no value yet: write what 'open") })
      #expect(!empty.errors.contains("@__swiftmacro"))
    }

    #if os(Linux)
      @Test("a requirement with a closure and a default is marked: each target calls the closure")
      func closures() throws {
        let delegate = try Tool.run(["proxy", "FoundationNetworking.URLSessionDataDelegate"])
        let lines = delegate.output.split(separator: "\n")
        let marked = lines.indices.filter {
          lines[$0].contains("// Each target calls the closure of")
        }
        #expect(marked.count > 2)
        #expect(marked.allSatisfy { lines[$0 + 1].contains("@escaping") })
      }

      @Test("a protocol of the system compiles as printed", .compilerOfOwnMachine)
      func system() throws {
        let modules = try Modules.compiled.get()
        let delegate = try Tool.run(["proxy", "FoundationXML.XMLParserDelegate"])
        #expect(delegate.status == 0, "\(delegate.errors)")
        let source = delegate.output.replacing("<#Data?#>", with: "nil")
        let finished = try check(source, "System", in: modules)
        #expect(finished.status == 0, "\(finished.errors)")
      }
    #endif
  #endif
}

extension Trait where Self == ConditionTrait {
  fileprivate static var compilerOfOwnMachine: Self {
    .notEmulated("its compiler reads modules of the machine that it runs on")
  }
}

// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  @testable import TestedBenchmarks

  private enum Unspoilt {}
  private enum Spoilt {}
  private enum Replaced {}

  /// In optimized builds the names of private types differ from those of the runtime, so they are
  /// not compared.
  private func isByHand(_ error: any Error, _ selector: String) -> Bool {
    guard case FaceRowError.byHand(let method) = error else { return false }
    return method.hasPrefix("-[Delegate<") && method.hasSuffix(" \(selector)]")
  }

  @Suite("Rows of faces")
  struct FaceRowTests {
    private func register<Kind>(_ kind: Kind.Type) throws {
      try MethodTable.of(Delegate<Kind>.self).register("count:", replacing: true) {
        (target: Delegate<Kind>, number: Int) in target.last = number
      }
    }

    private func targets<Kind>(_ kind: Kind.Type) throws -> TargetsOfFace<ChatListeningProxy> {
      try TargetsOfFace([Delegate<Kind>(), Delegate<Kind>()])
    }

    @Test("rows whose targets have the methods of the face are accepted, however many there are")
    func made() throws {
      let rows = try [
        Benchmark("value/face-a/1", behind: targets(Unspoilt.self)) { _ in },
        Benchmark("value/face-b/1", behind: targets(Unspoilt.self)) { _ in },
      ]
      try Benchmark.checkFaces(rows)
    }

    @Test("a row is refused if a method was registered by hand before it")
    func before() throws {
      try register(Spoilt.self)
      #expect {
        try targets(Spoilt.self)
      } throws: {
        isByHand($0, "count:")
      }
    }

    @Test("a row is refused if a method was registered by hand after it")
    func later() throws {
      let rows = [Benchmark("value/face-a/1", behind: try targets(Replaced.self)) { _ in }]
      try Benchmark.checkFaces(rows)
      try register(Replaced.self)
      #expect {
        try Benchmark.checkFaces(rows)
      } throws: {
        isByHand($0, "count:")
      }
    }

    @Test("a row of a face without a list of its targets is refused")
    func unchecked() {
      for name in ["value/face-weak/16", "undo/record/face", "value/ask-all/face-of-2"] {
        #expect(throws: FaceRowError.unchecked(name)) {
          try Benchmark.checkFaces([Benchmark(name) { _ in }])
        }
      }
    }

    @Test("the rows of this package are accepted, and each has its baseline")
    func all() throws {
      let names = Set(try CoreRows.all().map(\.name))
      for name in ["value/face-weak/16", "value/face-weak/16-of-2", "value/face-strong/16-of-16"] {
        #expect(names.contains(name))
      }
      for row in try CoreRows.faces() {
        if let baseline = row.baseline { #expect(names.contains(baseline), "\(row.name)") }
      }
    }
  }
#endif

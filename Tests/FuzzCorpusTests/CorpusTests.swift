// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzTargets
import Testing

/// Runs the corpus: small inputs that together reach every place that fuzzing has reached, and all
/// inputs that once broke something.
@Suite("The fuzzing corpus breaks nothing", .timeLimit(.minutes(60)))
struct CorpusTests {
  @Test("each file of the corpus", arguments: FuzzTarget.allCases)
  func corpus(target: FuzzTarget) async throws {
    guard target == .calls else { return try await Self.onOwnThread { try Self.run(target) } }
    // Calls choose for the whole process where the code of callbacks is from.
    await #expect(processExitsWith: .success) { try Self.run(.calls) }
  }

  /// Some targets block while they wait for tasks, which need the threads that tests run on.
  private static func onOwnThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
  }

  private static func run(_ target: FuzzTarget) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzz/Corpus/\(target.rawValue)")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(files.count > 10)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      #expect(throws: Never.self, "\(target.rawValue)/\(file.lastPathComponent)") {
        try target.run(bytes)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzTargets
import Testing

/// Runs the corpus: the inputs that once broke something, each under a name that says what, and the
/// beginnings of formats that random bytes do not reach.
@Suite("The fuzzing corpus breaks nothing")
struct CorpusTests {
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fuzz/Corpus")

  /// The targets that broke: the others have no folder.
  static let targets: [FuzzTarget] = {
    let folders = try! FileManager.default.contentsOfDirectory(atPath: corpus.path)
    return folders.sorted().map { FuzzTarget(rawValue: $0)! }
  }()

  @Test("each file of the corpus", arguments: targets)
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
    let files = try FileManager.default.contentsOfDirectory(
      at: corpus.appendingPathComponent(target.rawValue), includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      #expect(throws: Never.self, "\(target.rawValue)/\(file.lastPathComponent)") {
        try target.run(bytes)
      }
    }
  }
}

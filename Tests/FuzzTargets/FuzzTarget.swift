// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// The fuzz targets, which take arbitrary bytes. Each ends without a finding, or throws the promise
/// that is broken.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// The bytes are an encoding: of a type, and of a signature.
  case encodings
  /// Registered layouts, and an encoding that uses them.
  case layouts
  /// A signature with values for it: set, described, copied, and called through both engines.
  case calls
  /// An encoding and a text, on a line each: a value as the tool reads and writes it.
  case values
  /// A call as another process sends it, and an encoding with its values.
  case wire
  /// A journal, unchanged and with corrected checksums.
  case journal
  /// The requests that a host receives, and the answers that a call receives.
  case remote
  /// Messages on a socket, on a line each, from a connected peer.
  case frames
  /// Cancels of calls.
  case cancels

  /// Runs the target on the bytes.
  public func run(_ bytes: [UInt8]) throws {
    switch self {
    case .encodings: try EncodingFuzz.run(bytes)
    case .layouts: try LayoutFuzz.run(FuzzInput(bytes))
    case .calls: try CallFuzz.run(FuzzInput(bytes))
    case .values: try ValueFuzz.run(bytes)
    case .wire: try WireFuzz.run(bytes)
    case .journal: try JournalFuzz.run(bytes)
    case .remote: try RemoteFuzz.run(bytes)
    case .frames: try FrameFuzz.run(bytes)
    case .cancels: try CancelFuzz.run(bytes)
    }
  }
}

/// A broken promise.
public struct FuzzFinding: Error, CustomStringConvertible {
  public let description: String
}

/// Throws `claim` as a finding unless `holds`.
func demand(_ holds: Bool, _ claim: @autoclosure () -> String) throws {
  if !holds { throw FuzzFinding(description: claim()) }
}

/// Makes what each run of a target needs. An error is a fault of the target itself.
func made<Value>(_ make: () throws -> Value) -> Value {
  do { return try make() } catch { fatalError("\(error)") }
}

/// Takes numbers from the front of the bytes; after their end all numbers are 0.
struct FuzzInput {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  var isEmpty: Bool { bytes.isEmpty }

  mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  /// A number below `limit`.
  mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

  /// All remaining bytes.
  var rest: [UInt8] { Array(bytes) }

  /// The remaining bytes of a line.
  mutating func line() -> [UInt8] {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
    defer { bytes = bytes[min(end + 1, bytes.endIndex)...] }
    return Array(bytes[..<end])
  }
}

/// Waits on a plain thread for the value of a task. After half an hour it throws an error that
/// names the value.
func awaited<Value: Sendable>(
  _ what: String, _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let isDone = DispatchSemaphore(value: 0)
  let result = Guarded<Result<Value, any Error>?>(nil)
  let task = Task {
    do {
      let value = try await body()
      result.withLock { $0 = .success(value) }
    } catch {
      result.withLock { $0 = .failure(error) }
    }
    isDone.signal()
  }
  try wait(for: isDone, what) { task.cancel() }
  guard let known = result.read({ $0 }) else {
    throw FuzzFinding(description: "\(what) ends with nothing")
  }
  return try known.get()
}

/// Waits for at most half an hour: the tasks of a whole test run may run first.
func wait(
  for signal: DispatchSemaphore, _ what: String, else giveUp: () -> Void = {}
) throws {
  if signal.wait(timeout: .now() + 1800) == .success { return }
  giveUp()
  throw FuzzFinding(description: "\(what) does not end within half an hour")
}

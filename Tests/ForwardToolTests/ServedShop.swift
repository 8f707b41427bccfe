// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// `forward serve`, in a process beside the test.
final class ServedShop {
  let process = Process()
  let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("forward-\(UInt64.random(in: 0 ... .max))").path
  let address: String
  /// The output before the first call.
  private(set) var header: [String] = []
  private let output = Pipe()
  private var text = ""

  init(_ options: [String] = [], at address: String? = nil) throws {
    self.address = address ?? "unix:\(path)"
    process.executableURL = Tool.program
    process.arguments = ["serve"] + options + [self.address]
    process.standardOutput = output
    try process.run()
    // One line of JSON, or all lines through the last one.
    while !text.hasSuffix("The calls:\n"), !(text.hasPrefix("{") && text.hasSuffix("\n")) {
      try #require(read(), "the shop has ended: \(text)")
    }
    header = text.split(separator: "\n").map(String.init)
    text = ""
  }

  /// Reads more output. Returns false at its end.
  private func read() -> Bool {
    let more = output.fileHandleForReading.availableData
    text += String(decoding: more, as: UTF8.self)
    return !more.isEmpty
  }

  /// The lines after the header, once the process has ended.
  func rest() throws -> [String] {
    while read() {}
    process.waitUntilExit()
    return text.split(separator: "\n").map(String.init)
  }

  /// Ends the process with a signal, and returns the lines after the header.
  func end(_ signal: Int32) throws -> [String] {
    kill(process.processIdentifier, signal)
    return try rest()
  }

  /// Kills the process.
  func end() {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: path)
  }

  var status: Int32 { process.terminationStatus }
}

#if NATS
  /// A NATS server on a free port of the loopback interface.
  final class LoopbackServer {
    private let process = Process()
    private let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("forward-nats-\(UInt64.random(in: 0 ... .max))")
    private(set) var url = ""

    init?() throws {
      let programs = [
        "/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server",
      ]
      guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
        return nil
      }
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = ["-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder.path]
      process.standardError = FileHandle.nullDevice
      try process.run()
      // The server writes the file once it listens.
      let file = folder.appendingPathComponent("nats-server_\(process.processIdentifier).ports")
      while process.isRunning, url.isEmpty {
        usleep(20_000)
        let ports = (try? Data(contentsOf: file)).flatMap {
          try? JSONSerialization.jsonObject(with: $0) as? [String: [String]]
        }
        url = ports?["nats"]?.first ?? ""
      }
    }

    func end() {
      process.terminate()
      process.waitUntilExit()
      try? FileManager.default.removeItem(at: folder)
    }
  }
#endif

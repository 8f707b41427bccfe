// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingJournal
import ForwardingTestSupport
import FuzzTargets
import Invocations
import Testing

@Suite("forward journal")
final class JournalCommandTests: Sendable {
  private final class Books {}

  private static let note = try! Message<NoResult, String, Int32>("note:times:")
  private static let total = try! Message<Int64>("total")

  /// A journal of two messages without a result and one with a result.
  private func write() throws {
    let table = MethodTable.of(Books.self)
    try table.register("note:times:", replacing: true) { (_: Books, _: String, _: Int32) in }
    try table.register("total", replacing: true) { (_: Books) -> Int64 in 42 }
    var interface = Interface("books")
    try interface.allow(Self.note)
    try interface.allow(Self.total)
    let journal = try Journal(at: path, interface: interface, to: Books())
    try Self.note("tea \u{1B}[2J", 2, on: journal)
    try Self.note("milk", 1, on: journal)
    #expect(try Self.total(on: journal) == 42)
    try journal.close()
  }

  private let path = FileManager.default.temporaryDirectory
    .appending(path: "forward-\(UUID()).journal").path

  deinit { try? FileManager.default.removeItem(atPath: path) }

  @Test("the calls are shown, with control characters escaped, and with --json each is an object")
  func shown() throws {
    try write()
    let result = try Tool.run(["journal", path])
    #expect(result.status == 0 && result.errors == "")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines[1].hasSuffix("note:times: \"tea \\u001b[2J\", 2"))
    #expect(lines[3].hasSuffix("total "))
    #expect(lines[1].contains(/^       1  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  note/))
    let objects = try Tool.objects(Tool.run(["journal", "--json", path]).output)
    #expect(objects.map { $0["sequence"] as? Int } == [1, 2, 3])
    #expect(objects[0]["selector"] as? String == "note:times:")
    #expect(objects[0]["encoding"] as? String == "v@:*i")
    #expect((objects[0]["arguments"] as? [Any])?.first as? String == "tea \u{1B}[2J")
  }

  @Test("--check prints the number of calls and the place of a torn end, and then exits with 1")
  func check() throws {
    try write()
    var result = try Tool.run(["journal", "--check", path])
    #expect(result.status == 0)
    #expect(result.output.contains("records            3\n"))
    #expect(result.output.contains("books/note:times:  2\n"))
    #expect(result.output.hasSuffix("whole\n"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try (bytes + [1, 2, 3]).write(to: URL(fileURLWithPath: path))
    result = try Tool.run(["journal", "--check", path])
    #expect(result.status == 1)
    #expect(
      result.output.hasSuffix(
        "torn: 3 bytes from byte \(bytes.count) on are not a whole record\n"))
    #expect(try Tool.run(["journal", path]).status == 0)
    #expect(
      try Tool.run(["journal", "--check", "--json", path]).output.contains("\"whole\":false"))
  }

  private struct Tree: Codable, Sendable {
    var kids: [Tree] = []
  }

  @Test(
    "deeply nested values are shown, and records that nest too deeply to show count as intact",
    arguments: [64, 510])
  func deep(depth: Int) throws {
    let grow = try Message<NoResult, Tree>("grow:")
    var limits = WireLimits()
    limits.depth = depth
    var interface = Interface("forest", limits: limits)
    try interface.allow(grow)
    let journal = try Journal(at: path, interface: interface)
    var tree = Tree()
    for _ in 0..<(depth / 2 - 1) { tree = Tree(kids: [tree]) }
    try grow(tree, on: journal)
    try journal.close()
    for options in [[], ["--json"], ["--check"]] {
      let result = try Tool.run(["journal"] + options + [path])
      #expect(result.status == 0 && result.errors == "")
      if options == ["--check"] { #expect(result.output.hasSuffix("whole\n")) }
      if options == [] { #expect(result.output.contains("(not shown: ") == (depth > 500)) }
      if options == ["--json"] {
        #expect(result.output.contains("\"arguments\":null") == (depth > 500))
      }
    }
  }

  @Test("a damaged file and a file that is no journal have different errors")
  func faults() throws {
    try write()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[40] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    var result = try Tool.run(["journal", path])
    #expect(result.status == 65 && result.errors.contains("there is no record at byte"))
    #expect(result.errors.contains("forward journal --salvage NEW \(path)\n"))
    try Data("text".utf8).write(to: URL(fileURLWithPath: path))
    result = try Tool.run(["journal", path])
    #expect(result.status == 65 && result.errors.contains("is not a journal"))
  }

  @Test(
    "--follow shows calls that are written meanwhile, and ends with the reader of its output, or at damage",
    arguments: [false, true])
  func follow(isDamaged: Bool) throws {
    try write()
    let process = Process()
    process.executableURL = Tool.program
    process.arguments = ["journal", "--json", "--follow", path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = ""
    func read(until count: Int) {
      while text.split(separator: "\n").count < count {
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { return }
        text += String(decoding: more, as: UTF8.self)
      }
    }
    read(until: 3)
    try write()
    read(until: 6)
    #expect(text.split(separator: "\n").count == 6)
    if isDamaged {
      let file = try #require(FileHandle(forWritingAtPath: path))
      try file.seekToEnd()
      try file.write(contentsOf: JournalBytes.record(kind: 2, 100, []))
    } else {
      try output.fileHandleForReading.close()
      try write()
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == (isDamaged ? 65 : 0))
  }

  @Test("a listing that the disk does not take fails, and does not look whole")
  func fullDisk() throws {
    try write()
    for arguments in ["journal '\(path)'", "journal --json '\(path)'", "--help"] {
      let result = try run(
        "/bin/sh", ["-c", "'\(Tool.program.path)' \(arguments) > /dev/full"])
      #expect(result.status == 1, "\(arguments)")
      #expect(result.errors.contains("the output cannot be written: No space left on device"))
    }
  }

  @Test("calls after damage are written to a new journal, and the losses are listed")
  func salvage() throws {
    try write()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let records = try Tool.run(["journal", "--json", path]).output.split(separator: "\n")
    let reader = try JournalReader(at: path)
    _ = try reader.next()
    let start = try #require(try reader.next()).offset
    var bytes = whole
    bytes[start + 37] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(try Tool.run(["journal", "--check", path]).status == 65)
    let output = path + ".out"
    defer { try? FileManager.default.removeItem(atPath: output) }
    var result = try Tool.run(["journal", "--salvage", output, path])
    #expect(result.status == 0 && result.errors == "")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3 && lines[0] == "2 calls in \(output)")
    #expect(lines[1].hasPrefix("left out  \(path): "))
    #expect(lines[1].hasSuffix("bytes from byte \(start) on could not be read"))
    #expect(lines[2] == "missing   call 2")
    // The calls have new numbers, and the same times.
    result = try Tool.run(["journal", "--json", output])
    let last = records[2].replacing("\"sequence\":3", with: "\"sequence\":2")
    #expect(result.output.split(separator: "\n") == [records[0], last])
    // An existing file is not overwritten.
    result = try Tool.run(["journal", "--salvage", output, path])
    #expect(result.status == 1 && result.errors.contains("File exists"))
    try FileManager.default.removeItem(atPath: output)
    result = try Tool.run(["journal", "--json", "--salvage", output, path])
    #expect(result.output.hasPrefix("{\"saved\":2,\"skipped\":[{\"path\":"))
    #expect(result.output.hasSuffix("\"missing\":[[2,2]]}\n"))
    // So is a torn end.
    try whole.dropLast().write(to: URL(fileURLWithPath: path))
    try FileManager.default.removeItem(atPath: output)
    result = try Tool.run(["journal", "--salvage", output, path])
    let torn = whole.count - 1 - (try JournalReader(at: output).size)
    #expect(result.output.contains("2 calls in \(output)\nleft out  \(path): \(torn) bytes from"))
  }

  @Test("a refused encoding of many records is parsed once")
  func refusedOnce() throws {
    let encoding = "v@:{S=c" + String(repeating: "{=}", count: 5000) + "}"
    let lengths = [1, 2, encoding.utf8.count].flatMap { JournalBytes.little($0, 2) }
    let definition = lengths + Array("sx:\(encoding)".utf8) + [1]
    var bytes = JournalBytes.beginning() + JournalBytes.record(kind: 1, 1, definition)
    for number in 2...3000 as ClosedRange<UInt64> {
      bytes += JournalBytes.record(kind: 2, number, [1])
    }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    // The system kills a process that takes more seconds of a processor.
    let limited = "ulimit -t 10; exec \"$0\" journal --check \"$1\""
    let result = try ForwardingTestSupport.run(
      "/bin/sh", ["-c", limited, Tool.program.path, path])
    #expect(result.status == 65)
    #expect(result.output.contains("records  3000\n"))
  }
}

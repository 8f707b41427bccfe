// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Invocations
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Journals: the cost to append a call, in comparison with one `write` of as many bytes, and to
// replay it.
extension CoreRows {
  private static let book = Selector("book:at:final:")

  static func journals() throws -> [Benchmark] {
    let message = try Message<NoResult, Int, Double, Bool>(book)
    let interface = try journalInterface(message)
    let subject = Subject()
    let call = try message.invocation(1, 0.5, true)
    let journal = try journal(interface, to: subject)
    let alone = try self.journal(interface, to: nil)
    // The record of a call with three arguments: 32 bytes, and 17 for an integer, a double and a
    // flag.
    let bytes = [UInt8](repeating: 7, count: 49)
    let file = try plainFile(O_APPEND)
    let written = try records(interface, message)
    return [
      Benchmark("journal/append/bare-write") { count in
        for _ in 0..<count { _ = unsafe write(file, bytes, bytes.count) }
      },
      Benchmark("journal/append/record", over: "journal/append/bare-write") { count in
        for _ in 0..<count { try alone.record(call) }
      },
      Benchmark("journal/append/send", over: "journal/append/bare-write") { count in
        for index in 0..<count { try message(index, 0.5, true, on: journal) }
      },
      Benchmark("journal/replay/send", over: "closure/call/stored") { count in
        var left = count
        while left > 0 {
          var options = ReplayOptions()
          options.last = UInt64(left)
          left -= try JournalReader(written).replay(interface, into: subject, options).made
        }
      },
    ]
  }

  /// The interface of one message that `Subject` has a method for.
  static func journalInterface(
    _ message: Message<NoResult, Int, Double, Bool>
  ) throws -> Interface {
    try MethodTable.of(Subject.self).register(message.selector, replacing: true) {
      (subject: Subject, value: Int, _: Double, _: Bool) in subject.keep(value)
    }
    var interface = Interface("benchmark")
    try interface.allow(message)
    return interface
  }

  static func temporaryPath() -> String {
    let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    return "\(folder)/forward-bench-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
  }

  /// Files that are deleted when the process ends. A journal must keep its name: one without a name
  /// is closed.
  private static let ownPaths = Mutex<[String]>([])
  private static let removesOwnPaths: Bool = {
    atexit { for path in CoreRows.ownPaths.withLock({ $0 }) { unsafe unlink(path) } } == 0
  }()

  private static func ownPath() -> String {
    let path = temporaryPath()
    if removesOwnPaths { ownPaths.withLock { $0.append(path) } }
    return path
  }

  /// A journal whose file is deleted when the process ends.
  static func journal(
    _ interface: Interface, to subject: Subject?, _ sync: JournalOptions.Sync = .never
  ) throws -> Journal {
    let path = ownPath()
    var options = JournalOptions()
    options.sync = sync
    return try Journal(at: path, interface: interface, to: subject, options)
  }

  /// A file that is deleted when the process ends. It has a name as a journal has, because the
  /// system waits longer for the disk if a file has one.
  static func plainFile(_ flags: Int32 = 0) throws -> Int32 {
    unsafe open(ownPath(), O_WRONLY | O_CREAT | flags | O_CLOEXEC, 0o600)
  }

  /// The bytes of a journal of 4096 calls.
  static func records(
    _ interface: Interface, _ message: Message<NoResult, Int, Double, Bool>
  ) throws -> [UInt8] {
    let path = temporaryPath()
    let journal = try Journal(at: path, interface: interface)
    defer { unsafe unlink(path) }
    for index in 0..<4096 { try message(index, 0.5, true, on: journal) }
    var bytes = [UInt8](repeating: 0, count: journal.size)
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let count = unsafe read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }
}

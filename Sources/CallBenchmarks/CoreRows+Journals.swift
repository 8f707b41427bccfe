import ForwardingJournal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// A file of calls: what it costs to append one, beside one `write` of as many bytes, and to make it again.
extension CoreRows {
  private static let book = Selector("book:at:final:")

  static func journals() throws -> [Benchmark] {
    let message = try Message<NoResult, Int, Double, Bool>(book)
    let interface = try journalInterface(message)
    let subject = Subject()
    let call = try message.invocation(1, 0.5, true)
    let journal = try journal(interface, to: subject)
    let alone = try self.journal(interface, to: nil)
    // The record of a call with three arguments: 32 bytes, and 17 for a number, another one, and a flag.
    let bytes = [UInt8](repeating: 7, count: 49)
    let file = try plainFile()
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

  /// The interface of one message, which a `Subject` has a method for.
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

  /// A journal whose file has no name, and goes with the process.
  private static func journal(_ interface: Interface, to subject: Subject?) throws -> Journal {
    let path = temporaryPath()
    defer { unsafe unlink(path) }
    return try Journal(at: path, interface: interface, to: subject)
  }

  private static func plainFile() throws -> Int32 {
    let path = temporaryPath()
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    unsafe unlink(path)
    return file
  }

  /// The bytes of a journal of 4096 calls.
  private static func records(
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

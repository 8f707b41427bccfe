// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
public import ForwardingRemote

// Calls to objects over a transport. The rows over NATS are in the package in Benchmarks, with
// those of libnats alone.
extension CoreRows {
  static func remote() throws -> [Benchmark] {
    let near = try RemoteCalls(InProcessTransport())
    let path = temporaryPath()
    let listening = try UnixSocketTransport(listeningAt: path)
    let far = try RemoteCalls(UnixSocketTransport(connectedTo: path), at: listening)
    return [
      // An echo of as many bytes, through the transport alone.
      Benchmark("remote/in-process/bare-100") { try near.echo(100 * $0) },
      Benchmark("remote/in-process/ask-100", over: "remote/in-process/bare-100") {
        try near.ask(100 * $0)
      },
      Benchmark("remote/in-process/tell-100") { try near.tell(100 * $0) },
      Benchmark("remote/socket/bare-10") { try far.echo(10 * $0) },
      Benchmark("remote/socket/ask-10", over: "remote/socket/bare-10") { try far.ask(10 * $0) },
    ]
  }
}

/// An object behind a transport, and its caller, whose calls have three arguments.
public final class RemoteCalls: @unchecked Sendable {
  // SAFETY: one row is measured at a time, and the mutable state has its own locks.
  private let transport: any Transport
  private let host: RemoteHost
  private let proxy: RemoteProxy
  private let echoing: any TransportSubscription
  private let subject = Subject()
  private let add: AsyncMessage<Int, Int, Int32, Int>
  private let note: Message<NoResult, Int, Int32, Int>
  private static let echo: RemoteSubject = "benchmark.echo"

  /// The bytes on the wire of a call, and of its answer.
  public static let (call, answer) = (12 + 8 + 20, 20 + 8)

  /// Exposes an object at one end of a transport, and sends from the other.
  public init(
    _ transport: any Transport, at other: (any Transport)? = nil, as name: String = "benchmark"
  ) throws {
    self.transport = transport
    add = try AsyncMessage("add:count:to:")
    note = try Message("note:count:to:")
    let table = MethodTable.of(Subject.self)
    try table.register("add:count:to:", replacing: true) {
      (_: Subject, a: Int, b: Int32, c: Int) in a &+ Int(b) &+ c
    }
    try table.register("note:count:to:", replacing: true) {
      (subject: Subject, a: Int, _: Int32, _: Int) in subject.keep(a)
    }
    var interface = Interface("benchmark")
    try interface.allow(add)
    try interface.allow(note)
    let there = other ?? transport
    host = RemoteHost(there, as: name)
    try host.expose(subject, interface)
    let answer = [UInt8](repeating: 0, count: Self.answer)
    echoing = try there.subscribe(to: Self.echo, group: nil) { $0.answer?(answer) }
    proxy = RemoteProxy(interface, transport, at: name, deadline: .seconds(10))
  }

  /// Makes `count` calls, one after the other.
  public func ask(_ count: Int) throws {
    try Self.waiting { [self] in
      var sum = 0
      for index in 0..<count { sum &+= try await add(index, 7, 1, on: proxy) }
      precondition(sum == count * (count - 1) / 2 + 8 * count, "the object was not asked")
    }
  }

  /// Makes `count` calls, all at once.
  public func askAtOnce(_ count: Int) throws {
    try Self.waiting { [self] in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<count {
          group.addTask { [self] in _ = try await add(index, 7, 1, on: proxy) }
        }
        try await group.waitForAll()
      }
    }
  }

  /// Sends `count` messages without answers, and waits until all have left.
  public func tell(_ count: Int) throws {
    for index in 0..<count { try note(index, 7, 1, on: proxy) }
    try Self.waiting { [self] in try await transport.flush(within: .seconds(10)) }
  }

  /// Sends as many bytes as `ask`, through the transport alone.
  public func echo(_ count: Int) throws {
    let bytes = [UInt8](repeating: 0, count: Self.call)
    let isThere = DispatchSemaphore(value: 0)
    for _ in 0..<count {
      let request = try transport.request(bytes, to: Self.echo) { _ in isThere.signal() }
      isThere.wait()
      request.end()
    }
  }

  /// Runs a task, and waits for its end.
  public static func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
    let isDone = DispatchSemaphore(value: 0)
    let failure = Failure()
    Task {
      do { try await body() } catch { failure.error = error }
      isDone.signal()
    }
    isDone.wait()
    if let error = failure.error { throw error }
  }

  private final class Failure: @unchecked Sendable {
    // SAFETY: read after the task has ended.
    var error: (any Error)?
  }
}

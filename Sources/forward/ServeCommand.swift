// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `forward serve`: exposes an object to other processes, and prints a line for each call.
enum ServeCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard let text = options.positional.first, options.positional.count == 1 else {
      throw options.fault("serve needs one ADDRESS")
    }
    let address = try RemoteAddress(text, options)
    let name = options.values["--as"]?.last ?? Shop.subject
    let count = try count(options)
    let end = Ending()
    let interface = try Shop.interface()
    let log = try CallLog(interface, limit: count, isJSON: options.isJSON) { end.reach() }
    let transport: WatchedTransport
    let host: RemoteHost
    do {
      transport = WatchedTransport(try address.listening(), log)
      host = RemoteHost(transport, as: name)
      end.watch(transport)
      try host.expose(Shop(), interface)
    } catch {
      return failed(error, options)
    }
    // The host is ready before the header is printed, so its reader may send at once.
    log.begin(header(text, name, interface, options))
    end.wait()
    return conclude(host, transport, isLost: end.isLost, options)
  }

  private static func count(_ options: Options) throws(UsageError) -> Int {
    guard let text = options.values["--count"]?.last else { return .max }
    guard let count = Int(text), count > 0 else {
      throw options.fault("--count needs a number of calls, not '\(text)'")
    }
    return count
  }

  private static func failed(_ error: any Error, _ options: Options) -> ExitCode {
    if options.isJSON { Terminal.out("{\"error\":\(WireValue.quoted("\(error)"))}") }
    Terminal.error("forward: \(error)")
    return .failed
  }

  // MARK: Output

  private static func header(
    _ address: String, _ name: String, _ interface: Interface, _ options: Options
  ) -> String {
    let subject = RemoteSubject(parts: name, interface.name).name
    if options.isJSON {
      let messages = interface.messages.map {
        "{\"selector\":\(WireValue.quoted($0.selector.name)),"
          + "\"encoding\":\(WireValue.quoted($0.encoding))}"
      }
      return "{\"address\":\(WireValue.quoted(address)),\"subject\":\(WireValue.quoted(subject)),"
        + "\"messages\":[\(messages.joined(separator: ","))]}"
    }
    let rows = interface.messages.map { [$0.selector.name, "'\($0.encoding)'"] }
    return Terminal.styled("\(subject) at \(address)", .bold) + "\n"
      + Terminal.table(rows, indent: "  ") + "\n"
      + "Try, from another shell:  forward send \(address) \(subject) price: 'd@:*' tea\n"
      + "^C ends it. The calls:"
  }

  private static func conclude(
    _ host: RemoteHost, _ transport: WatchedTransport, isLost: Bool, _ options: Options
  ) -> ExitCode {
    var problem: String?
    do { try Waiting.result { try await host.drain() } } catch TransportError.timedOut {
      problem = "some calls did not end in time"
    } catch {
      // After the connection is lost, no caller can be waiting.
      if !isLost { problem = "\(error)" }
    }
    if isLost { problem = "the connection is closed for good" }
    transport.close()
    let counts = host.statistics
    let rows = [
      ("asked", counts.asked), ("told", counts.told), ("answered", counts.answered),
      ("failed", counts.failed), ("refused", counts.refused), ("strange", counts.strange),
    ]
    if options.isJSON {
      let members = rows.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
      Terminal.out("{\"statistics\":{\(members)}}")
    } else {
      Terminal.out(Terminal.table(rows.map { [$0.0, "\($0.1)"] }, right: [1]))
    }
    if let problem { Terminal.error("forward: \(problem)") }
    return problem == nil ? .ok : .failed
  }
}

/// Ends the command: at ^C, after `--count` calls, and when the connection or the reader of the
/// output is gone.
private final class Ending: @unchecked Sendable {
  // SAFETY: `signals` and `changes` are set by one thread before it waits; the rest is a semaphore
  // and a lock.
  private let reached = DispatchSemaphore(value: 0)
  private let state = Guarded((isLost: false, signals: 0))
  private var signals: [any DispatchSourceSignal] = []
  private var changes: (any TransportSubscription)?

  init() {
    for number in [SIGINT, SIGTERM] {
      _ = signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [self] in
        let count = state.withLockInPlace { state in
          state.signals += 1
          return state.signals
        }
        // A second signal ends the process at once, without waiting for calls that still run.
        if count > 1 {
          _ = fflush(nil)
          _exit(128 + number)
        }
        reach()
      }
      source.activate()
      signals.append(source)
    }
  }

  /// Reports changes of the connection on standard error, and ends the command when it is closed.
  func watch(_ transport: WatchedTransport) {
    changes = transport.onChange { [self] change in
      switch change {
      case .interrupted: Terminal.error("forward: the connection broke, and is made again")
      case .restored: Terminal.error("forward: the connection is there again")
      case .closed:
        state.withLockInPlace { $0.isLost = true }
        reach()
      }
    }
  }

  var isLost: Bool { state.read { $0.isLost } }

  func reach() { reached.signal() }

  func wait() { reached.wait() }
}

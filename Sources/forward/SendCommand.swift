// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import InvocationText

/// `forward send`: sends a message to an object in another process.
enum SendCommand {
  static func run(_ options: Options) throws -> ExitCode {
    let isPing = options.flags.contains("--ping")
    let isTold = options.flags.contains("--tell")
    if isPing, isTold { throw options.fault("--ping asks who is there, and tells nothing") }
    let given = options.positional
    guard isPing ? given.count == 2 : given.count >= 4 else {
      throw options.fault(
        isPing
          ? "--ping needs an address and a NAME.INTERFACE"
          : "an address, a NAME.INTERFACE, a selector and an encoding are expected")
    }
    let address = try RemoteAddress(given[0], options)
    let name = try RemoteName(given[1], options)
    let deadline = try deadline(options)
    if isPing { return try ping(address, name, deadline, options) }
    if options.values["--expect"] != nil { throw options.fault("--expect goes with --ping") }
    let call: SpelledCall
    do {
      call = try SpelledCall(
        to: name.interface, given[2], given[3], Array(given.dropFirst(4)), options)
    } catch let error as UsageError {
      throw error
    } catch let error as TypeEncodingError {
      fail("\(error)", options, isOfTool: false)
      if (try? MethodSignature(parsing: given[3]))?.shape == .function {
        Terminal.error("forward: a message has '@:' behind its result, as in i@:i")
      }
      return .badData
    } catch {
      fail("\(error)", options)
      return .badData
    }
    do {
      if isTold { return try tell(call, address, name, options) }
      return try ask(call, address, name, deadline, options)
    } catch {
      return failed(error, given, options)
    }
  }

  private static func deadline(_ options: Options) throws(UsageError) -> Duration {
    guard let text = options.values["--deadline"]?.last else { return .seconds(5) }
    guard let seconds = Double(text), seconds > 0, seconds <= 86_400 else {
      throw options.fault("--deadline needs seconds, up to a day, not '\(text)'")
    }
    return .seconds(seconds)
  }

  // MARK: Sending

  private static func ask(
    _ call: SpelledCall, _ address: RemoteAddress, _ name: RemoteName, _ deadline: Duration,
    _ options: Options
  ) throws -> ExitCode {
    let (value, time) = try Waiting.result {
      let transport = try address.connected()
      defer { transport.close() }
      let proxy = RemoteProxy(call.interface, transport, at: name.host, deadline: deadline)
      let invocation = try call.invocation()
      let start = ContinuousClock.now
      try await proxy.forwardAwaiting(invocation)
      return (try call.result(of: invocation), ContinuousClock.now - start)
    }
    if options.isJSON {
      Terminal.out("{\"result\":\(value),\"milliseconds\":\(time.inMilliseconds)}")
      return .ok
    }
    switch value {
    case .text(let text): Terminal.out(plain(text))
    // Bytes are printed as they are written on the command line, without quotation marks.
    case .bytes: Terminal.out("\("\(value)".dropFirst().dropLast())")
    case .none where call.message.signature.resultType.kind == .void: break
    default: Terminal.out("\(value)")
    }
    return .ok
  }

  private static func tell(
    _ call: SpelledCall, _ address: RemoteAddress, _ name: RemoteName, _ options: Options
  ) throws -> ExitCode {
    try Waiting.result {
      let transport = try address.connected()
      defer { transport.close() }
      let proxy = RemoteProxy(call.interface, transport, at: name.host)
      try proxy.forward(call.invocation())
      try await transport.flush(within: .seconds(5))
    }
    if options.isJSON { Terminal.out("{\"told\":true}") }
    return .ok
  }

  private static func ping(
    _ address: RemoteAddress, _ name: RemoteName, _ deadline: Duration, _ options: Options
  ) throws -> ExitCode {
    let text = options.values["--expect"]?.last ?? "1"
    guard let expected = Int(text), expected > 0 else {
      throw options.fault("--expect needs a number of hosts, not '\(text)'")
    }
    do {
      let (count, time) = try Waiting.result {
        let transport = try address.connected()
        defer { transport.close() }
        let proxy = RemoteProxy(
          Interface(name.interface), transport, at: name.host, deadline: deadline)
        let start = ContinuousClock.now
        return (try await proxy.ping(expecting: expected), ContinuousClock.now - start)
      }
      if options.isJSON {
        Terminal.out("{\"hosts\":\(count),\"milliseconds\":\(time.inMilliseconds)}")
      } else {
        Terminal.out(
          "\(count) \(count == 1 ? "host" : "hosts") answered in \(time.inMilliseconds) ms")
      }
      return count >= expected ? .ok : .failed
    } catch {
      return failed(error, options.positional, options)
    }
  }

  // MARK: Failures

  private static func failed(
    _ error: any Error, _ given: [String], _ options: Options
  ) -> ExitCode {
    var members = ""
    if case RemoteError.failed(let code, let text) = error {
      members = ",\"code\":\(code),\"text\":\(WireValue.quoted(text))"
    }
    fail("\(error)", options, members)
    if let advice = advice(error, given) { Terminal.error("forward: \(advice)") }
    if case RemoteError.wire = error { return .badData }
    return .failed
  }

  /// A hint about the next step after an error.
  private static func advice(_ error: any Error, _ given: [String]) -> String? {
    switch error {
    case TransportError.unreachable where given[0].hasPrefix("unix:"):
      "is the program running that listens there? 'forward serve \(given[0])' is one to try"
    case TransportError.unreachable: "is the server running?"
    case RemoteError.unreachable:
      "a host listens at \(given[0]), but nothing there has the name \(given[1])"
    case RemoteError.timedOut:
      "whether it was performed is open; '--deadline SECONDS' waits longer"
    case RemoteError.mustBeAwaited: "leave --tell out, and the result is shown"
    case RemoteError.refused(.signatureMismatch, _):
      "write the types that the host has; those in your program must be the same"
    case RemoteError.refused(.unknownMessage, _):
      "only what the host has exposed may be sent; 'forward serve' prints its list"
    default: nil
    }
  }

  private static func fail(
    _ message: String, _ options: Options, _ members: String = "", isOfTool: Bool = true
  ) {
    if options.isJSON {
      Terminal.out("{\"error\":\(WireValue.quoted(message))\(members)}")
    }
    Terminal.error(plain(isOfTool ? "forward: \(message)" : message))
  }

  /// Makes text that may come from another process safe to print: all control characters but line
  /// ends are escaped.
  private static func plain(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { WireValue.visible(String($0)) }.joined(separator: "\n")
  }
}

extension Duration {
  /// The duration in milliseconds, rounded to hundredths.
  var inMilliseconds: Double { (self / .milliseconds(1) * 100).rounded() / 100 }
}

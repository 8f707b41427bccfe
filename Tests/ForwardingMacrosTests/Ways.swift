// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  @testable import Forwarding

  /// A proxy class whose proxies send messages to all targets.
  final class MessagesAlone: MulticastProxy, @unchecked Sendable {}

  /// The way in which a proxy reaches its targets. Both behave alike, so each test runs with both.
  enum ProxyWay: CaseIterable {
    case calls, messages

    var untyped: MulticastProxy { self == .calls ? MulticastProxy() : MessagesAlone() }
  }

  /// A log of targets, senders and diagnostics, in order.
  final class Story: Sendable {
    private let told = Guarded<[String]>([])

    func tell(_ line: String) { told.withLock { $0.append(line) } }

    var lines: [String] { told.read { $0 } }

    /// The entries since the last call.
    func take() -> [String] {
      told.withLock { told in
        defer { told = [] }
        return told
      }
    }

    /// Logs the diagnostics of a proxy.
    func listen(to untyped: MulticastProxy) {
      untyped.onDiagnostic = { [self] diagnostic in
        switch diagnostic {
        case .deadTarget: tell("dead")
        case .diedUnreached(_, let type): tell("unreached \(type)")
        case .failed(_, let selector, let error): tell("failed \(selector) \(error)")
        case .unheard(let selector, let error): tell("unheard \(selector) \(error)")
        case .unanswered(let selector): tell("unanswered \(selector)")
        default: break
        }
      }
    }
  }
#endif

#if Macros
  import Forwarding

  /// Its faces send messages to all targets.
  final class MessagesAlone: MulticastProxy, @unchecked Sendable {}

  /// How a face reaches its targets. Both mean the same, so a test of one is one of the other.
  enum FaceWay: CaseIterable {
    case calls, messages

    var proxy: MulticastProxy { self == .calls ? MulticastProxy() : MessagesAlone() }
  }

  /// What targets, senders and diagnostics say, in their order.
  final class Story: Sendable {
    private let told = Guarded<[String]>([])

    func tell(_ line: String) { told.withLock { $0.append(line) } }

    /// What was told since the last time.
    func take() -> [String] {
      told.withLock { told in
        defer { told = [] }
        return told
      }
    }

    /// Tells what the proxy is told of.
    func listen(to proxy: MulticastProxy) {
      proxy.onDiagnostic = { [self] diagnostic in
        switch diagnostic {
        case .deadTarget: tell("dead")
        case .failed(_, let selector, let error): tell("failed \(selector) \(error)")
        case .unheard(let selector, let error): tell("unheard \(selector) \(error)")
        case .unanswered(let selector): tell("unanswered \(selector)")
        default: break
        }
      }
    }
  }
#endif

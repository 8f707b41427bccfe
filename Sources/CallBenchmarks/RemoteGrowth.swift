/// What calls over NATS cost as there are more hosts, targets and calls than one machine has: which part is at its
/// end first, and what helps.
///
/// ```swift
/// var growth = RemoteGrowth(sender: 5e-6, host: 5e-6, server: 2e-7)
/// growth.hosts = 10
/// growth.callsOfEach = 1000
/// growth.first.part  // server
/// ```
public struct RemoteGrowth: Sendable {
  // MARK: What one call takes

  /// Seconds of a processor for one asked call: of who sends, of who answers, and of the server for one message in or out.
  public var sender: Double
  public var host: Double
  public var server: Double
  /// Bytes of a call or an answer on the network, with what the protocols add.
  public var bytes = 250.0

  // MARK: What there is

  /// Processes that answer, and objects that each exposes.
  public var hosts = 1
  public var targets = 1
  /// Processes that send.
  public var senders = 1
  /// Calls that each object gets in a second.
  public var callsOfEach = 1.0
  /// How many hosts answer one call: more than one for a gathering.
  public var answers = 1
  /// Servers that share the subjects among them.
  public var servers = 1
  /// Processors of a host, of a sender, and those that one server makes use of.
  public var processors = 4.0

  /// What one server takes unless told otherwise, and what a network card carries in a second.
  public static let connections = 65_536.0
  public static let network = 10e9 / 8

  /// Begins with what was measured, in seconds.
  public init(sender: Double, host: Double, server: Double) {
    (self.sender, self.host, self.server) = (sender, host, server)
  }

  /// A part that has an end.
  public enum Part: String, CaseIterable, Sendable {
    case senders, hosts, server, network, connections

    /// What helps when it is at its end.
    public var remedy: String {
      switch self {
      case .senders: "more processes that send"
      case .hosts: "more hosts in the group, which share its calls"
      case .server:
        "subjects on several servers: a leaf node for each group of hosts that talk to each other"
      case .network: "a leaf node on the machine of the hosts: what stays there crosses no network"
      case .connections: "leaf nodes: each is one connection for all behind it"
      }
    }
  }

  /// Calls in a second, all together.
  public var calls: Double { Double(hosts * targets) * callsOfEach / Double(answers) }

  /// Messages that the servers take in and give out in a second: a call in, and out to each who answers it; each
  /// answer in and out.
  public var messages: Double { calls * Double(1 + 3 * answers) }

  /// How much of a part is used: 1 is all of it.
  public func use(of part: Part) -> Double {
    let answered = calls * Double(answers)
    return switch part {
    case .senders: calls * sender * Double(answers) / (Double(senders) * processors)
    case .hosts: answered * host / (Double(hosts) * processors)
    case .server: messages * server / (Double(servers) * processors)
    case .network: messages * bytes / (Double(servers) * Self.network)
    case .connections: Double(hosts + senders) / (Double(servers) * Self.connections)
    }
  }

  /// The part that is at its end first, and how much of it is used.
  public var first: (part: Part, use: Double) {
    var first = (part: Part.senders, use: use(of: .senders))
    for part in Part.allCases where use(of: part) > first.use { first = (part, use(of: part)) }
    return first
  }

  /// How many calls of each object there can be in a second before something is at its end.
  public var mostOfEach: Double {
    var growth = self
    growth.callsOfEach = 1
    let use = Part.allCases.filter { $0 != .connections }.map { growth.use(of: $0) }.max() ?? 0
    return use > 0 ? 1 / use : 0
  }
}

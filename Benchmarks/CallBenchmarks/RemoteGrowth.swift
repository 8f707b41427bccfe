// SPDX-License-Identifier: Apache-2.0
/// Computes what calls over NATS cost with more hosts, targets and calls than one machine can have:
/// the part that is saturated first, and the remedy.
///
/// ```swift
/// var growth = RemoteGrowth(sender: 5e-6, host: 5e-6, server: 2e-7)
/// growth.hosts = 10
/// growth.callsOfEach = 1000
/// growth.first.part  // server
/// ```
public struct RemoteGrowth: Sendable {
  // MARK: The cost of one call

  /// Processor seconds for one call with an answer: in the sender, in the host, and in the server
  /// for each message in or out.
  public var sender: Double
  public var host: Double
  public var server: Double
  /// Bytes of a call or an answer on the network, with the overhead of the protocols.
  public var bytes = 250.0

  // MARK: The deployment

  /// The number of processes that answer, and of objects that each exposes.
  public var hosts = 1
  public var targets = 1
  /// The number of processes that send.
  public var senders = 1
  /// The number of calls that each object receives per second.
  public var callsOfEach = 1.0
  /// The number of hosts that answer one call: more than one for a gathering.
  public var answers = 1
  /// The number of servers that share the subjects.
  public var servers = 1
  /// The processors of a host, of a sender, and those that one server uses.
  public var processors = 4.0

  /// The default limit of connections of one server, and the bytes that a network card carries per
  /// second.
  public static let connections = 65_536.0
  public static let network = 10e9 / 8

  /// Takes the measured costs, in seconds.
  public init(sender: Double, host: Double, server: Double) {
    (self.sender, self.host, self.server) = (sender, host, server)
  }

  /// A part with limited capacity.
  public enum Part: String, CaseIterable, Sendable {
    case senders, hosts, server, network, connections

    /// The remedy when it is saturated.
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

  /// Calls per second, of all objects together.
  public var calls: Double { Double(hosts * targets) * callsOfEach / Double(answers) }

  /// Messages that the servers receive and send per second: one in for a call, and one out to each
  /// host that answers; one in and one out for each answer.
  public var messages: Double { calls * Double(1 + 3 * answers) }

  /// The utilization of a part: 1 is saturation.
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

  /// The part that is saturated first, and its utilization.
  public var first: (part: Part, use: Double) {
    var first = (part: Part.senders, use: use(of: .senders))
    for part in Part.allCases where use(of: part) > first.use { first = (part, use(of: part)) }
    return first
  }

  /// The number of calls to each object per second that saturates the first part.
  public var mostOfEach: Double {
    var growth = self
    growth.callsOfEach = 1
    let use = Part.allCases.filter { $0 != .connections }.map { growth.use(of: $0) }.max() ?? 0
    return use > 0 ? 1 / use : 0
  }
}

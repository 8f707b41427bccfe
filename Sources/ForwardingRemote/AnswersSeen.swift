// SPDX-License-Identifier: Apache-2.0
/// Answers to one request so far: one per host, up to limits of hosts and bytes.
struct AnswersSeen {
  private(set) var hosts: Set<UInt64> = []
  private var bytes = 0
  /// The most hosts whose answers are accepted, and the most bytes of all these answers.
  static let (hosts, bytes) = (4096, 64 << 20)

  mutating func admit(_ answer: RemoteAnswer) -> Bool {
    guard hosts.count < Self.hosts, bytes + answer.body.count <= Self.bytes,
      hosts.insert(answer.host).inserted
    else { return false }
    bytes += answer.body.count
    return true
  }
}

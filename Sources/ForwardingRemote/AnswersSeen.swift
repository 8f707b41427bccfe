/// What came so far for one request: one answer of each host, and not more than anybody wants to keep.
struct AnswersSeen {
  private(set) var hosts: Set<UInt64> = []
  private var bytes = 0
  /// The most hosts whose answers are taken, and the most bytes of them together.
  static let (hosts, bytes) = (4096, 64 << 20)

  mutating func takes(_ answer: RemoteAnswer) -> Bool {
    guard hosts.count < Self.hosts, bytes + answer.body.count <= Self.bytes,
      hosts.insert(answer.host).inserted
    else { return false }
    bytes += answer.body.count
    return true
  }
}

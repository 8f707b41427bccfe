// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Foundation
import Invocations
import RemoteTestSupport
import Testing

@Suite("Calls to other processes")
struct RemoteCallTests {
  @Test("a call is sent, performed and answered", arguments: Way.allCases)
  func asked(way: Way) async throws {
    let bank = try Bank(way)
    #expect(try await Vault.deposit(50, on: bank.remote) == 50)
    #expect(try await Vault.deposit(5, on: bank.remote) == 55)
    #expect(try await Vault.name("Ann é", on: bank.remote) == "Ann é's")
    await #expect(throws: RemoteError.failed(code: 28, text: "xx")) {
      try await Vault.fail(2, on: bank.remote)
    }
    #expect(bank.vault.balance == 55)
    #expect(bank.host.statistics == RemoteStatistics(asked: 4, answered: 3, failed: 1))
    #expect(bank.remote.statistics == RemoteStatistics(asked: 4, answered: 4))
  }

  @Test(
    "a call that is not awaited is sent without an answer, and refused if it has a result",
    arguments: Way.allCases)
  func told(way: Way) async throws {
    let bank = try Bank(way)
    let (host, remote) = (bank.host, bank.remote)
    try Vault.add.message(7, on: remote)
    // Sent after it, as a transport preserves the order.
    #expect(try await Vault.deposit(0, on: remote) == 7)
    #expect(throws: RemoteError.mustBeAwaited("vaultDeposit:")) {
      try Vault.deposit.message(1, on: remote)
    }
    // Calls that throw or are refused are counted.
    try Vault.fail.message(1, on: remote)
    #expect(try await Vault.deposit(1, on: remote) == 8)
    #expect(host.statistics.failed == 1 && host.statistics.refused == 0)
    host.authorize = { $0.selector != Vault.add.message.selector }
    try Vault.add.message(7, on: remote)
    #expect(try await Vault.deposit(1, on: remote) == 9)
    #expect(
      host.statistics == RemoteStatistics(asked: 3, told: 3, answered: 4, failed: 1, refused: 1))
  }

  @Test("300 concurrent calls in each direction call back ten times", arguments: Way.allCases)
  func callingBack(way: Way) async throws {
    let (there, here) = try way.ends()
    let banks = [try Bank((there, here)), try Bank((here, there))]
    for (bank, other) in zip(banks, banks.reversed()) {
      (bank.host.limit, bank.remote.inFlightLimit) = (10_000, 10_000)
      bank.vault.working = { [remote = other.remote] count in
        count > 0 ? try await Vault.work(count - 1, on: remote) + 1 : 0
      }
    }
    let remotes = banks.map(\.remote)
    let answers = await withTaskGroup(of: Int32?.self) { tasks in
      for number in 0..<600 {
        tasks.addTask { try? await Vault.work(10, on: remotes[number % 2]) }
      }
      return await tasks.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: 10, count: 600))
    for bank in banks { bank.vault.working = { $0 } }
  }

  @Test("a call that does not suspend is performed on the thread that receives it")
  func atOnce() throws {
    let bank = try Bank()
    let looks = Guarded<[Bool]>([])
    let own = SystemThread.current
    bank.vault.look = { _ in looks.withLock { $0.append(SystemThread.current == own) } }
    try Vault.add.message(1, on: bank.remote)
    #expect(looks.read { $0 } == [true])
  }

  @Test("a target with a queue receives its messages on the queue", arguments: Way.allCases)
  func lanes(way: Way) async throws {
    let queue = DispatchQueue(label: "vault")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let bank = try Bank(way, on: .queue(queue))
    let looks = Guarded<[Bool]>([])
    bank.vault.look = { _ in
      let isThere = DispatchQueue.getSpecific(key: key) == true
      looks.withLock { $0.append(isThere) }
    }
    try Vault.add.message(1, on: bank.remote)
    #expect(try await Vault.deposit(1, on: bank.remote) == 2)
    #expect(looks.read { $0 } == [true, true])
  }

  @Test("an object that forwards gets messages in their order")
  func order() async throws {
    let bank = try Bank()
    let host = RemoteHost(bank.there, as: "several")
    defer { host.close() }
    let amounts = Guarded<[Int32]>([])
    bank.vault.look = { amount in amounts.withLock { $0.append(amount) } }
    let several = MulticastProxy()
    several.add(bank.vault, strongly: true)
    try host.expose(several, Vault.interface())
    let remote = try bank.proxy(at: "several")
    await withTaskGroup(of: Void.self) { tasks in
      for number: Int32 in 0..<100 {
        tasks.addImmediateTask { _ = try? await Vault.deposit(number, on: remote) }
      }
    }
    #expect(amounts.read { $0 } == Array(0..<100))
  }

  @Test(
    "types that differ are refused with both signatures, and all calls alike without permission",
    arguments: Way.allCases)
  func mismatch(way: Way) async throws {
    let bank = try Bank(way)
    // An interface of the same name, with other types and an additional message.
    var other = Interface("bank")
    let wide = try AsyncMessage<Int64, Int64>("vaultDeposit:")
    let unknown = try AsyncMessage<Int64>("vaultSum")
    try other.allow(wide)
    try other.allow(unknown)
    let guessing = try bank.proxy(other)
    func expect(_ errors: RemoteError?...) async {
      let calls: [() async throws -> Void] = [
        { _ = try await Vault.deposit(1, on: bank.remote) },
        { _ = try await wide(1, on: guessing) }, { _ = try await unknown(on: guessing) },
      ]
      for (call, expected) in zip(calls, errors) {
        var thrown: (any Error)?
        do { try await call() } catch { thrown = error }
        #expect(thrown as? RemoteError == expected)
      }
    }
    let types = RemoteError.refused(
      .signatureMismatch, "'vaultDeposit:' has the types i@:i, but q@:q is given")
    let denied = RemoteError.refused(.unauthorized, "")
    await expect(nil, types, .refused(.unknownMessage, "the interface has no message 'vaultSum'"))
    let asked = LockedValue<[Selector]>([])
    bank.host.authorize = { caller in
      asked.withLock { $0.append(caller.selector) }
      return true
    }
    // `authorize` is not called for a message that the interface lacks.
    await expect(nil, types, denied)
    #expect(asked.withLock { $0 } == ["vaultDeposit:", "vaultDeposit:"])
    bank.host.authorize = { _ in false }
    await expect(denied, denied, denied)
    #expect(bank.vault.balance == 2)
  }

  @Test("the text of a type's own decoding error stays in its process", arguments: Way.allCases)
  func secrets(way: Way) async throws {
    let bank = try Bank(way)
    func spell(_ text: String) async throws -> Vault.Word {
      try await Vault.spell(Vault.Word(text), on: bank.remote)
    }
    #expect(try await spell("Fine") == Vault.Word("fine"))
    for (text, words) in [
      ("decode", "byte "), ("corrupt", "byte "), ("ENCODE", "byte 0: not a valid value of "),
    ] {
      let error = await #expect(throws: RemoteError.self) { try await spell(text) }
      guard case .refused(_, let reason) = error else {
        Issue.record("\(text): \(String(describing: error))")
        continue
      }
      #expect(reason.hasPrefix(words) && reason.contains("not a valid value of "), "\(reason)")
      #expect(!reason.contains("1234"), "\(reason)")
    }
    // The process that decodes an answer gets the whole error.
    await #expect { _ = try await spell("DECODE") } throws: { "\($0)".contains("1234") }
  }

  @Test("the members of a group share the calls, whatever its name", arguments: Way.allCases)
  func groups(way: Way) async throws {
    for group in ["workers", "my workers", "", "a.b *>", "é"] {
      let banks = try Bank.several(3, way, group: group)
      for _ in 0..<90 { _ = try await Vault.deposit(1, on: banks[0].remote) }
      #expect(banks.map(\.vault.balance).reduce(0, +) == 90)
      #expect(banks.allSatisfy { $0.vault.balance > 0 })
      // A busy machine may take longer than that to answer.
      var count = 0
      while group == "workers", count == 0 {
        count = try await banks[0].remote.gather(expecting: 3, within: .seconds(2)) {
          try await Vault.deposit(1, on: $0)
        }.answers.count
      }
      #expect(count < 2)
    }
  }

  @Test("a cancel reaches the member of a group that performs the call", arguments: Way.allCases)
  func groupCancel(way: Way) async throws {
    let banks = try Bank.several(3, way, group: "tellers")
    let remote = banks[0].remote
    let calls = (0..<7).map { _ in Task { try await Vault.sleep(600_000, on: remote) } }
    try await eventually { banks.map(\.host.statistics.asked).reduce(0, +) == 7 }
    let begun = banks.map(\.host.statistics.asked)
    // The last call goes on, as it is not cancelled.
    for call in calls.dropLast() { call.cancel() }
    for call in calls.dropLast() {
      await #expect(throws: RemoteError.cancelled) { try await call.value }
    }
    func cancelled() -> [Int] { banks.map(\.vault.cancellations) }
    try await eventually { cancelled().reduce(0, +) == 6 }
    #expect(zip(cancelled(), begun).allSatisfy { $0 <= $1 })
    calls.last?.cancel()
    try await eventually { cancelled() == begun }
  }
}

@Suite("The example in Documentation/Wire.md")
struct WirePageTests {
  private final class Account: MethodDeclaring {
    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("deposit:") { (_: Account, amount: Int32) in 100 + amount }
    }
  }

  private static let deposit = try! AsyncMessage<Int32, Int32>("deposit:")

  private func interface() throws -> Interface {
    var interface = Interface("bank")
    try interface.allow(Self.deposit)
    return interface
  }

  private func page(_ mark: String) throws -> [UInt8] {
    try listing(mark, of: "Documentation/Wire.md")
  }

  @Test("a sender encodes the request of the page, and its host the answer of the page")
  func bytes() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank-1")
    // A method of a class is performed at once, within the two seconds that the page leaves.
    try host.expose(Account(), interface())
    let (request, subject) = (try page("request"), Bank.subject("bank-1"))
    var answer = try await ask(transport, request, subject).get()
    #expect(answer[12..<20].elementsEqual(Envelope.bytes(of: host.number)))
    answer.replaceSubrange(12..<20, with: [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80])
    #expect(try answer == page("answer"))
    host.close()
    let sent = Guarded<[UInt8]>([])
    let listener = try transport.subscribe(to: subject, group: nil) { [answer] message in
      sent.withLock { $0 = message.payload }
      // The answer is for this request, not for that of the page.
      var bytes = answer
      bytes.replaceSubrange(4..<12, with: message.payload[4..<12])
      message.answer?(bytes)
    }
    defer { listener.end() }
    let proxy = try Bank.remote(transport, at: "bank-1", interface())
    proxy.deadline = .seconds(2_000_000)
    #expect(try await Self.deposit(50, on: proxy) == 150)
    var own = sent.read { $0 }
    // The time left and the number of the call differ from those of the page.
    let time = Int(own[2]) | Int(own[3]) << 8
    #expect((1_999_000_000...2_001_000_000).contains((time & 0x7FF) << (time >> 11)))
    own.replaceSubrange(2..<12, with: request[2..<12])
    #expect(own == request)
  }
}

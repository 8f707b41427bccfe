// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import ForwardingTestSupport
  import Foundation
  import RemoteTestSupport
  import Testing

  @Suite(
    "Many permission errors of a NATS server at a time", .serialized, .timeLimit(.minutes(60)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
  struct NATSDenialTests {
    private let folder: TemporaryFolder
    private let server: NATSServer
    private let here: NATSTransport

    init() throws {
      folder = try TemporaryFolder()
      server = try NATSServer(
        configuration: """
          authorization {
            users = [{
              user: "ann", password: "a"
              permissions: { publish: "allowed.>", subscribe: ["_INBOX.>", "allowed.>"] }
            }]
          }
          """, in: folder)
      var options = server.options()
      options.user = ("ann", "a")
      here = try NATSTransport(options)
    }

    private static func denied(_ kind: String, _ subject: String) -> String {
      "Permissions Violation for \(kind) to \"\(subject)\""
    }

    @Test("each call gets its own permission error")
    func calls() async throws {
      for round in 0..<20 {
        await withTaskGroup(of: Void.self) { tasks in
          for number in 0..<16 {
            tasks.addTask { [here] in
              let name = "bank-\(round)-\(number)"
              let words = Self.denied("Publish", "forwarding.\(name).bank")
              await #expect(throws: RemoteError.notCarried(.denied(words))) {
                let bank = RemoteProxy(
                  try Vault.interface(), here, at: name, deadline: .seconds(3000))
                _ = try await Vault.deposit(7, on: bank)
              }
            }
          }
        }
      }
    }

    @Test("each subscription gets its own permission error, whatever else is denied meanwhile")
    func subscriptions() async throws {
      let isOver = LockedValue(false)
      beginThread { [here] in
        var number = 0
        while !isOver.withLock({ $0 }) {
          try? here.publish([], to: RemoteSubject("denied.\(number % 3)"))
          number += 1
          usleep(20)
        }
      }
      for number in 0..<300 {
        let subject = RemoteSubject("forbidden.\(number)")
        #expect(throws: TransportError.denied(Self.denied("Subscription", subject.name))) {
          try here.subscribe(to: subject, group: nil) { _ in }
        }
        if number % 100 == 0 {
          #expect(throws: Never.self) {
            try here.subscribe(to: RemoteSubject("allowed.\(number)"), group: nil) { _ in }.end()
          }
        }
      }
      isOver.withLock { $0 = true }
    }

    @Test("a denied subject that is longer than the library's text of the error is recognized")
    func long() async throws {
      let name = String(repeating: "bank", count: 100)
      let bank = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
      let error = await #expect(throws: RemoteError.self) { try await Vault.deposit(7, on: bank) }
      let words = "not allowed: Permissions Violation for Publish to \"forwarding.bankbank"
      #expect(error?.description.hasPrefix(words) == true)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ProxyProtocols
  import ForwardingTesting
  import Invocations
  import Testing

  @Suite("Data sources of a protocol")
  struct DataSourceProxyTests {
    let chat = Chat("garden")
    let source = DataSource<ChatDelegateProxy>()

    @Test("it asks the fallback if no target answers, and then uses the default")
    func fallback() {
      let (screen, titles) = (Screen(), Titles())
      defer { withExtendedLifetime((screen, titles)) {} }
      #expect(source.proxy.unread == 0)
      source.add(screen)
      source.fallback = titles
      #expect(source.fallback is Titles)
      #expect(source.proxy.titleOfChat(chat) == "title")
      source.remove(screen)
      #expect(source.proxy.unread == 1)
      source.fallback = nil
      #expect(source.proxy.unread == 0)
    }

    @Test("it uses the default if the fallback omits the requirement")
    func fallbackLeavesOut() {
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      source.setFallback(screen)
      for _ in 0..<2 { #expect(source.proxy.titleOfChat(chat) == nil) }
    }

    @Test("a target on a queue cannot answer, so the next one is asked, which a report shows")
    func questionOnQueue() throws {
      let queue = DispatchQueue(label: "questions")
      let targets = [Titles(), Titles()]
      source.add(unchecked: targets[0], on: .queue(queue))
      source.add(targets[1])
      let late = Guarded(0)
      source.untyped.onDiagnostic = { diagnostic in
        if case .tooLate = diagnostic { late.withLock { $0 += 1 } }
      }
      #expect(source.proxy.unread == 1)
      #expect(try source.messages.unread.report().answers == [1])
      #expect(try source.messages.unread.first() == 1)
      // The report has an entry in place of a diagnostic.
      #expect(late.read { $0 } == 2)
      queue.sync { withExtendedLifetime(targets) {} }
    }
  }

  @Suite("Single targets of a protocol")
  struct SingleTargetProxyTests {
    let chat = Chat("garden")

    @Test("one thread may replace the target while others call it")
    func threads() {
      let single = SingleTarget<ChatDelegateProxy>()
      let targets = [Titles(), Titles()]
      defer { withExtendedLifetime(targets) {} }
      nonisolated(unsafe) let proxy = single.proxy
      nonisolated(unsafe) let shared = targets
      let untyped = single.untyped
      single.target = targets[0]
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for number in 0..<500 {
          if thread == 0 {
            untyped.add(shared[number % 2])
          } else {
            precondition(proxy.unread == 1)
          }
        }
      }
      #expect(single.target is Titles)
    }
  }

  @Suite("Intercepting a protocol")
  struct InterceptingProxyTests {
    let chat = Chat("garden")

    @Test("an interceptor retains its target by default")
    func keeping() {
      #expect(Intercepting<ChatDelegateProxy>(Screen()).proxy.unread == 3)
      #expect(Intercepting<ChatDelegateProxy>(Screen(), strongly: false).proxy.unread == 0)
    }

    @Test("handlers run without a lock; a message uses the handlers at its beginning")
    func reentrant() {
      let watched = Intercepting<ChatDelegateProxy>(Screen())
      let untyped = watched.untyped
      let added = Guarded(0)
      untyped.before { [unowned untyped] _ in
        untyped.before { _ in added.withLock { $0 += 1 } }
      }
      for _ in 0..<3 { _ = watched.proxy.unread }
      #expect(added.read { $0 } == 3)
    }

    @Test("one thread may add handlers while others send")
    func threads() {
      let watched = Intercepting<ChatDelegateProxy>(Titles())
      nonisolated(unsafe) let proxy = watched.proxy
      let untyped = watched.untyped
      let count = Guarded(0)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for _ in 0..<200 {
          if thread == 0 {
            let token = untyped.before { _ in count.withLock { $0 += 1 } }
            precondition(token.remove())
          } else {
            precondition(proxy.unread == 1)
          }
        }
      }
      #expect(untyped.target is Titles)
    }
  }
#endif

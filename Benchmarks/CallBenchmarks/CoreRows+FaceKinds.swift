// SPDX-License-Identifier: Apache-2.0
#if Macros
  import BenchmarkSubjects
  import Dispatch
  import Forwarding

  // Faces that are awaited, that return answers, and that see a class for the first time.

  @Forwardable
  protocol Uploading: AnyObject, Sendable {
    @Otherwise(0) func upload(_ number: Int) async -> Int
    @Otherwise(0) nonisolated(nonsending) func stay(_ number: Int) async -> Int
  }

  private final class Uploader: Uploading {
    /// The call keeps the optimizer from leaving out the change of thread, as in a method that does
    /// nothing.
    @inline(never)
    func upload(_ number: Int) async -> Int {
      subject_use(Int64(number))
      return number
    }

    @inline(never)
    nonisolated(nonsending) func stay(_ number: Int) async -> Int { number }
  }

  @Forwardable
  protocol Describing: AnyObject {
    @Otherwise(CoreRows.message) func describe(_ number: Int) -> CoreRows.ChatMessage
  }

  private final class Describer: Describing {
    @inline(never)
    func describe(_ number: Int) -> CoreRows.ChatMessage {
      CoreRows.ChatMessage(text: "a name that is long enough", number: number, parts: [])
    }
  }

  /// A property that refers weakly to its object.
  private final class WeakDescriber {
    weak var target: (any Describing)?
    init(_ target: any Describing) { self.target = target }
  }

  /// As many requirements as the delegate of a table view has.
  @Forwardable
  protocol Thirteen: AnyObject {
    func one(_ chat: CoreRows.Chat)
    func two(_ chat: CoreRows.Chat, _ text: String)
    func three(_ number: Int)
    func four(_ message: CoreRows.ChatMessage)
    func five(_ chat: CoreRows.Chat, didReceive message: CoreRows.ChatMessage)
    @Otherwise(true) func six(_ text: String) -> Bool
    @Otherwise(0) func seven(_ number: Int) -> Int
    func eight(_ chat: CoreRows.Chat) -> String?
    func nine(_ numbers: [Int]) throws
    func ten(_ any: any Sendable)
    func eleven(_ one: Int, _ other: Int, _ text: String)
    func twelve()
    func thirteen(_ chat: CoreRows.Chat, _ number: Double)
  }

  /// A generic class, to make another class for each `Kind`.
  private final class Fresh<Kind>: Thirteen {
    func one(_ chat: CoreRows.Chat) {}
    func two(_ chat: CoreRows.Chat, _ text: String) {}
    func three(_ number: Int) {}
    func four(_ message: CoreRows.ChatMessage) {}
    func five(_ chat: CoreRows.Chat, didReceive message: CoreRows.ChatMessage) {}
    func six(_ text: String) -> Bool { true }
    func seven(_ number: Int) -> Int { number }
    func eight(_ chat: CoreRows.Chat) -> String? { nil }
    func nine(_ numbers: [Int]) throws {}
    func ten(_ any: any Sendable) {}
    func eleven(_ one: Int, _ other: Int, _ text: String) {}
    func twelve() {}
    func thirteen(_ chat: CoreRows.Chat, _ number: Double) {}
  }

  /// An actor on a queue of its own, which no thread of the pool of tasks runs.
  private actor QueueActor {
    private final class Executor: SerialExecutor {
      private let queue = DispatchQueue(label: "caller")

      func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // SAFETY: the actor retains its executor, and each job is run once.
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
      }
    }

    private let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      unsafe executor.asUnownedSerialExecutor()
    }

    func ask(_ count: Int, _ ask: @escaping CoreRows.Asking) async {
      await CoreRows.ask(count, ask)
    }
  }

  /// A generic type, to make another type for each pair of types.
  private enum Pair<One, Other> {}

  extension CoreRows {
    /// A hundred awaited calls of one target, and of its method through the protocol. In two rows
    /// an actor on a queue calls, so that each call changes to the thread pool of tasks and back;
    /// in two the caller is a task of the pool, and nothing hops.
    static func awaited() throws -> [Benchmark] {
      let uploader = Uploader()
      let targets = try TargetsOfFace<UploadingProxy>([uploader])
      let many = Multicast<UploadingProxy>()
      many.add(uploader, strongly: true)
      func wait(_ body: @escaping @Sendable () async -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        Task {
          await body()
          isDone.signal()
        }
        isDone.wait()
      }
      let queue = QueueActor()
      func hopping(_ count: Int, _ ask: @escaping Asking) {
        wait { await queue.ask(100 * count, ask) }
      }
      func staying(_ count: Int, _ ask: @escaping Asking) {
        wait { await CoreRows.ask(100 * count, ask) }
      }
      let (method, face) = (uploader as any Uploading, many.face as any Uploading)
      return [
        Benchmark("value/await-100/method") { hopping($0) { await method.upload($0) } },
        Benchmark("value/await-100/face", over: "value/await-100/method", behind: targets) {
          hopping($0) { await face.upload($0) }
        },
        Benchmark("value/await-staying-100/method") { staying($0) { await method.stay($0) } },
        Benchmark(
          "value/await-staying-100/face", over: "value/await-staying-100/method", behind: targets
        ) { staying($0) { await face.stay($0) } },
      ]
    }

    fileprivate typealias Asking = nonisolated(nonsending) @Sendable (Int) async -> Int

    /// Awaits the answers for the first numbers, one after the other.
    fileprivate nonisolated(nonsending) static func ask(
      _ count: Int, _ ask: Asking
    ) async {
      var sum = 0
      for index in 0..<count { sum &+= await ask(index) }
      precondition(sum == count * (count - 1) / 2, "the target was not asked")
    }

    /// One target that answers with a structure, and a weak property; the answers of two targets,
    /// and a loop.
    static func asked() throws -> [Benchmark] {
      let behind = try TargetsOfFace<DescribingProxy>([Describer(), Describer()])
      // A weak reference makes reference counting of its object slower, so the other rows have
      // their own targets.
      let referred = [Describer(), Describer()]
      let properties = referred.map { WeakDescriber($0) }
      let single = SingleTarget<DescribingProxy>(behind.all[0])
      let (source, many) = (DataSource<DescribingProxy>(), Multicast<DescribingProxy>())
      for target in behind.all {
        source.add(target)
        many.add(target)
      }
      let (one, first, messages) = (single.face, source.face, many.messages.describe)
      func asking(_ count: Int, _ ask: (Int) -> ChatMessage) {
        var sum = 0
        for index in 0..<count { sum &+= ask(index).number }
        precondition(sum == count * (count - 1) / 2, "the target was not asked")
      }
      let property = properties[0]
      return [
        Benchmark("value/ask/weak-property") { count in
          withExtendedLifetime(referred) {
            asking(count) { property.target?.describe($0) ?? message }
          }
        },
        Benchmark("value/ask/face-single", over: "value/ask/weak-property", behind: behind) {
          asking($0) { one.describe($0) }
        },
        Benchmark("value/ask/face-source-of-2", over: "value/ask/weak-property", behind: behind) {
          asking($0) { first.describe($0) }
        },
        Benchmark("value/ask-all/loop-of-2") { count in
          withExtendedLifetime(referred) {
            for index in 0..<count {
              var answers: [ChatMessage] = []
              for property in properties {
                if let target = property.target { answers.append(target.describe(index)) }
              }
              precondition(answers.count == 2, "a target was not asked")
            }
          }
        },
        Benchmark("value/ask-all/face-of-2", over: "value/ask-all/loop-of-2", behind: behind) {
          count in
          for index in 0..<count {
            let answers = try messages.all(index)
            precondition(answers.count == 2, "a target was not asked")
          }
        },
      ]
    }

    /// Adds an object of a class that the face has not seen. The baseline makes only the class and
    /// the object.
    static func firstAdd() throws -> [Benchmark] {
      // Each class is used once, so no target can be checked in advance.
      let behind = try TargetsOfFace<ThirteenProxy>([])
      var next = 0
      func fresh() -> any Thirteen {
        next += 1
        return make(Void.self, next)
      }
      return [
        Benchmark("value/first-add-13/class") { count in
          for _ in 0..<count { _ = fresh() }
        },
        Benchmark("value/first-add-13/face", over: "value/first-add-13/class", behind: behind) {
          count in
          let many = Multicast<ThirteenProxy>()
          for _ in 0..<count { many.add(fresh()) }
        },
        Benchmark("value/first-add-13/face-again", over: "value/first-add-13/class", behind: behind)
        {
          count in
          let (many, target) = (Multicast<ThirteenProxy>(), Fresh<Void>())
          for _ in 0..<count { many.add(target) }
        },
      ]
    }

    /// Makes an object whose class depends on a number.
    @inline(never)
    private static func make<Kind>(_ kind: Kind.Type, _ number: Int) -> any Thirteen {
      if number == 0 { return Fresh<Kind>() }
      func grow<Digit>(_ digit: Digit.Type) -> any Thirteen {
        make(Pair<Kind, Digit>.self, number / Kinds.all.count)
      }
      let digit: Any.Type = Kinds.all[number % Kinds.all.count]
      return grow(digit)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo

// Undo: a change records a call, where a program without this package stores a closure, or two: one
// to undo the change, and one to do it again.
extension CoreRows {
  /// A number that records the inverse of each change.
  final class Counter: StepCounting {
    let undo = UndoStack()
    var value = 0

    func set(_ new: Int) {
      #if Macros
        let old = value
        undo.record(on: self, as: StepCountingProxy.self) { $0.set(old) }
      #endif
      value = new
    }
  }

  /// The same class for messages by name.
  final class NamedCounter: MethodDeclaring {
    let undo = UndoStack()
    var value = 0

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("set:") { (counter: NamedCounter, value: Int) in counter.value = value }
    }
  }

  static func undo() throws -> [Benchmark] {
    let closures = "undo/record/closures"
    let set = try Message<Void, Int>("set:")
    let (byMessage, byClosure, target) = (NamedCounter(), NamedCounter(), NamedCounter())
    for counter in [byMessage, byClosure] { counter.undo.onDiagnostic = { _ in } }
    var rows = [
      // A thousand steps are recorded and then dropped together: the time is for recording and
      // releasing one.
      Benchmark(closures) { count in
        var kept: [() -> Void] = []
        for index in 0..<count {
          if index % 1000 == 0 { kept.removeAll(keepingCapacity: true) }
          kept.append { [weak target] in target?.value = index }
        }
      },
      Benchmark("undo/record/two-closures") { count in
        var kept: [(undo: () -> Void, redo: () -> Void)] = []
        for index in 0..<count {
          if index % 1000 == 0 { kept.removeAll(keepingCapacity: true) }
          let undo: () -> Void = { [weak target] in target?.value = index }
          kept.append((undo, { [weak target] in target?.value = index + 1 }))
        }
      },
      Benchmark("undo/record/message", over: closures) { count in
        for index in 0..<count {
          if index % 1000 == 0 { byMessage.undo.removeAll() }
          try byMessage.undo.record(on: byMessage, set, index)
        }
      },
      Benchmark("undo/record/closure", over: closures) { count in
        for index in 0..<count {
          if index % 1000 == 0 { byClosure.undo.removeAll() }
          byClosure.undo.record(on: byClosure) { $0.value = index }
        }
      },
    ]
    #if Macros
      rows += try undoByFace(closures)
    #endif
    return rows
  }

  #if Macros
    private static func undoByFace(_ closures: String) throws -> [Benchmark] {
      let (counter, there) = (Counter(), Counter())
      let targets = try TargetsOfFace<StepCountingProxy>([counter, there])
      for counter in [counter, there] { counter.undo.onDiagnostic = { _ in } }
      there.set(1)
      return [
        Benchmark("undo/record/face", over: closures, behind: targets) { count in
          for index in 0..<count {
            if index % 1000 == 0 { counter.undo.removeAll() }
            counter.undo.record(on: counter, as: StepCountingProxy.self) { $0.set(index) }
          }
        },
        Benchmark("undo/undo-redo/face", over: closures, behind: targets) { count in
          for _ in 0..<count {
            try there.undo.undo()
            try there.undo.redo()
          }
        },
      ]
    }
  #endif
}

#if Macros
  @Forwardable
#endif
protocol StepCounting: AnyObject {
  func set(_ new: Int)
}

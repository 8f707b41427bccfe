// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import ForwardingUndo
import Invocations
import Testing

/// A number that records how its changes are reversed.
private final class Cell: MethodDeclaring {
  var value = 0
  var isRefusing = false
  private let undo: UndoStack
  private let isStrong: Bool
  weak var other: Cell?
  /// The number of its records, which selects the next kind of record.
  private var turn: Int

  init(_ undo: UndoStack, _ number: Int) {
    self.undo = undo
    isStrong = Action.isStrong(number)
    turn = number
  }

  private static let setOne = try! Message<Void, Int>("set:")
  private static let setBoth = try! Message<Void, Int, Int>("set:other:")

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("set:") { (cell: Cell, value: Int) in try cell.set(value) }
    methods.register("set:other:") { (cell: Cell, value: Int, other: Int) in
      try cell.set(value, other: other)
    }
  }

  func set(_ new: Int, _ key: String? = nil, other newOther: Int? = nil) throws {
    if isRefusing {
      isRefusing = false
      throw Refused()
    }
    let coalescing = key.map { $0 == "keep" ? UndoCoalescing.keepFirst($0) : .join($0) }
    turn += 1
    if newOther != nil {
      try undo.record(on: self, Self.setBoth, value, other?.value ?? 0, strongly: isStrong)
    } else if turn % 3 == 0 {
      let call = try Self.setOne.invocation(value)
      try undo.record(on: self, call, strongly: isStrong, coalescing: coalescing)
      // The record is a copy.
      try call.setArgument(-1, at: 2)
    } else {
      try undo.record(on: self, Self.setOne, value, strongly: isStrong, coalescing: coalescing)
    }
    value = new
    if let newOther { other?.value = newOther }
  }
}

/// A stack, its cells, and their saved values.
private final class RealStack {
  let undo = UndoStack()
  var cells: [Cell?] = []
  private var watched: [() -> Cell?] = []
  /// The values of the cells when they were marked as saved; nil once they are unknown.
  private var saved: [Int?]? = Array(repeating: 0, count: Action.cells)

  init() {
    undo.onDiagnostic = { _ in }
    cells = (0..<Action.cells).map { Cell(undo, $0) }
    for (index, cell) in cells.enumerated() {
      cell?.other = cells[(index + 1) % Action.cells]
      watched.append { [weak cell] in cell }
    }
  }

  /// The values of the live cells.
  var values: [Int?] { watched.map { $0()?.value } }

  /// Whether the stack is either modified, or all live cells have their saved values.
  func isHonest(_ values: [Int?]) -> Bool {
    guard let saved, !undo.isModified else { return true }
    return zip(values, saved).allSatisfy { now, then in now == nil || now == then }
  }

  /// The texts of steps that were shown before, as those of the model.
  private var texts: [String: String] = [:]
  private let hidden = /(group|name) \d+: | \(gone\)|[()]/
  private let pair = /Cell set:other: (\d+) \d+/

  /// The same text as that of the model, which knows no nesting and not the second value.
  func text(_ step: String) -> String {
    if let text = texts[step] { return text }
    let text = step.replacing(hidden, with: "").replacing(pair) { "2: \($0.1)" }
      .replacing("Cell set:", with: "1:")
    texts[step] = text
    return text
  }

  func take(_ action: Action) throws -> Bool {
    if action.isChange, !undo.isRecordingEnabled { saved = nil }
    switch action {
    case .set(let cell, let value, let key): try cells[cell]?.set(value, key)
    case .setPair(let cell, let value):
      if cells[(cell + 1) % Action.cells] != nil { try cells[cell]?.set(value, other: value + 1) }
    case .undo: return try undo.undo()
    case .redo: return try undo.redo()
    case .begin(let name): try undo.beginGroup(name)
    case .end: try undo.endGroup()
    case .endEvent: undo.endEvent()
    case .groupThatThrows(let cell, let value):
      try undo.group {
        try cells[cell]?.set(value)
        throw Refused()
      }
    case .removeAll: undo.removeAll()
    case .removeCell(let cell): return cells[cell].map { undo.removeAll(for: $0) } ?? false
    case .forget(let cell): cells[cell] = nil
    case .refuse(let cell): watched[cell]()?.isRefusing = true
    case .levels(let levels): undo.levels = levels
    case .byEvent(let isOn): undo.groupsByEvent = isOn
    case .disable: undo.disableRecording()
    case .enable: try undo.enableRecording()
    case .name(let name): undo.name = name
    case .markSaved:
      try undo.markSaved()
      saved = values
    case .endCoalescing: undo.endCoalescing()
    }
    return false
  }
}

@Suite("Random histories of an undo stack")
struct UndoModelTests {
  /// The first difference between the model and the stack in one history.
  static func difference(_ seed: UInt64, actions count: Int) -> String? {
    var random = SeededGenerator(seed: seed)
    var model = UndoModel()
    let real = RealStack()
    var history: [Action] = []
    // At the end everything is undone and redone, which exposes the contents of each step.
    let unwinding =
      [Action.enable, .enable, .end, .end] + Array(repeating: .undo, count: 8)
      + Array(repeating: .redo, count: 8)
    for index in 0..<(count + unwinding.count) {
      let action = index < count ? Action.random(using: &random) : unwinding[index - count]
      history.append(action)
      let expected = model.take(action)
      let given = try? real.take(action)
      if let wrong = compare(model, expected, real, given) {
        return "seed \(seed): \(wrong)\n  \(history.map { "\($0)" }.joined(separator: "\n  "))"
      }
    }
    return nil
  }

  private static func compare(
    _ model: UndoModel, _ expected: Bool?, _ real: RealStack, _ given: Bool?
  ) -> String? {
    let undo = real.undo
    var difference: String?
    func check<Value: Equatable>(_ what: String, _ given: Value, _ expected: Value) {
      if given == expected || difference != nil { return }
      difference = "\(what): \(given), and should be \(expected)"
    }
    check("the answer", given, expected)
    let values = real.values
    check("the cells", values, zip(model.values, model.isAlive).map { $1 ? $0 : nil })
    let hasEvent = model.open.first.map { $0.isEvent && !$0.changes.isEmpty } == true
    let count = model.done.count + (hasEvent ? 1 : 0)
    let onlyEvent = model.open.allSatisfy(\.isEvent)
    check("undoCount", undo.undoCount, count)
    check("redoCount", undo.redoCount, model.undone.count)
    check("groupDepth", undo.groupDepth, model.open.count)
    check("canUndo", undo.canUndo, onlyEvent && count > 0)
    check("canRedo", undo.canRedo, onlyEvent && !hasEvent && !model.undone.isEmpty)
    check("the steps", undo.steps.map(real.text), model.done.map(\.text))
    check("the redo steps", undo.redoSteps.map(real.text), model.undone.map(\.text))
    let name = hasEvent ? model.open[0].name : model.done.last?.name
    check("name", undo.name, model.open.isEmpty ? name : model.open[0].name)
    check("undoName", undo.undoName, name)
    check("undoTitle", undo.undoTitle, name.map { "Undo \($0)" } ?? "Undo")
    check("redoTitle", undo.redoTitle, model.undone.last?.name.map { "Redo \($0)" } ?? "Redo")
    check("that a modification is seen", real.isHonest(values), true)
    return difference
  }

  @Test("a stack behaves as the naive model does in random histories")
  func histories() {
    let seed = setting("FORWARDING_SEED", 1)
    let count = setting("FORWARDING_HISTORIES", 100)
    let actions = 30
    print("histories of undo: \(count) from seed \(seed), of \(actions) actions")
    for seed in seed..<(seed + count) {
      if let difference = Self.difference(UInt64(seed), actions: actions) {
        Issue.record("\(difference)")
        return
      }
    }
  }
}

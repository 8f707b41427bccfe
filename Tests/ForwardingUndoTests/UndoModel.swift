// SPDX-License-Identifier: Apache-2.0
// A naive undo stack: lists of values to set, without regard to time and memory.

struct UndoModel {
  indirect enum Node {
    /// Sets cells by one message.
    case set([(cell: Int, value: Int)])
    case group([Node])

    var cells: [Int] {
      switch self {
      case .set(let changes): [changes[0].cell]
      case .group(let nodes): nodes.flatMap(\.cells)
      }
    }

    /// The first value of each message, in the order of the records.
    var text: String {
      switch self {
      case .set(let changes): "\(changes.count): \(changes[0].value)"
      case .group(let nodes): "(\(nodes.map(\.text).joined(separator: "; ")))"
      }
    }
  }

  struct Group {
    var nodes: [Node] = []
    var name: String?
    var isEvent = false
    var isOver = false
    /// The key that all its records share; nil if they share none.
    var key: String?
  }

  typealias Entry = (node: Node, name: String?)

  var values = Array(repeating: 0, count: Action.cells)
  var isHeld = Array(repeating: true, count: Action.cells)
  var isAlive = Array(repeating: true, count: Action.cells)
  var refuses = Array(repeating: false, count: Action.cells)
  var done: [Entry] = []
  var undone: [Entry] = []
  var open: [Group] = []
  var levels: Int?
  var byEvent = false
  var disabled = 0
  var key: String?

  // MARK: Changes

  // Where the stack throws, the model returns nil or false, because the test runner inspects each
  // error.

  /// Changes cells and returns the node that reverses the change; nil if they refuse.
  private mutating func change(_ changes: [(cell: Int, value: Int)]) -> Node? {
    if refuses[changes[0].cell] {
      refuses[changes[0].cell] = false
      return nil
    }
    let old = changes.map { (cell: $0.cell, value: values[$0.cell]) }
    for change in changes { values[change.cell] = change.value }
    return .set(old)
  }

  private mutating func record(_ changes: [(cell: Int, value: Int)], _ key: String?) -> Bool {
    guard isHeld[changes[0].cell] else { return true }
    guard let back = change(changes) else { return false }
    if disabled > 0 { return true }
    undone = []
    if !open.isEmpty {
      add(back, key)
    } else if byEvent {
      open = [Group(isEvent: true)]
      add(back, key)
    } else {
      open = [Group()]
      add(back, key)
      close()
    }
    return true
  }

  private mutating func add(_ node: Node, _ key: String?) {
    let last = open.count - 1
    if open[last].nodes.isEmpty { open[last].key = key }
    if open[last].key != key { open[last].key = nil }
    if open[last].key == "keep", Self.contains(open[last].nodes, node) { return }
    open[last].nodes.append(node)
  }

  private static func contains(_ nodes: [Node], _ node: Node) -> Bool {
    guard case .set(let new) = node else { return false }
    return nodes.contains {
      if case .set(let old) = $0 {
        old[0].cell == new[0].cell && old.count == new.count
      } else {
        false
      }
    }
  }

  /// Closes the innermost group.
  private mutating func close() {
    let group = open.removeLast()
    if group.nodes.isEmpty { return }
    if !open.isEmpty { return add(.group(group.nodes), nil) }
    let newKey = group.key
    if let newKey, newKey == key, let newest = done.last {
      var nodes = if case .group(let nodes) = newest.node { nodes } else { [newest.node] }
      for node in group.nodes where newKey == "join" || !Self.contains(nodes, node) {
        nodes.append(node)
      }
      let node: Node = nodes.count == 1 ? nodes[0] : .group(nodes)
      done[done.count - 1] = (node, newest.name ?? group.name)
    } else {
      done.append((group.nodes.count == 1 ? group.nodes[0] : .group(group.nodes), group.name))
    }
    key = newKey
    trim()
  }

  private mutating func trim() {
    guard let levels else { return }
    done = done.suffix(levels)
    undone = undone.suffix(levels)
    if done.isEmpty { key = nil }
  }

  // MARK: Undo

  private func isAlive(_ node: Node) -> Bool { node.cells.contains { isAlive[$0] } }

  private static func flat(_ node: Node) -> [Node] {
    guard case .group(let nodes) = node else { return [node] }
    return nodes.flatMap(flat)
  }

  /// Performs a node, newest change first, and returns the nodes that reverse it. Returns nil if a
  /// change was refused and the others were taken back as far as possible.
  private mutating func perform(_ node: Node) -> [Node]? {
    var back: [Node] = []
    for case .set(let changes) in Self.flat(node).reversed() where isAlive[changes[0].cell] {
      guard let one = change(changes) else {
        for case .set(let changes) in back.reversed() { _ = change(changes) }
        return nil
      }
      back.append(one)
    }
    return back
  }

  private mutating func isReady() -> Bool {
    endEvent()
    return open.isEmpty
  }

  private mutating func go(_ isUndo: Bool) -> Bool? {
    guard isReady() else { return nil }
    while let entry = isUndo ? done.last : undone.last, !isAlive(entry.node) {
      if isUndo { done.removeLast() } else { undone.removeLast() }
    }
    guard let entry = isUndo ? done.last : undone.last else { return false }
    key = nil
    guard let back = perform(entry.node) else { return nil }
    if isUndo { done.removeLast() } else { undone.removeLast() }
    if !back.isEmpty, disabled == 0 {
      let node: Node = back.count == 1 ? back[0] : .group(back)
      if isUndo { undone.append((node, entry.name)) } else { done.append((node, entry.name)) }
    }
    trim()
    return true
  }

  private mutating func endEvent() {
    guard let event = open.first, event.isEvent else { return }
    if open.count > 1 { open[0].isOver = true } else { close() }
  }

  private static func without(_ cell: Int, _ node: Node) -> Node? {
    guard case .group(let nodes) = node else { return node.cells[0] == cell ? nil : node }
    let left = nodes.compactMap { without(cell, $0) }
    return left.isEmpty ? nil : .group(left)
  }

  // MARK: Taking actions

  /// Applies an action and returns its result; nil if the stack must throw.
  mutating func take(_ action: Action) -> Bool? {
    defer { bury() }
    switch action {
    case .set(let cell, let value, let key): return record([(cell, value)], key) ? false : nil
    case .setPair(let cell, let value):
      let other = (cell + 1) % Action.cells
      guard isHeld[other] else { return false }
      return record([(cell, value), (other, value + 1)], nil) ? false : nil
    case .undo: return go(true)
    case .redo: return go(false)
    case .begin(let name):
      if byEvent, open.isEmpty { open = [Group(isEvent: true)] }
      open.append(Group(name: name))
    case .end:
      guard let group = open.last, !group.isEvent else { return nil }
      close()
      if open.count == 1, open[0].isEvent, open[0].isOver { close() }
    case .endEvent: endEvent()
    case .groupThatThrows(let cell, let value):
      if byEvent, open.isEmpty { open = [Group(isEvent: true)] }
      open.append(Group())
      _ = record([(cell, value)], nil)
      close()
      return nil
    case .removeAll:
      (done, undone, key) = ([], [], nil)
      for index in open.indices { open[index].nodes = [] }
    case .removeCell(let cell): return isHeld[cell] ? remove(cell) : false
    case .forget(let cell): isHeld[cell] = false
    case .refuse(let cell): refuses[cell] = isAlive[cell]
    case .levels(let levels):
      self.levels = levels
      trim()
    case .byEvent(let isOn):
      byEvent = isOn
      if !isOn { endEvent() }
    case .disable: disabled += 1
    case .enable:
      if disabled == 0 { return nil }
      disabled -= 1
    case .name(let name):
      if open.isEmpty {
        if !done.isEmpty { done[done.count - 1].name = name }
      } else {
        open[0].name = name
      }
    case .markSaved:
      guard isReady() else { return nil }
      key = nil
    case .endCoalescing: key = nil
    }
    return false
  }
}

extension UndoModel {
  private mutating func remove(_ cell: Int) -> Bool {
    func count() -> Int {
      (done + undone).flatMap(\.node.cells).count + open.flatMap(\.nodes).flatMap(\.cells).count
    }
    let before = count()
    done = done.compactMap { entry in Self.without(cell, entry.node).map { ($0, entry.name) } }
    undone = undone.compactMap { entry in Self.without(cell, entry.node).map { ($0, entry.name) } }
    for index in open.indices where open[index].nodes.contains(where: { $0.cells.contains(cell) }) {
      open[index].nodes = open[index].nodes.compactMap { Self.without(cell, $0) }
      open[index].key = nil
    }
    let removed = count() < before
    if removed { key = nil }
    return removed
  }

  /// Marks cells as dead that have no owner.
  private mutating func bury() {
    for cell in isAlive.indices where isAlive[cell] && !isHeld[cell] {
      if Action.isStrong(cell), keeps(cell) { continue }
      isAlive[cell] = false
    }
  }
  private func keeps(_ cell: Int) -> Bool {
    ((done + undone).map(\.node) + open.flatMap(\.nodes)).contains { $0.cells.contains(cell) }
  }
}

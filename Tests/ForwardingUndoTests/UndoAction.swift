// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport

/// An operation on a stack and its cells.
enum Action {
  case set(cell: Int, value: Int, key: String?)
  /// Sets a cell and the next one by one message.
  case setPair(cell: Int, value: Int)
  case undo, redo
  case begin(name: String?), end, endEvent
  case groupThatThrows(cell: Int, value: Int)
  case removeAll, removeCell(Int), forget(Int)
  /// Makes the next change of the cell throw.
  case refuse(Int)
  case levels(Int?), byEvent(Bool), disable, enable
  case name(String), markSaved, endCoalescing

  static let cells = 5

  /// Whether the cell is recorded strongly.
  static func isStrong(_ cell: Int) -> Bool { cell == 0 }

  /// Whether it changes a cell, other than by an undo.
  var isChange: Bool {
    switch self {
    case .set, .setPair, .groupThatThrows: true
    default: false
    }
  }

  static func random(using random: inout SeededGenerator) -> Action {
    let cell = random.below(cells)
    let value = random.below(1000)
    switch random.below(100) {
    case 0..<22: return .set(cell: cell, value: value, key: nil)
    case 22..<26: return .setPair(cell: cell, value: value)
    case 26..<34: return .set(cell: cell, value: value, key: ["keep", "join"][random.below(2)])
    case 34..<52: return .undo
    case 52..<65: return .redo
    case 65..<70: return .begin(name: random.below(2) == 0 ? nil : "group \(value)")
    case 70..<76: return .end
    case 76..<79: return .endEvent
    case 79: return .groupThatThrows(cell: cell, value: value)
    case 80: return .removeAll
    case 81: return .removeCell(cell)
    case 82: return .forget(cell)
    case 83..<87: return .refuse(cell)
    case 87..<89: return .levels([nil, nil, 1, 3, 0][random.below(5)])
    case 89..<91: return .byEvent(random.below(2) == 0)
    case 91: return .disable
    case 92..<94: return .enable
    case 94..<96: return .name("name \(value)")
    case 96..<98: return .markSaved
    default: return .endCoalescing
    }
  }
}

extension SeededGenerator {
  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}

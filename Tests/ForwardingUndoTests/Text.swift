// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo

#if Macros
  @Forwardable
  protocol TextEditing: AnyObject {
    func insert(_ text: String, at offset: Int)
    func remove(_ count: Int, at offset: Int)
    func replaceAll(_ text: String) throws
    @Otherwise(0) func trim(to length: Int) -> Int
    func search(_ text: String) throws -> Int
    func fill(_ numbers: inout [Int])
  }

  /// Text that records its changes through a proxy.
  final class Text: TextEditing {
    let undo: UndoStack
    var text = ""

    init(_ undo: UndoStack) { self.undo = undo }

    func insert(_ new: String, at offset: Int) {
      undo.record(on: self, as: TextEditingProxy.self) { $0.remove(new.count, at: offset) }
      text.insert(contentsOf: new, at: text.index(text.startIndex, offsetBy: offset))
    }

    func remove(_ count: Int, at offset: Int) {
      let start = text.index(text.startIndex, offsetBy: offset)
      let end = text.index(start, offsetBy: count)
      let old = String(text[start..<end])
      undo.record(on: self, as: TextEditingProxy.self) { $0.insert(old, at: offset) }
      text.removeSubrange(start..<end)
    }

    func replaceAll(_ new: String) throws {
      if new == "never" { throw Refused() }
      let old = text
      try undo.record(on: self, as: TextEditingProxy.self) { try $0.replaceAll(old) }
      text = new
    }

    func trim(to length: Int) -> Int {
      let old = text.count
      remove(max(0, old - length), at: min(length, old))
      return old - text.count
    }

    func search(_ part: String) throws -> Int { text == part ? 0 : -1 }

    func fill(_ numbers: inout [Int]) { numbers = [] }
  }
#endif

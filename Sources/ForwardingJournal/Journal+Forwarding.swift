// SPDX-License-Identifier: Apache-2.0
public import ForwardingWire
import Invocations

// The journal as an object of a protocol.
extension Journal {
  /// Opens or creates a journal for a target that conforms to the protocol of a face, as
  /// ``init(at:interface:to:strongly:_:)`` does.
  public convenience init<Face: ForwardingFace>(
    at path: String, interface: Interface, to target: Face.__Target, as face: Face.Type,
    strongly: Bool = true, _ options: JournalOptions = JournalOptions()
  ) throws(JournalError) {
    let object = Face.__prepare(target)
    try self.init(
      at: path, interface: interface, to: object, strongly: strongly || Face.__isBox(object),
      options)
  }

  /// Returns an object of the face's protocol whose calls are recorded. It retains the journal.
  public func face<Face: ForwardingFace>(_ type: Face.Type = Face.self) -> Face {
    Face(forwardingTo: self)
  }
}

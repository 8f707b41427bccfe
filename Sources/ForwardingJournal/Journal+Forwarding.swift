// SPDX-License-Identifier: Apache-2.0
public import ForwardingWire
import Invocations

// The journal as an object of a protocol.
extension Journal {
  /// Opens or creates a journal for a target that conforms to the protocol of a proxy, as
  /// ``init(at:interface:to:strongly:_:)`` does.
  public convenience init<Proxy: GeneratedProxy>(
    at path: String, interface: Interface, to target: Proxy.__Target, as proxy: Proxy.Type,
    strongly: Bool = true, _ options: JournalOptions = JournalOptions()
  ) throws(JournalError) {
    let object = Proxy.__prepare(target)
    try self.init(
      at: path, interface: interface, to: object, strongly: strongly || Proxy.__isBox(object),
      options)
  }

  /// Returns an object of the proxy's protocol whose calls are recorded. It retains the journal.
  public func proxy<Proxy: GeneratedProxy>(_ type: Proxy.Type = Proxy.self) -> Proxy {
    Proxy(forwardingTo: self)
  }
}

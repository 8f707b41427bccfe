public import ForwardingWire
import Invocations

extension JournalReader {
  /// Makes the calls of the journal again, in their order.
  @discardableResult
  public func replay(_ interface: Interface, into target: AnyObject) throws -> Int {
    var performed = 0
    var ready: [(message: InterfaceMessage, call: Invocation)?] = []
    while let frame = try scanner.nextCall() {
      let index = Int(frame.header.message)
      while ready.count < scanner.definitions.count { ready.append(nil) }
      if ready[index] == nil {
        let definition = scanner.definitions[index]
        let message = try interface.message(
          definition.interface, definition.selector, definition.encoding)
        let call = Invocation(message.plan)
        try call.setSelector(message.selector)
        ready[index] = (message, call)
      }
      guard let (message, call) = ready[index] else { continue }
      try scanner.contents(of: frame) { (reader) throws(WireError) in
        try message.readArguments(of: call, from: &reader)
      }
      try call.send(to: target)
      performed += 1
    }
    return performed
  }
}

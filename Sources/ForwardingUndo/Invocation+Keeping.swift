import Forwarding
import Invocations

extension Invocation {
  /// Refuses arguments that nobody keeps.
  func checkKeepable() throws(ForwardingError) {
    if keepsAllArguments { return }
    guard let index = firstBorrowedArgument else { return }
    throw .borrowedArgument(index: index, type: methodSignature.argumentTypes[index])
  }
}

// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

extension Invocation {
  /// Refuses a call with an argument that points to memory which the call does not own.
  ///
  /// - Throws: `ForwardingError.borrowedArgument` for the first such argument.
  func checkKeepable() throws(ForwardingError) {
    if call.keepsAllArguments { return }
    guard let index = call.firstBorrowedArgument else { return }
    throw .borrowedArgument(
      selector, index: index, type: methodSignature.argumentTypes[index])
  }
}

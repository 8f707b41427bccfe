/// Everything: type encodings, invocations, and what forwards them.
@_exported public import Invocations
@_exported public import TypeEncodings

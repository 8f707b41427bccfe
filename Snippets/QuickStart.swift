// SPDX-License-Identifier: Apache-2.0
// The quick start of the README. `swift run QuickStart` prints the values in its comments.
import Forwarding
import Invocations
import TypeEncodings

// Functions of C and of Swift, registered under the encodings of their types, and called by name.
let functions = FunctionTable()
try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
try functions.register("greet") { (name: String) in "hello, \(name)" }
print(try functions.call("pow", 2.0, 10.0, returning: Double.self))  // 1024.0
print(try functions.call("greet", "Linux", returning: String.self))  // hello, Linux

// A class with a method, and one call: recorded once, sent to one object, forwarded to several.
final class Account {
  var balance: Int32
  init(_ balance: Int32) { self.balance = balance }
  func deposit(_ amount: Int32) -> Int32 {
    balance += amount
    return balance
  }
}

try MethodTable.of(Account.self).register("deposit:", Account.deposit)
let deposit = try Invocation(MethodSignature("i@:i"), selector: "deposit:")
try deposit.setArgument(Int32(50), at: 2)

let (mine, yours) = (Account(100), Account(7))
try deposit.invoke(on: mine)
print(try deposit.result(as: Int32.self))  // 150

let accounts = MulticastProxy()
accounts.add(mine)
accounts.add(yours)
print(try accounts.answers(to: deposit, as: Int32.self))  // [200, 57]

// Several delegates: held weakly, called in order, on the sender's thread or on queues of their own.
let (list, detail) = (ClosureTarget(), ClosureTarget())
try list.register("didSave:") { (id: Int32) in print("the list shows \(id)") }
try detail.register("didSave:") { (id: Int32) in print("the detail shows \(id)") }

let delegates = MulticastProxy()
delegates.add(list)
delegates.add(detail)
try Message<NoResult, Int32>("didSave:")(42, on: delegates)

// What is wrong is refused before the call, and says where.
do {
  try deposit.setArgument(2.5, at: 2)
} catch {
  print(error)  // argument 2 is i, but Double (d) was given
}
do {
  _ = try MethodSignature(parsing: "v@:{_Point=dd")
} catch {
  print(error)
  // v@:{_Point=dd
  //              ^ the structure is not closed with '}'
}

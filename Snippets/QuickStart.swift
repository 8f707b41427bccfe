// SPDX-License-Identifier: Apache-2.0
// The example of the README. `swift run QuickStart` prints the values in its comments.
import Forwarding
import Invocations
import TypeEncodings
let functions = FunctionTable()
try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
try functions.register("double", encoding: "ii") { (number: Int32) in 2 * number }
print(try functions.call("pow", 2.0, 10.0, returning: Double.self))  // 1024.0
print(try functions.call("double", Int32(21), returning: Int32.self))  // 42

final class Account {
  var balance: Int32 = 0
  func deposit(_ amount: Int32) -> Int32 {
    balance += amount
    return balance
  }
}
try MethodTable.of(Account.self).register("deposit:", Account.deposit)
let deposit = try Invocation(MethodSignature("i@:i"), selector: "deposit:")
try deposit.setArgument(Int32(50), at: 2)
let (mine, yours) = (Account(), Account())
for object in [mine, yours] { try deposit.invoke(on: object) }
let accounts = MulticastProxy()
accounts.add(mine)
accounts.add(yours)
print(try accounts.answers(to: deposit, as: Int32.self))  // [100, 100]
do { try deposit.setArgument(2.5, at: 2) } catch {
  print(error)  // argument 2 is Int32 (i), not Double (d)
}

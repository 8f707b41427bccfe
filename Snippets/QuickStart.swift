// The README's first screen. `swift run QuickStart` prints what its comments say.
import Forwarding

// Register functions of C and of Swift under the encodings of their types, and call them by name.
let functions = FunctionTable()
try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
try functions.register("greet") { (name: String) in "hello, \(name)" }

print(try functions.call("pow", 2.0, 10.0, returning: Double.self))  // 1024.0
print(try functions.call("greet", "Linux", returning: String.self))  // hello, Linux

// Give a class methods, and record a call once.
final class Account {
  var balance: Int32
  init(_ balance: Int32) { self.balance = balance }
}

try MethodTable.of(Account.self).register("deposit:") { (account: Account, amount: Int32) in
  account.balance += amount
  return account.balance
}

let deposit = try Invocation(MethodSignature("i@:i"), selector: "deposit:")
try deposit.setArgument(Int32(50), at: 2)

// Send it to one object, or forward it to many. A proxy holds them weakly.
let (mine, yours) = (Account(100), Account(7))
try deposit.invoke(on: mine)
print(try deposit.result(as: Int32.self))  // 150

let everyone = MulticastProxy()
everyone.add(mine)
everyone.add(yours)
print(try everyone.answers(to: deposit, as: Int32.self))  // [200, 57]

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

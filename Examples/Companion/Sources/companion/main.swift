// SPDX-License-Identifier: Apache-2.0
// A companion of another package: a log of calls by public API alone, in twenty lines (CallLog.swift). The program
// keeps calls, sends them again, and compares the price of a kept call with an undo step of ForwardingUndo.
import CallLog
import Forwarding
import ForwardingUndo

final class Account: MethodDeclaring {
  var balance = 0
  var notes: [String] = []

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("deposit:") { (account: Account, amount: Int) in account.balance += amount }
    methods.register("note:") { (account: Account, text: String) in account.notes.append(text) }
  }
}

let deposit = try Message<Void, Int>("deposit:")
let note = try Message<Void, String>("note:")

let account = Account()
let log = CallLog(of: account)
try deposit(5, on: log)
try note("a long salary of November", on: log)
try deposit(7, on: log)
let second = Account()
try log.sendAgain(to: second)
print(account.balance, second.balance, second.notes, log.calls.count)

/// The least nanoseconds that one of a thousand calls takes.
func least(_ body: () throws -> Void) rethrows -> Double {
  var least = Double.infinity
  for _ in 0..<50 {
    let time = try ContinuousClock().measure { try body() }
    least = min(least, Double(time.components.attoseconds) / 1e12)
  }
  return least
}

let kept = try least {
  let log = CallLog(of: account)
  for amount in 0..<1000 { try deposit(amount, on: log) }
}
let undone = try least {
  let undo = UndoStack()
  for amount in 0..<1000 {
    try undo.record(on: account, deposit, amount)
    try deposit(amount, on: account)
  }
}
print("A kept call takes \(Int((kept * 100 / undone).rounded())) % of an undo step.")

// SPDX-License-Identifier: Apache-2.0
// The time of calls between Swift and Python, in nanoseconds. Each row of the output is the best of
// many rounds.
//   attribute/function   PyObject_GetAttrString, and Py_DecRef of what it returns
//   attribute/member     an attribute of a PythonObject
//   callback/function    a Swift function, called by Python's map() for each element of a list
//   callback/make        a Swift function, made for Python and released
@testable import PythonKit

let clock = ContinuousClock()

/// Prints the least time that one of `operations` takes.
func row(_ name: String, _ operations: Int, rounds: Int = 400, _ body: (Int) -> Void) {
  var least = Double.infinity
  for _ in 0..<rounds {
    let time = clock.measure { body(operations) }
    let nanoseconds =
      Double(time.components.attoseconds) / 1e9 + Double(time.components.seconds) * 1e9
    least = min(least, nanoseconds / Double(operations))
  }
  print("row", name, least)
}

func measure() {
  let object = PythonObject(5)
  let pointer = PyFloat_FromDouble(1.5)
  "real".withCString { name in
    row("attribute/function", 2_000) { count in
      for _ in 0..<count {
        guard let found = PyObject_GetAttrString(pointer, name) else { fatalError("no attribute") }
        Py_DecRef(found)
      }
    }
  }
  row("attribute/member", 2_000) { count in
    for _ in 0..<count { precondition(object.real == object) }
  }
  var calls = 0
  let function = PythonFunction { (arguments: [PythonObject]) in
    calls += 1
    return arguments[0]
  }.pythonObject
  let list = Python.list(Python.range(1_000))
  row("callback/function", 1_000) { count in
    calls = 0
    precondition(Python.list(Python.map(function, list)) == list)
    precondition(calls == count)
  }
  row("callback/make", 200) { count in
    for _ in 0..<count { _ = PythonFunction { (_: PythonObject) in 1 }.pythonObject }
  }
}

measure()

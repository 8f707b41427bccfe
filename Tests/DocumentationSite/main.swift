// SPDX-License-Identifier: Apache-2.0
import Foundation

// DocumentationSite catalogs GRAPHS OUTPUT [BASE]   makes the input of `docc`, and prints the libraries
// DocumentationSite pages SITE                      checks that a finished site has each page at its address
// BASE is the path of the site on its server, with a slash in front.
let arguments = CommandLine.arguments.dropFirst().map { $0 }
let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)

func fail(_ faults: [String]) -> Never {
  for fault in faults { FileHandle.standardError.write(Data("docs: \(fault)\n".utf8)) }
  exit(1)
}

do {
  switch arguments.first {
  case "catalogs" where arguments.count >= 3:
    let catalogs = Catalogs(root: here, base: arguments.count > 3 ? arguments[3] : "")
    let faults = try catalogs.write(
      graphs: URL(fileURLWithPath: arguments[1]), output: URL(fileURLWithPath: arguments[2]))
    if !faults.isEmpty { fail(faults) }
    for library in Catalogs.libraries { print(library) }
  case "pages" where arguments.count >= 2:
    let pages = try Catalogs(root: here, base: "").pages().values
    // `docc` has checked the links within a catalog; those to another one name the address of a page.
    let missing = pages.map(\.address).filter {
      !FileManager.default.fileExists(atPath: arguments[1] + $0)
    }
    if !missing.isEmpty { fail(missing.map { "the site has no \($0)" }) }
    print("docs: \(pages.count) pages are at their addresses")
  default:
    fail(["DocumentationSite catalogs GRAPHS OUTPUT [BASE] | pages SITE"])
  }
} catch {
  fail(["\(error)"])
}

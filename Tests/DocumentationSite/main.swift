// SPDX-License-Identifier: Apache-2.0
import Foundation

// DocumentationSite catalogs GRAPHS OUTPUT [BASE]   makes the input of `docc`, and prints the libraries
// DocumentationSite links SITE [BASE]               checks the links of a finished site
// BASE is the path of the site on its server, with a slash in front.
let arguments = CommandLine.arguments.dropFirst().map { $0 }

func fail(_ faults: [String]) -> Never {
  for fault in faults { FileHandle.standardError.write(Data("docs: \(fault)\n".utf8)) }
  exit(1)
}

do {
  switch arguments.first {
  case "catalogs" where arguments.count >= 3:
    let catalogs = Catalogs(
      root: URL(fileURLWithPath: FileManager.default.currentDirectoryPath),
      base: arguments.count > 3 ? arguments[3] : "")
    let faults = try catalogs.write(
      graphs: URL(fileURLWithPath: arguments[1]), output: URL(fileURLWithPath: arguments[2]))
    if !faults.isEmpty { fail(faults) }
    for library in Catalogs.libraries { print(library) }
  case "links" where arguments.count >= 2:
    let links = SiteLinks(
      site: URL(fileURLWithPath: arguments[1]), base: arguments.count > 2 ? arguments[2] : "")
    let (count, broken) = try links.check()
    if !broken.isEmpty { fail(broken) }
    if count < 1000 { fail(["only \(count) links were found"]) }
    print("docs: \(count) links lead to a page")
  default:
    fail(["DocumentationSite catalogs GRAPHS OUTPUT [BASE] | links SITE [BASE]"])
  }
} catch {
  fail(["\(error)"])
}

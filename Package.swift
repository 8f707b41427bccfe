// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import CompilerPluginSupport
import Foundation
import PackageDescription

// Every Swift target opts in to the same checks; an exception needs a comment. Warnings are errors by
// the flags of `make` (Scripts/strict.flags), not here: a new warning of a later compiler must not
// break a program that depends on the package. Memory safety is checked in debug builds only, which
// every contributor makes: a release build may be unchecked (`-Ounchecked`), and the compiler does
// not allow the two together.
let checks: [SwiftSetting] = [
  .strictMemorySafety(.when(configuration: .debug)),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Test bodies handle raw frames and C fixtures on every other line, so `unsafe` marks are checked
// only in Sources, where they protect users.
let testChecks: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let cChecks: [CSetting] = [
  .define("_GNU_SOURCE", .when(platforms: [.linux])),
  .enableWarning("all"),
  .enableWarning("extra"),
]

// The folder of the toolchain's own SwiftSyntax, which the trait `Macros` builds the macros with.
// It is found beside the library that loads this manifest.
let hostLibraries: String = {
  let maps = FileHandle(forReadingAtPath: "/proc/self/maps")?.readDataToEndOfFile() ?? Data()
  let loader = String(decoding: maps, as: UTF8.self).split(separator: "\n").first {
    $0.hasSuffix("/libPackageDescription.so")
  }
  guard let loader, let start = loader.firstIndex(of: "/"),
    let end = loader.range(of: "/lib/swift/")?.upperBound
  else { return "/usr/lib/swift/host" }
  return loader[start..<end] + "host"
}()

// A library of this package, in `Sources/<name>`.
func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: checks)
}

// C functions, with their headers in `include`.
func shims(_ name: String, _ path: String) -> Target {
  .target(name: name, path: path, publicHeadersPath: "include", cSettings: cChecks)
}

// The tests of a module, in `Tests/<name>`, and modules that several of them use.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], _ more: [SwiftSetting] = []
) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: testChecks + more)
}
func testSupport(
  _ name: String, _ dependencies: [Target.Dependency], _ more: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: testChecks + more)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: testChecks)
}

// What a trait adds.
let macros = Target.Dependency.target(
  name: "ForwardingMacros", condition: .when(traits: ["Macros", "MacrosFromSource"]))
let nats = Target.Dependency.target(name: "CNATS", condition: .when(traits: ["NATS"]))

let core: [Target.Dependency] = ["Forwarding", "Invocations", "TypeEncodings"]
let tested = core + ["ForwardingTestSupport"]

let package = Package(
  name: "swift-forwarding",
  // `ForwardingTesting` is for tests only: it links Swift Testing and XCTest.
  products: [
    "Forwarding", "Invocations", "TypeEncodings", "InvocationText", "ForwardingUndo",
    "ForwardingTesting", "ForwardingWire", "ForwardingRemote", "ForwardingNATS",
    "ForwardingJournal",
  ].map { .library(name: $0, targets: [$0]) } + [
    .executable(name: "forward", targets: ["forward"])
  ],
  traits: [
    .default(enabledTraits: ["Macros"]),
    .trait(name: "Macros", description: "`@Forwardable`, by the SwiftSyntax of the toolchain."),
    .trait(name: "MacrosFromSource", description: "`@Forwardable`, by swift-syntax as a package."),
    .trait(name: "NATS", description: "`NATSTransport`, which needs libnats and its headers."),
  ],
  dependencies: [
    // Not even resolved without the trait `MacrosFromSource`.
    .package(url: "https://github.com/swiftlang/swift-syntax.git", "602.0.0"..<"604.0.0")
  ],
  targets: [
    // C: the only two targets that use libffi.
    .systemLibrary(
      name: "CLibFFI", path: "CShims/LibFFI", pkgConfig: "libffi",
      providers: [.apt(["libffi-dev"])]),
    .target(
      name: "CForwardingShims", dependencies: ["CLibFFI"], path: "CShims/CallShims",
      publicHeadersPath: "include", cSettings: cChecks),
    // System calls that Swift's own module of the system library leaves out.
    shims("CJournalShims", "CShims/JournalShims"),
    shims("CSocketShims", "CShims/SocketShims"),
    .systemLibrary(
      name: "CNATS", path: "CShims/NATS", pkgConfig: "libnats",
      providers: [.apt(["libnats-dev"])]),

    // Swift, bottom to top. Each target imports only the modules listed for it here.
    library("TypeEncodings", []),
    library("Invocations", ["TypeEncodings", "CForwardingShims"]),
    library("Forwarding", ["Invocations", "TypeEncodings", macros]),
    // The macro `@Forwardable`. Without one of the traits no program builds it.
    .macro(
      name: "ForwardingMacros",
      dependencies: [
        "SwiftSyntax", "SwiftDiagnostics", "SwiftParser", "SwiftSyntaxMacros",
        "SwiftSyntaxBuilder", "_SwiftCompilerPluginMessageHandling",
      ].map {
        .product(
          name: $0, package: "swift-syntax", condition: .when(traits: ["MacrosFromSource"]))
      },
      // Optimizing it takes three times as long as compiling it, in every clean build of a program.
      swiftSettings: checks + [
        .unsafeFlags(["-I", hostLibraries], .when(traits: ["Macros"])),
        .unsafeFlags(["-Onone"], .when(configuration: .release, traits: ["Macros"])),
      ],
      linkerSettings: [
        .unsafeFlags(
          ["-L", hostLibraries, "-Xlinker", "-rpath", "-Xlinker", hostLibraries],
          .when(traits: ["Macros"]))
      ]),
    // Arguments and results as JSON, which the tool reads and writes.
    library("InvocationText", ["Invocations", "TypeEncodings"]),
    // Undo and redo with recorded calls.
    library("ForwardingUndo", core),
    // Spies, whose failures are those of the running test.
    library("ForwardingTesting", core),
    // Calls as bytes, for other processes and for files; and a journal file of calls.
    library("ForwardingWire", core),
    library("ForwardingJournal", core + ["ForwardingWire", "CJournalShims"]),
    // Messages to objects in other processes, and the transports that carry them.
    library("ForwardingRemote", core + ["ForwardingWire", "CSocketShims"]),
    // The NATS transport. Empty without the trait `NATS`, so that other users do not need libnats.
    library("ForwardingNATS", ["ForwardingRemote", "ForwardingWire", "Invocations", nats]),
    .executableTarget(
      name: "forward",
      dependencies: core + ["InvocationText", "ForwardingJournal", "CForwardingShims"],
      swiftSettings: checks),

    // What several tests use.
    shims("CForwardingFixtures", "Tests/Fixtures"),
    testSupport("ForwardingTestSupport", ["TypeEncodings", "CForwardingFixtures"]),
    // A type of another module.
    testSupport("ForeignTypes", ["Forwarding", "Invocations"]),
    // Protocols with `@Forwardable`. Empty without the trait `Macros`.
    testSupport("ProxyProtocols", ["Forwarding"], [.strictMemorySafety()]),
    // Transports to another process, and a real NATS server.
    testSupport(
      "RemoteTestSupport", ["ForwardingRemote", "ForwardingNATS", "ForwardingTestSupport"]),
    // The fuzz targets. The package in Fuzz runs them on random bytes, FuzzCorpusTests on the
    // corpus.
    testSupport(
      "FuzzTargets",
      core + [
        "InvocationText", "CForwardingShims", "ForwardingWire", "ForwardingJournal",
        "CJournalShims", "ForwardingRemote",
      ]),
    // Random signatures as C, for machines that Swift does not run on.
    program("CallMatrix", tested + ["CForwardingShims"]),
    // Pages and symbols as the input of `docc`, for Scripts/docs.sh.
    program("DocumentationSite", []),

    // Tests.
    tests("TypeEncodingsTests", ["TypeEncodings", "ForwardingTestSupport", "FuzzTargets"]),
    tests("InvocationsTests", tested + ["CForwardingShims", "CForwardingFixtures"]),
    tests("InvocationTextTests", tested + ["InvocationText"]),
    tests(
      "ForwardingTests",
      tested + [
        "CForwardingShims", "CForwardingFixtures", "ForeignTypes", "ForwardingTesting",
        "InvocationText",
      ]),
    tests("ForwardingMacrosTests", tested + ["ProxyProtocols", "ForwardingTesting"]),
    // A program whose classes are isolated to the main actor by default.
    tests(
      "MainActorTests", ["Forwarding", "Invocations"],
      [
        .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
    // What users write, with the imports that the pages ask for.
    tests("ConsumerTests", core),
    tests("ForwardingTestingTests", tested + ["ForwardingTesting", "ForwardingJournal"]),
    tests("ForwardingUndoTests", tested + ["ForwardingUndo", "CForwardingFixtures"]),
    tests("ForwardingWireTests", tested + ["ForwardingWire"]),
    tests(
      "ForwardingJournalTests",
      tested + [
        "ForwardingJournal", "ForwardingWire", "ForwardingTesting", "CJournalShims",
        "CForwardingFixtures", "FuzzTargets",
      ]),
    tests(
      "ForwardingRemoteTests",
      tested + [
        "ForwardingRemote", "ForwardingNATS", "ForwardingWire", "RemoteTestSupport",
        "CForwardingFixtures",
      ]),
    tests("FuzzCorpusTests", ["FuzzTargets"]),
    tests(
      "ForwardToolTests",
      tested + ["forward", "InvocationText", "ForwardingJournal", "FuzzTargets"]),
    // The texts of this repository: links, examples, snippets, imports.
    tests("RepositoryTests", ["Invocations", "ForwardingTestSupport", "DocumentationSite"]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c17
)

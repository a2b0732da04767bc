// Checks that every module imports only modules below it.

import Foundation
import Testing

@Suite struct DependencyTests {
    /// The modules of the package that each module may import.
    private static let modules: [String: Set<String>] = [
        "CCurrentRun": [], "CLibuv": [], "CPageChecksums": [], "CProcessArguments": [], "CSQLite": [], "CZlib": [],
        "RivuletMacros": [],
        "RivuletBase": [],
        "RivuletJSON": ["RivuletBase"],
        "RivuletSchema": ["RivuletJSON"],
        "RivuletHTTP": ["RivuletBase"],
        "RivuletMetrics": [],
        "RivuletEventLoop": ["CLibuv", "RivuletBase"],
        "RivuletObservation": ["CCurrentRun", "RivuletBase", "RivuletJSON"],
        "RivuletObjects": [],
        "RivuletStores": ["RivuletBase", "RivuletJSON", "RivuletObjects"],
        "RivuletAccess": ["RivuletBase", "RivuletJSON"],
        "RivuletAuth": ["RivuletAccess", "RivuletBase", "RivuletJSON"],
        "RivuletEngine": [
            "RivuletAccess", "RivuletBase", "RivuletJSON", "RivuletObjects", "RivuletObservation", "RivuletSchema",
        ],
        "RivuletInProcess": ["RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation"],
        "RivuletSessions": [
            "RivuletAccess", "RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletSchema",
            "RivuletStores",
        ],
        "RivuletCluster": ["RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletSessions", "RivuletStores"],
        "RivuletNATS": ["RivuletBase", "RivuletCluster", "RivuletEngine", "RivuletEventLoop", "RivuletJSON"],
        "RivuletSQLite": [
            "CPageChecksums", "CSQLite", "CZlib", "RivuletBase", "RivuletCluster", "RivuletSessions", "RivuletStores",
        ],
        "RivuletServer": [
            "CZlib", "RivuletAccess", "RivuletAuth", "RivuletBase", "RivuletCluster", "RivuletEngine",
            "RivuletEventLoop", "RivuletHTTP", "RivuletJSON", "RivuletMetrics", "RivuletObservation", "RivuletSchema",
            "RivuletSessions", "RivuletStores",
        ],
        "Rivulet": [
            "RivuletAccess", "RivuletBase", "RivuletCluster", "RivuletEngine", "RivuletEventLoop", "RivuletInProcess",
            "RivuletJSON", "RivuletMetrics", "RivuletNATS", "RivuletObjects",
            "RivuletObservation", "RivuletSQLite", "RivuletSchema", "RivuletServer", "RivuletSessions", "RivuletStores",
        ],
        "RivuletTestClock": ["RivuletEngine"],
        "RivuletTesting": [
            "RivuletAccess", "RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletServer",
            "RivuletSessions", "RivuletStores", "RivuletTestClock",
        ],
        "RivuletExamples": ["Rivulet"],
        "RivuletCLI": [
            "CProcessArguments", "Rivulet", "RivuletAccess", "RivuletAuth", "RivuletBase", "RivuletCluster",
            "RivuletEventLoop", "RivuletExamples", "RivuletJSON", "RivuletNATS", "RivuletServer", "RivuletStores",
        ],
        "RivuletMain": ["RivuletCLI"],
    ]

    /// Modules that use nothing outside the process, also not through their imports: no I/O, no crypto, no threads of
    /// Dispatch.
    private static let pureModules: Set<String> = [
        "RivuletBase", "RivuletJSON", "RivuletHTTP", "RivuletSchema", "RivuletObservation", "RivuletObjects",
        "RivuletAccess", "RivuletEngine",
    ]
    /// The modules from outside of the package that a pure module may depend on.
    private static let pureLibraries: Set<String> = [
        "DequeModule", "FoundationEssentials", "HashTreeCollections", "HeapModule", "Logging", "Observation",
        "OrderedCollections", "Synchronization",
    ]
    /// The packages that a pure module may link.
    ///
    /// Each of them is a leaf.
    private static let purePackages: Set<String> = ["swift-collections", "swift-log"]
    /// The modules that access the system.
    private static let systemModules: Set<String> = [
        "CLibuv", "CPageChecksums", "CProcessArguments", "CSQLite", "CZlib",
    ]

    /// The parts of Foundation that link ICU's data (30 MB) into a binary, or that a server does not need.
    private static let largeModules: Set<String> = [
        "Foundation", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
    ]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every import of a module's files, as "file: module".
    private func imports(of name: String) throws -> [(file: String, module: String)] {
        let folder = Self.root.appending(path: "Sources/\(name)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try names.flatMap { name in
            try String(contentsOf: folder.appending(path: name), encoding: .utf8).split(separator: "\n")
                // The filter is fast. A regular expression for each line of the sources would take this suite half a
                // minute.
                .filter { $0.contains("import ") }
                .compactMap { line in
                    line.firstMatch(of: /^(?:@\w+ )*(?:\w+ )?import (\w+)/).map { (name, String($0.1)) }
                }
        }
    }

    @Test func `the list has every module`() throws {
        let folder = Self.root.appending(path: "Sources").path
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == Set(Self.modules.keys))
    }

    @Test(arguments: modules.keys.sorted())
    func `a module imports only modules below it`(_ name: String) throws {
        let allowed = try #require(Self.modules[name])
        for (file, module) in try imports(of: name) where Self.modules[module] != nil {
            #expect(allowed.contains(module), "\(name)/\(file) imports \(module)")
        }
    }

    /// All dependencies of a module, each with its path, such as `RivuletEngine → RivuletJSON → FoundationEssentials`.
    private func ways(from name: String, _ next: (String) throws -> Set<String>) rethrows -> [String: String] {
        var ways = [name: name]
        var open = [name]
        while let name = open.popLast(), let way = ways[name] {
            for module in try next(name).sorted() where ways[module] == nil {
                ways[module] = "\(way) → \(module)"
                open.append(module)
            }
        }
        return ways
    }

    @Test(arguments: pureModules.sorted())
    func `a pure module depends on nothing outside the process, also indirectly`(_ name: String) throws {
        let ways = try ways(from: name) { name in
            Self.modules[name] == nil ? [] : Set(try imports(of: name).map(\.module))
        }
        for (module, way) in ways {
            let isPure =
                Self.modules[module] == nil ? Self.pureLibraries.contains(module) : !Self.systemModules.contains(module)
            #expect(isPure, "\(way)")
        }
    }

    /// The dependencies of a target in Package.swift: targets, and packages as `package swift-log`.
    private static func dependencies() throws -> [String: Set<String>] {
        let text = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        let targets = try #require(text.components(separatedBy: "\n    targets: [").last)
        var found: [String: Set<String>] = [:]
        for target in targets.components(separatedBy: "\n        .") {
            guard let name = target.firstMatch(of: /name: "(\w+)"/)?.1 else { continue }
            let lists = target.components(separatedBy: "dependencies: [").dropFirst()
            let rest = lists.first?.components(separatedBy: "swiftSettings:").first ?? ""
            let packages = rest.matches(of: /package: "([\w-]+)"/).map { "package \($0.1)" }
            let names = rest.replacing(/\.product\(.*?\)/, with: "").matches(of: /"(\w+)"/).map { String($0.1) }
            found[String(name)] = Set(packages + names)
        }
        return found
    }

    @Test(arguments: pureModules.sorted())
    func `a pure module links only pure targets and packages`(_ name: String) throws {
        let dependencies = try Self.dependencies()
        // The macros run in the compiler, and are not part of a program.
        let ways = try ways(from: name) { name in
            name.hasPrefix("package ") ? [] : try #require(dependencies[name], "\(name)").subtracting(["RivuletMacros"])
        }
        for (module, way) in ways {
            let isPure =
                module.hasPrefix("package ")
                ? Self.purePackages.contains(String(module.dropFirst("package ".count)))
                : !Self.systemModules.contains(module)
            #expect(isPure, "\(way)")
        }
        #expect(ways.keys.contains(name))
    }

    @Test func `the server links only the essentials of Foundation`() throws {
        // Only tests link RivuletTesting.
        for name in Self.modules.keys where name != "RivuletTesting" {
            for (file, module) in try imports(of: name) {
                #expect(!Self.largeModules.contains(module), "\(name)/\(file) imports \(module)")
            }
        }
    }

    @Test func `only the event loop imports libuv and only the SQLite module imports SQLite`() throws {
        for name in Self.modules.keys {
            for (file, module) in try imports(of: name) {
                #expect(module != "CLibuv" || name == "RivuletEventLoop", "\(name)/\(file)")
                #expect(module != "CSQLite" || name == "RivuletSQLite", "\(name)/\(file)")
            }
        }
    }

    @Test func `only the server records metrics, and only the metrics module stores them`() throws {
        for name in Self.modules.keys where name != "RivuletMetrics" && name != "RivuletServer" {
            for (file, module) in try imports(of: name) {
                #expect(module != "CoreMetrics", "\(name)/\(file)")
                #expect(module != "RivuletMetrics" || name == "Rivulet", "\(name)/\(file)")
            }
        }
    }

    @Test func `no source file is longer than 500 lines`() throws {
        let folder = Self.root.appending(path: "Sources")
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where name.hasSuffix(".swift") {
            let lines = try String(contentsOf: folder.appending(path: name), encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            #expect(lines.count <= 500, "\(name) has \(lines.count) lines")
        }
    }

    @Test func `no folder of sources or tests has more than 20 files`() throws {
        for top in ["Sources", "Tests"] {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: top).path)
            let files = paths.filter { $0.hasSuffix(".swift") || $0.hasSuffix(".py") }
            let folders = Dictionary(grouping: files) { $0.split(separator: "/").dropLast().joined(separator: "/") }
            for (folder, files) in folders.sorted(by: { $0.key < $1.key }) {
                #expect(files.count <= 20, "\(top)/\(folder) has \(files.count) files")
            }
        }
    }
}

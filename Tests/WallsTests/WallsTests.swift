// Checks that every room imports only what stands below it.

import Foundation
import Testing

@Suite struct WallsTests {
    /// What each room may import of the package; everything else of it is behind a wall.
    private static let rooms: [String: Set<String>] = [
        "CCurrentRun": [], "CLibuv": [], "CProcessArguments": [], "CSQLite": [], "CZlib": [],
        "RivuletMacros": [],
        "RivuletBase": [],
        "RivuletJSON": ["RivuletBase"],
        "RivuletSchema": ["RivuletJSON"],
        "RivuletHTTP": ["RivuletBase"],
        "RivuletMetrics": [],
        "RivuletEventLoop": ["CLibuv", "RivuletBase"],
        "RivuletObservation": ["CCurrentRun", "RivuletJSON"],
        "RivuletObjects": [],
        "RivuletStores": ["RivuletBase", "RivuletJSON", "RivuletObjects"],
        "RivuletEngine": ["RivuletBase", "RivuletJSON", "RivuletObjects", "RivuletObservation", "RivuletSchema"],
        "RivuletInProcess": ["RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation"],
        "RivuletSessions": [
            "RivuletBase", "RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletSchema", "RivuletStores",
        ],
        "RivuletSQLite": ["CSQLite", "CZlib", "RivuletBase", "RivuletSessions", "RivuletStores"],
        "RivuletServer": [
            "CZlib", "RivuletBase", "RivuletEngine", "RivuletEventLoop", "RivuletHTTP", "RivuletJSON",
            "RivuletMetrics", "RivuletObservation", "RivuletSchema", "RivuletSessions", "RivuletStores",
        ],
        "Rivulet": [
            "RivuletBase", "RivuletEngine", "RivuletInProcess", "RivuletJSON", "RivuletMetrics", "RivuletObjects",
            "RivuletObservation", "RivuletSQLite", "RivuletSchema", "RivuletServer", "RivuletSessions", "RivuletStores",
        ],
        "RivuletTesting": [
            "RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletServer", "RivuletSessions",
            "RivuletStores",
        ],
        "RivuletExamples": ["Rivulet"],
        "RivuletCLI": ["CProcessArguments", "Rivulet", "RivuletBase", "RivuletExamples"],
        "RivuletMain": ["RivuletCLI"],
    ]

    /// Rooms that touch nothing outside of the process: no I/O, no crypto, no threads of Dispatch, also not by what they import.
    private static let pureRooms: Set<String> = [
        "RivuletBase", "RivuletJSON", "RivuletHTTP", "RivuletSchema", "RivuletObservation", "RivuletObjects",
        "RivuletEngine",
    ]
    /// The modules from outside of the package that a pure room may lead to.
    private static let pureModules: Set<String> = [
        "DequeModule", "FoundationEssentials", "HeapModule", "Logging", "Observation",
        "OrderedCollections", "Synchronization",
    ]
    /// The packages that a pure room may link, of which each is a leaf.
    private static let purePackages: Set<String> = ["swift-collections", "swift-log"]
    /// The rooms that are the outside itself.
    private static let systemRooms: Set<String> = ["CLibuv", "CProcessArguments", "CSQLite", "CZlib"]

    /// The parts of Foundation that link ICU's data (30 MB) into a binary, or that a server does not need.
    private static let largeModules: Set<String> = [
        "Foundation", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
    ]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every import of a room's files, as "file: module".
    private func imports(of room: String) throws -> [(file: String, module: String)] {
        let folder = Self.root.appending(path: "Sources/\(room)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try names.flatMap { name in
            try String(contentsOf: folder.appending(path: name), encoding: .utf8).split(separator: "\n")
                // A regular expression for each line of the sources would take this suite half a minute.
                .filter { $0.contains("import ") }
                .compactMap { line in
                    line.firstMatch(of: /^(?:@\w+ )*(?:\w+ )?import (\w+)/).map { (name, String($0.1)) }
                }
        }
    }

    @Test func `every room has its place`() throws {
        let folder = Self.root.appending(path: "Sources").path
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == Set(Self.rooms.keys))
    }

    @Test(arguments: rooms.keys.sorted())
    func `a room imports only rooms below it`(_ room: String) throws {
        let allowed = try #require(Self.rooms[room])
        for (file, module) in try imports(of: room) where Self.rooms[module] != nil {
            #expect(allowed.contains(module), "\(room)/\(file) imports \(module)")
        }
    }

    /// Everything that a room leads to, each with the way to it, such as `RivuletEngine → RivuletJSON → FoundationEssentials`.
    private func ways(from room: String, _ next: (String) throws -> Set<String>) rethrows -> [String: String] {
        var ways = [room: room]
        var open = [room]
        while let room = open.popLast(), let way = ways[room] {
            for module in try next(room).sorted() where ways[module] == nil {
                ways[module] = "\(way) → \(module)"
                open.append(module)
            }
        }
        return ways
    }

    @Test(arguments: pureRooms.sorted())
    func `a pure room leads to nothing outside of the process`(_ room: String) throws {
        let ways = try ways(from: room) { room in
            Self.rooms[room] == nil ? [] : Set(try imports(of: room).map(\.module))
        }
        for (module, way) in ways {
            let isPure =
                Self.rooms[module] == nil ? Self.pureModules.contains(module) : !Self.systemRooms.contains(module)
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

    @Test(arguments: pureRooms.sorted())
    func `a pure room links nothing that is not pure`(_ room: String) throws {
        let dependencies = try Self.dependencies()
        // The macros run in the compiler, and are in no program.
        let ways = try ways(from: room) { room in
            room.hasPrefix("package ") ? [] : try #require(dependencies[room], "\(room)").subtracting(["RivuletMacros"])
        }
        for (module, way) in ways {
            let isPure =
                module.hasPrefix("package ")
                ? Self.purePackages.contains(String(module.dropFirst("package ".count)))
                : !Self.systemRooms.contains(module)
            #expect(isPure, "\(way)")
        }
        #expect(ways.keys.contains(room))
    }

    @Test func `the server links only the essentials of Foundation`() throws {
        // RivuletTesting is linked into tests only.
        for room in Self.rooms.keys where room != "RivuletTesting" {
            for (file, module) in try imports(of: room) {
                #expect(!Self.largeModules.contains(module), "\(room)/\(file) imports \(module)")
            }
        }
    }

    @Test func `only the event loop imports libuv and only the SQLite room imports SQLite`() throws {
        for room in Self.rooms.keys {
            for (file, module) in try imports(of: room) {
                #expect(module != "CLibuv" || room == "RivuletEventLoop", "\(room)/\(file)")
                #expect(module != "CSQLite" || room == "RivuletSQLite", "\(room)/\(file)")
            }
        }
    }

    @Test func `only the server records metrics, and only the metrics room keeps them`() throws {
        for room in Self.rooms.keys where room != "RivuletMetrics" && room != "RivuletServer" {
            for (file, module) in try imports(of: room) {
                #expect(module != "CoreMetrics", "\(room)/\(file)")
                #expect(module != "RivuletMetrics" || room == "Rivulet", "\(room)/\(file)")
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

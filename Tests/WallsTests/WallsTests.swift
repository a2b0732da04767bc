// Checks that every room imports only what stands below it.

import Foundation
import Testing

@Suite struct WallsTests {
    /// What each room may import of the package; everything else of it is behind a wall.
    private static let rooms: [String: Set<String>] = [
        "CCurrentRun": [], "CLibuv": [], "CProcessArguments": [], "CSQLite": [], "CZlib": [],
        "RivuletMacros": [],
        "RivuletJSON": [],
        "RivuletSchema": ["RivuletJSON"],
        "RivuletHTTP": [],
        "RivuletMetrics": [],
        "RivuletEventLoop": ["CLibuv"],
        "RivuletObservation": ["CCurrentRun", "RivuletJSON"],
        "RivuletObjects": [],
        "RivuletStores": ["RivuletJSON", "RivuletObjects"],
        "RivuletEngine": ["RivuletJSON", "RivuletObjects", "RivuletObservation", "RivuletSchema"],
        "RivuletInProcess": ["RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletStores"],
        "RivuletSessions": ["RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletSchema", "RivuletStores"],
        "RivuletSQLite": ["CSQLite", "CZlib", "RivuletSessions", "RivuletStores"],
        "RivuletServer": [
            "CZlib", "RivuletEngine", "RivuletEventLoop", "RivuletHTTP", "RivuletJSON", "RivuletMetrics",
            "RivuletObservation",
            "RivuletSchema", "RivuletSessions", "RivuletStores",
        ],
        "Rivulet": [
            "RivuletEngine", "RivuletInProcess", "RivuletJSON", "RivuletMetrics", "RivuletObjects",
            "RivuletObservation", "RivuletSQLite", "RivuletSchema", "RivuletServer", "RivuletSessions", "RivuletStores",
        ],
        "RivuletTesting": [
            "RivuletEngine", "RivuletJSON", "RivuletObservation", "RivuletServer", "RivuletSessions",
            "RivuletStores",
        ],
        "RivuletExamples": ["Rivulet"],
        "RivuletCLI": ["CProcessArguments", "Rivulet", "RivuletExamples"],
        "RivuletMain": ["RivuletCLI"],
    ]

    /// Rooms that touch nothing outside of the process: no Foundation but where a type of it is the subject.
    private static let pureRooms: Set<String> = [
        "RivuletHTTP", "RivuletObservation", "RivuletObjects", "RivuletEngine", "RivuletJSON",
    ]
    private static let ioModules: Set<String> = ["Foundation", "Glibc", "Dispatch", "FoundationNetworking"]

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

    @Test(arguments: pureRooms.sorted())
    func `a pure room has no way to the outside`(_ room: String) throws {
        for (file, module) in try imports(of: room) {
            #expect(!Self.ioModules.contains(module), "\(room)/\(file) imports \(module)")
        }
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

// Owns real NATS servers for tests, in temporary folders and on free ports.

import Foundation
import RivuletNATS
import Synchronization

/// Real NATS servers, which end with this object or with the tests' process.
final class NATSTestServers: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// One server, from its start to its kill.
    struct Server: Sendable {
        let name: String
        let port: UInt16
        let monitorPort: UInt16
        let pid: pid_t
    }

    /// One server without a cluster, for all tests; each has its own prefix.
    static let shared = Result { try NATSTestServers(count: 1) }

    let servers: [Server]
    /// The ends of pipes that the servers' shells wait for.
    private let lifelines: [FileHandle]

    /// Starts servers; several make one cluster.
    ///
    /// - Parameters:
    ///   - count: The number of servers.
    ///   - extra: More lines of their configuration.
    ///   - syncInterval: The setting of JetStream.
    /// - Throws: A `Failure` with the way to get the program, or with the server's output.
    init(count: Int, extra: String = "", syncInterval: String = "always") throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rivulet-nats-\(UUID().uuidString)")
        let binary = try Self.binary()
        let routes = try (0..<count).map { _ in try Self.freePort() }
        var lifelines: [FileHandle] = []
        for index in 0..<count {
            let home = folder.appending(path: "n\(index + 1)")
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            let list = routes.map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", ")
            let cluster = """
                cluster { name: rivulet, listen: "127.0.0.1:\(routes[index])", routes: [\(list)] }
                """
            let text = """
                server_name: n\(index + 1)
                listen: "127.0.0.1:-1"
                http: "127.0.0.1:-1"
                ports_file_dir: "\(home.path)"
                log_file: "\(home.path)/log"
                jetstream { store_dir: "\(home.path)", sync_interval: \(syncInterval), max_file_store: 1073741824 }
                \(count > 1 ? cluster : "")
                \(extra)
                """
            try text.write(to: home.appending(path: "server.conf"), atomically: true, encoding: .utf8)
            lifelines.append(try Self.start(binary, home))
        }
        self.lifelines = lifelines
        servers = try (0..<count).map { try Self.server("n\($0 + 1)", folder.appending(path: "n\($0 + 1)")) }
    }

    deinit {
        for server in servers { Foundation.kill(server.pid, SIGKILL) }
        for lifeline in lifelines { lifeline.closeFile() }
    }

    var list: [NATSServer] { servers.map { NATSServer(host: "127.0.0.1", port: $0.port) } }

    var monitors: [NATSMonitorURL] { servers.compactMap { NATSMonitorURL("http://127.0.0.1:\($0.monitorPort)") } }

    /// Kills a server at once, as a crash does.
    func kill(_ server: Server) { Foundation.kill(server.pid, SIGKILL) }

    /// Sends a signal to a server, such as SIGUSR2 for its lame-duck mode.
    func signal(_ server: Server, _ number: Int32) { Foundation.kill(server.pid, number) }

    // MARK: Starting

    private static func binary() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let path =
            ProcessInfo.processInfo.environment["RIVULET_NATS_SERVER"]
            ?? root.appending(path: ".build/venv/bin/nats-server").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure(
                description: """
                    \(path) is missing. Install it with `Tests/run tools`, or name a nats-server of the version \
                    \(NATSVersion.least) in RIVULET_NATS_SERVER.
                    """
            )
        }
        return path
    }

    /// Starts a server under a shell that kills it when its input ends, also after a crash of the tests, and then
    /// removes its folder.
    ///
    /// The shell does not wait for the server, because the signal of its end is blocked in children of the tests.
    private static func start(_ binary: String, _ home: URL) throws -> FileHandle {
        let process = Process()
        let input = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            "$0" -c "$1/server.conf" >"$1/output" 2>&1 & server=$!
            read line; kill -9 $server; rm -rf "$1" || rm -rf "$1"; rmdir "${1%/*}"
            """,
            binary, home.path,
        ]
        process.standardInput = input
        // An open end of the tests' output would keep `swift test` waiting for it.
        process.standardOutput = FileHandle.nullDevice
        // The last server's shell removes the folder of all.
        process.standardError = FileHandle.nullDevice
        try process.run()
        return input.fileHandleForWriting
    }

    /// Waits for the file in which a server names its ports.
    private static func server(_ name: String, _ home: URL) throws -> Server {
        for _ in 0..<2_000 {
            let files = try FileManager.default.contentsOfDirectory(atPath: home.path)
            if let file = files.first(where: { $0.hasSuffix(".ports") }),
                let pid = file.split(whereSeparator: { $0 == "_" || $0 == "." }).compactMap({ pid_t($0) }).first
            {
                let data = try Data(contentsOf: home.appending(path: file))
                if let ports = try? JSONSerialization.jsonObject(with: data) as? [String: [String]],
                    let client = port(of: ports["nats"]), let monitor = port(of: ports["monitoring"])
                {
                    return Server(name: name, port: client, monitorPort: monitor, pid: pid)
                }
            }
            usleep(5_000)
        }
        let output = try ["output", "log"].map { try String(contentsOf: home.appending(path: $0), encoding: .utf8) }
        throw Failure(description: "nats-server has not started: \(output)")
    }

    private static func port(of urls: [String]?) -> UInt16? {
        urls?.first?.split(separator: ":").last.flatMap { UInt16($0) }
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // SAFETY: the kernel reads and writes at most the size of the variable.
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            let base = unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            return unsafe bind(descriptor, base, size) | getsockname(descriptor, base, &size)
        }
        guard status == 0 else { throw Failure(description: "no free port: errno \(errno)") }
        return UInt16(bigEndian: address.sin_port)
    }
}

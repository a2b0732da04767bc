import RivuletEventLoop

/// A place at which a server takes connections.
public enum ServerListener: Hashable, Sendable {
    /// The port of the options `host` and `port`.
    case tcp
    /// A Unix socket with the path of its file, for clients on the same machine.
    ///
    /// The file has the mode 0660: processes of the server's user and group can connect. They count as trusted proxies.
    case unix(path: String)

    /// The most listeners of a server.
    static let listenersMax = 8

    /// Reads `tcp`, or `unix:` and a path.
    ///
    /// - Throws: a `ServerError` for any other text.
    public init(_ text: String) throws(ServerError) {
        if text == "tcp" {
            self = .tcp
        } else if text.hasPrefix("unix:") {
            self = .unix(path: String(text.dropFirst("unix:".count)))
        } else {
            throw ServerError(
                "--listen has \"\(text)\", which is no place to listen on; write unix:/run/rivulet/rivulet.sock, or tcp for --host and --port"
            )
        }
    }

    /// - Throws: a `ServerError` for a list that no server can listen on.
    static func check(_ listeners: [ServerListener]) throws(ServerError) {
        guard (1...listenersMax).contains(listeners.count) else {
            throw ServerError("--listen has \(listeners.count) places; it takes 1 to \(listenersMax), such as tcp")
        }
        guard Set(listeners).count == listeners.count else {
            throw ServerError("--listen has a place twice; leave one of the two out")
        }
        for case .unix(let path) in listeners {
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw ServerError("--listen has \"unix:\" without a path; write unix:/run/rivulet/rivulet.sock")
            }
            let (bytes, bytesMax) = (path.utf8.count, SocketFile.pathBytesMax)
            guard bytes <= bytesMax else {
                throw ServerError(
                    "--listen has the path \(path) of \(bytes) bytes, and a socket's path has at most \(bytesMax); choose a shorter one"
                )
            }
        }
    }
}

extension ServerListener: CustomStringConvertible {
    /// The text that `--listen` takes.
    public var description: String {
        switch self {
        case .tcp: "tcp"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// The open listeners of a running server.
struct OpenListeners: Sendable {
    /// The port of `.tcp`; nil if the server has none.
    private(set) var port: UInt16?
    private var files: [SocketFile] = []

    /// Listens at all places; if one fails, at none.
    ///
    /// - Throws: a `ServerError` with the remedy.
    init(_ options: ServerOptions, on loops: [EventLoop]) throws(ServerError) {
        do throws(ServerError) {
            for listener in options.listeners { try open(listener, options, on: loops) }
        } catch {
            close()
            for loop in loops { loop.stopListening() }
            throw error
        }
    }

    /// Removes the files of Unix sockets; call it before the loops stop listening.
    func close() {
        for file in files { file.remove() }
    }

    /// The addresses as text, such as `http://127.0.0.1:8080` and `unix:/run/rivulet/rivulet.sock`; the port comes first.
    func addresses(_ options: ServerOptions) -> [String] {
        let host = options.host.contains(":") ? "[\(options.host)]" : options.host
        return (port.map { ["http://\(host):\($0)"] } ?? []) + files.map { "unix:\($0.path)" }
    }

    private mutating func open(
        _ listener: ServerListener,
        _ options: ServerOptions,
        on loops: [EventLoop]
    ) throws(ServerError) {
        do throws(LoopError) {
            switch listener {
            case .tcp: port = try ListenerGroup.bind(host: options.host, port: options.port, loops: loops)
            case .unix(let path): files.append(try ListenerGroup.bind(path: path, loops: loops))
            }
        } catch {
            throw ServerError("cannot listen, \(error); \(Self.remedy(error, listener))")
        }
    }

    private static func remedy(_ error: LoopError, _ listener: ServerListener) -> String {
        guard case .unix = listener else {
            let stop = error.isAddressInUse ? ", or stop the process that uses this one" : ""
            return "choose another address with --host and --port\(stop)"
        }
        let choice = "choose another path with --listen"
        return switch error.name {
        case "EADDRINUSE": "\(choice), or stop the process that uses this one"
        case "ENOTSOCK": "\(choice), or remove the file at this path"
        case "ENOENT": "\(choice), or create the socket's folder"
        default: "\(choice), or let the server's user write in the socket's folder"
        }
    }
}

package import RivuletCluster
internal import RivuletEventLoop
internal import RivuletJSON

/// The address of a NATS server's monitoring, such as `http://10.0.0.1:8222`.
package struct NATSMonitorURL: Hashable, Sendable, CustomStringConvertible {
    package let host: String
    package let port: UInt16
    /// The path before `/varz`.
    package let path: String

    /// Reads a URL; nil if it is not one of HTTP.
    package init?(_ text: String) {
        guard text.hasPrefix("http://"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let rest = text.dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var path = String(rest[slash...])
        while path.last == "/" { path.removeLast() }
        let servers: [NATSServer]
        do {
            servers = try NATSServer.list("nats://\(rest[..<slash])")
        } catch {
            return nil
        }
        guard servers.count == 1, servers[0].login == nil, !path.contains("?"), !path.contains("#") else { return nil }
        let hasPort = servers[0].description == rest[..<slash]
        (host, port, self.path) = (servers[0].host, hasPort ? servers[0].port : 8_222, path)
    }

    package var description: String { "http://\(NATSServer(host: host, port: port))\(path)" }
}

/// A server that its monitor describes as one that writes through.
package struct NATSMonitoredServer: Hashable, Sendable {
    package let name: String
    package let id: String
    package let version: String
}

/// The check that NATS servers have each message on disk before they acknowledge it.
///
/// Source: <https://docs.nats.io/running-a-nats-service/nats_admin/monitoring>,
/// <https://docs.nats.io/running-a-nats-service/configuration#jetstream>
package enum NATSMonitor {
    /// The time for the answer of one server.
    static let time = Duration.seconds(3)
    /// The most bytes of an answer.
    static let answerBytesMax = 1_048_576

    /// Checks the server behind each URL, one after the other.
    ///
    /// - Parameters:
    ///   - urls: The monitors, one of each server.
    ///   - servers: The names of the servers that have the streams, of `NATSSetup.check`; each must have a monitor.
    ///   - loop: The loop; the call and the reply are made there.
    ///   - reply: Gets the servers, or `incompatible` with the remedy, or `unavailable` if a monitor does not answer.
    package static func check(
        _ urls: [NATSMonitorURL],
        of servers: Set<String>,
        on loop: NATSLoop,
        reply: @escaping (Result<[NATSMonitoredServer], LogError>) -> Void
    ) {
        check(urls[...], [], on: loop) { result in
            reply(
                result.flatMap { found in
                    let missing = servers.subtracting(found.map(\.name)).sorted()
                    guard missing.isEmpty else {
                        let list = missing.joined(separator: ", ")
                        return .failure(
                            .incompatible(
                                detail:
                                    "No --nats-monitor is for the NATS server \(list). Name the monitor of each server."
                            )
                        )
                    }
                    return .success(found)
                }
            )
        }
    }

    private static func check(
        _ urls: ArraySlice<NATSMonitorURL>,
        _ found: [NATSMonitoredServer],
        on loop: NATSLoop,
        reply: @escaping (Result<[NATSMonitoredServer], LogError>) -> Void
    ) {
        guard let url = urls.first else { return loop.afterCall { reply(.success(found)) } }
        let exchange = MonitorExchange(loop, url) { result in
            let server = result.flatMap { body in Result { () throws(LogError) in try self.server(body, url) } }
            switch server {
            case .failure(let error): reply(.failure(error))
            case .success(let server): check(urls.dropFirst(), found + [server], on: loop, reply: reply)
            }
        }
        exchange.begin()
    }

    /// Reads the answer of a monitor.
    static func server(_ body: [UInt8], _ url: NATSMonitorURL) throws(LogError) -> NATSMonitoredServer {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: body)
        } catch {
            throw .incompatible(detail: "\(url) is no monitor of a NATS server. Correct --nats-monitor.")
        }
        guard let name = value["server_name"]?.stringValue, let id = value["server_id"]?.stringValue,
            let version = value["version"]?.stringValue
        else { throw .incompatible(detail: "\(url) is no monitor of a NATS server. Correct --nats-monitor.") }
        if let problem = NATSVersion.problem(of: version, at: name) { throw .incompatible(detail: problem) }
        // `sync_interval` there reads two minutes also under `always`.
        guard value["jetstream"]?["config"]?["sync_always"]?.boolValue == true else {
            throw .incompatible(
                detail: """
                    The NATS server \(name) at \(url) acknowledges messages before they are on disk. Set \
                    `sync_interval: always` in its `jetstream` block, and restart it.
                    """
            )
        }
        return NATSMonitoredServer(name: name, id: id, version: version)
    }
}

/// One GET of `/varz`, over a connection of its own.
private final class MonitorExchange: NATSLoopHandler {
    private let loop: NATSLoop
    private let url: NATSMonitorURL
    private var reply: ((Result<[UInt8], LogError>) -> Void)?
    private var answer: [UInt8] = []
    private var timer: TimerID?
    private var id: ConnectionID?

    init(_ loop: NATSLoop, _ url: NATSMonitorURL, reply: @escaping (Result<[UInt8], LogError>) -> Void) {
        (self.loop, self.url, self.reply) = (loop, url, reply)
    }

    func begin() {
        timer = loop.loop.schedule(after: NATSMonitor.time) { [self] in fail("it has not answered in time") }
        loop.connect(host: url.host, port: url.port, within: NATSMonitor.time, handler: self) { [self] result in
            switch result {
            case .failure(let error): fail("\(error)")
            case .success(let id):
                self.id = id
                guard reply != nil else { return loop.loop.close(id) }
                // With HTTP/1.0, the end of the connection is the end of the answer. Source: RFC 1945 section 7.2.2.
                let host = NATSServer(host: url.host, port: url.port)
                let request = "GET \(url.path)/varz HTTP/1.0\r\nHost: \(host)\r\nAccept: application/json\r\n\r\n"
                _ = loop.loop.write(id, Array(request.utf8))
            }
        }
    }

    func didReceive(_ bytes: Span<UInt8>, from id: ConnectionID) {
        guard answer.count + bytes.count <= NATSMonitor.answerBytesMax else { return fail("its answer is too long") }
        // SAFETY: the bytes are copied within the call.
        unsafe bytes.withUnsafeBytes { unsafe answer.append(contentsOf: $0) }
    }

    func didEnd(_ id: ConnectionID) {
        let text = String(decoding: answer.prefix(12), as: UTF8.self)
        guard text.hasPrefix("HTTP/1."), text.hasSuffix(" 200"),
            let end = answer.firstRange(of: Array("\r\n\r\n".utf8))
        else { return fail("it answers \"\(text)\"") }
        finish(.success(Array(answer[end.upperBound...])))
    }

    func didClose(_ id: ConnectionID, reason: CloseReason) { fail("the connection was lost") }

    private func fail(_ reason: String) {
        finish(.failure(.unavailable(detail: "The NATS monitor \(url) cannot be read: \(reason).")))
    }

    private func finish(_ result: Result<[UInt8], LogError>) {
        guard let reply = Swift.exchange(&reply, with: nil) else { return }
        if let timer { loop.loop.cancel(timer) }
        if let id { loop.loop.close(id) }
        reply(result)
    }
}

// Asks for each method of each resource: without a credential, with a bad one, without the grant, and with it.

import Foundation
import RivuletAuth
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite final class AccessMatrixTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("matrix-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A server with an API key for each of the grants, and the texts of the keys.
    private func start(_ grants: [String]) throws -> (RunningServer, keys: [String]) {
        var file = APIKeyFile()
        var random = SystemRandomNumberGenerator()
        let keys = try grants.map { grant in
            let grant = try JSONValue(parsing: Array(grant.utf8))
            return try file.add(name: "a", grants: [grant], expires: nil, using: &random).text
        }
        let path = folder.appendingPathComponent("\(UUID()).json").path
        let isMade = FileManager.default.createFile(
            atPath: path,
            contents: Data(file.bytes),
            attributes: [.posixPermissions: 0o600]
        )
        #expect(isMade)
        // A test sends the bad credential more often than an address may.
        let options = ServerOptions(workers: 1, credentials: CredentialFiles(apiKeys: path), rateLimits: .off)
        let server = StateServer(options: options, storage: MemoryStorageEngine())
        try server.host(OpenAPIDocumentTests.PlotApp())
        return (try server.start(isListening: false, clock: ContinuousClock()), keys)
    }

    /// The status of the answer to one request.
    private func status(
        _ server: RunningServer,
        _ method: HTTPMethod,
        _ resource: Resource,
        _ bearer: String?
    ) async throws -> Int {
        let fields = [
            "\(method.name) \(resource.examplePath) HTTP/1.1", "Host: localhost", "Connection: close",
            // A stream that opens does not end.
            "Accept: \(resource.isStream ? "text/plain" : "*/*")",
        ]
        let authorization = bearer.map { ["Authorization: Bearer \($0)"] } ?? []
        let answer = await server.exchange((fields + authorization).joined(separator: "\r\n") + "\r\n\r\n")
        return try #require(Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3)), "\(answer)")
    }

    @Test(arguments: Resource.allCases)
    func `a method is for the callers of its row`(_ resource: Resource) async throws {
        let rows = resource.methods.list.map { (method: $0, row: resource.row(for: $0)) }
        let (server, keys) = try start([AccessRow.otherGrant] + rows.map(\.row.grant))
        defer { server.stop() }
        for (index, (method, row)) in rows.enumerated() {
            let location = "\(method.name) \(resource.path)"
            #expect(try await status(server, method, resource, "x") == 401, "\(location), bad credential")
            #expect(try await status(server, method, resource, nil) == row.anonymous, "\(location), no credential")
            #expect(try await status(server, method, resource, keys[0]) == row.other, "\(location), no grant")
            #expect(try await status(server, method, resource, keys[index + 1]) == row.granted, "\(location), grant")
        }
    }

    @Test(arguments: Resource.allCases)
    func `the OpenAPI document names the ways to send the credential of a row`(_ resource: Resource) {
        for method in resource.methods.list {
            let schemes = resource.credentialSchemes(for: method)
            guard resource != .stream else {
                #expect(schemes == [.bearer, .cookie])
                continue
            }
            switch resource.row(for: method).needs {
            case .nothing: #expect(schemes.isEmpty)
            case .credential, .grant:
                #expect(schemes.contains(.bearer) && schemes.contains(.cookie) == (resource != .login))
                #expect(schemes.contains(.ticket) == (resource.isStream))
            }
        }
    }

    @Test func `a method that a resource does not have is refused`() async throws {
        let (server, keys) = try start([#"{"actions": ["*", "operate"], "app": "*", "sessions": ["*"]}"#])
        defer { server.stop() }
        for resource in Resource.allCases {
            for method in MethodSet.all.subtracting(resource.methods).list {
                for key in [nil, "x", keys[0]] {
                    let status = try await status(server, method, resource, key)
                    let expected = key == keys[0] ? [403, 405] : key == nil ? [401, 405] : [401]
                    #expect(expected.contains(status), "\(method) \(resource)")
                }
            }
        }
    }
}

/// The callers for which a method of a resource is, and the answer that they get to a request without a body.
struct AccessRow {
    enum Needs {
        /// Any caller, also without a credential.
        case nothing
        /// Any caller with a credential.
        case credential
        /// A caller with this grant.
        case grant(String)
    }

    /// A grant that no row needs.
    static let otherGrant = #"{"actions": ["read"], "app": "other", "sessions": ["s"]}"#

    let needs: Needs
    /// The status for a caller that may.
    let granted: Int

    var anonymous: Int {
        if case .nothing = needs { granted } else { 401 }
    }

    var other: Int {
        if case .grant = needs { 403 } else { granted }
    }

    /// The grant that its caller has; a credential needs one.
    var grant: String {
        if case .grant(let text) = needs { text } else { Self.otherGrant }
    }

    static func everyone(_ status: Int) -> AccessRow { AccessRow(needs: .nothing, granted: status) }

    static func callers(_ status: Int) -> AccessRow { AccessRow(needs: .credential, granted: status) }

    /// A row for actions on the session of the example, or on the shared data that `members` name.
    static func actions(_ names: String..., on members: String = #""sessions": ["a"]"#, gets status: Int) -> AccessRow {
        let actions = names.map { "\"\($0)\"" }.joined(separator: ",")
        let target = names == ["operate"] ? "" : #", "app": "plot-1""# + (members.isEmpty ? "" : ", " + members)
        return AccessRow(needs: .grant(#"{"actions": [\#(actions)]\#(target)}"#), granted: status)
    }
}

extension Resource {
    private static let plots = #""stores": ["plots"]"#
    private static let flag = #""values": ["flag"]"#
    private static let views = #""sessions": ["a"], "views": ["*"]"#

    /// The row of a method; the switch has no default, so a new resource needs a row.
    fileprivate func row(for method: HTTPMethod) -> AccessRow {
        let isReading = method == .get || method == .head
        return switch self {
        case .health, .readiness, .problems, .problem, .caller: .everyone(200)
        // The server has no public folder and no issuer of tokens.
        case .file, .resourceMetadata: .everyone(404)
        case .openAPI, .apps, .app, .types: .callers(200)
        case .metrics, .streams: .actions("operate", gets: 200)
        // The server is not in a cluster.
        case .cluster: .actions("operate", gets: 404)
        // The stream is looked up first, because its own caller may use it.
        case .stream: .everyone(method == .patch ? 415 : 404)
        // An API key cannot be in a cookie.
        case .login: method == .delete ? .everyone(204) : .callers(422)
        case .tickets: .callers(415)
        case .revocations: .actions("operate", gets: isReading ? 200 : 415)
        case .revocation: .actions("operate", gets: 404)
        case .sessions: isReading ? .actions("list", gets: 200) : .actions("create", on: Self.all, gets: 201)
        case .session:
            switch method {
            case .put: .actions("create", gets: 201)
            // The methods are asked in their order, so PUT has made the session.
            case .delete: .actions("delete", gets: 204)
            default: .actions("read", gets: 404)
            }
        case .state: isReading ? .actions("read", gets: 200) : .actions("dispatch", gets: 405)
        case .events: isReading ? .actions("history", gets: 404) : .actions("dispatch", gets: 415)
        case .views: .actions("read", on: Self.views, gets: 200)
        case .view, .viewChanges: .actions("read", on: Self.views, gets: 404)
        case .changes: .actions("read", gets: 406)
        case .reset: .actions("restore", "create", gets: 200)
        case .restore: .actions("restore", gets: 400)
        case .fork: .actions("fork", "read", "create", on: Self.all, gets: 404)
        case .store, .item, .operations, .storeEvents: storeRow(for: method)
        case .value, .toggle, .valueChanges: valueRow(for: method)
        case .secret: .actions("secrets", on: "", gets: method == .put ? 415 : isReading ? 200 : 204)
        }
    }

    private static let all = #""sessions": ["*"]"#

    private func storeRow(for method: HTTPMethod) -> AccessRow {
        switch method {
        case .post, .put: .actions("write", on: Self.plots, gets: 415)
        case .delete: .actions("write", on: Self.plots, gets: self == .item ? 404 : 204)
        default: .actions("read", on: Self.plots, gets: self == .storeEvents ? 406 : self == .item ? 404 : 200)
        }
    }

    private func valueRow(for method: HTTPMethod) -> AccessRow {
        switch method {
        case .put: .actions("write", on: Self.flag, gets: 415)
        // A caller that may not read the value does not see it.
        case .post, .delete: .actions("write", on: Self.flag, gets: 204)
        default: .actions("read", on: Self.flag, gets: self == .valueChanges ? 406 : 200)
        }
    }
}

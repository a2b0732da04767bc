// The options for the NATS servers of a cluster, which `rivulet serve` and `rivulet cluster` share.

import ArgumentParser
import FoundationEssentials
import Rivulet
import RivuletNATS
package import RivuletServer

/// The NATS servers of a cluster, and the credentials for them.
struct ClusterArguments: ParsableArguments {
    @Option(
        help: "The NATS servers of the cluster: nats://a:4222,b,c, also with nats://user:password@a. (default: none)"
    )
    var cluster: String?

    @Option(help: "A .creds file, or a file with an NKey's seed, for NATS. (default: none)")
    var natsCreds: String?

    @Option(help: "A file with the token for NATS. (default: none)")
    var natsTokenFile: String?

    private var credsPath: String? { natsCreds ?? Environment.text("NATS_CREDS") }
    private var tokenPath: String? { natsTokenFile ?? Environment.text("NATS_TOKEN_FILE") }

    /// The names of the given options that mean nothing without a cluster.
    var namesWithoutCluster: [String] {
        [("--nats-creds", credsPath), ("--nats-token-file", tokenPath)].compactMap { $0.1 == nil ? nil : $0.0 }
    }

    /// Returns the servers and credentials; nil without `--cluster`.
    func linkOptions() throws -> ClusterLinkOptions? {
        guard let text = cluster ?? Environment.text("CLUSTER") else { return nil }
        let servers: [NATSServer]
        do throws(NATSServerError) { servers = try NATSServer.list(text) } catch {
            throw ValidationError("--cluster: \(error)")
        }
        return ClusterLinkOptions(servers: servers, credentials: try credentials(servers))
    }

    private func credentials(_ servers: [NATSServer]) throws -> NATSCredentials {
        let hasLogin = servers.contains { $0.login != nil }
        let given = [
            credsPath.map { _ in "--nats-creds" }, tokenPath.map { _ in "--nats-token-file" },
            hasLogin ? "a user or token in --cluster" : nil,
        ].compactMap(\.self)
        guard given.count <= 1 else {
            throw ValidationError("\(given.joined(separator: " and ")) are both credentials for NATS; give one")
        }
        if let credsPath {
            let text = try text(of: credsPath)
            do throws(NATSCredentialsError) { return try NATSCredentials(fileText: text) } catch {
                throw ServerError("--nats-creds \(credsPath): \(error)")
            }
        }
        guard let tokenPath else { return .none }
        let token = try text(of: tokenPath).filter { !$0.isWhitespace }
        guard !token.isEmpty else {
            throw ServerError("--nats-token-file \(tokenPath) is empty; write the token into it")
        }
        return .token(token)
    }

    private func text(of path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ServerError(
                "the file \(path) with the credentials for NATS cannot be read; correct the path or its mode"
            )
        }
        return String(decoding: data, as: UTF8.self)
    }
}

/// The secret key that all nodes of a cluster share.
package enum ClusterSecret {
    /// Takes the key from the environment.
    ///
    /// - Throws: a `ValidationError` if there is none.
    package static func key() throws -> SecretKey {
        guard Environment.text("SECRET_KEY") != nil || Environment.text("SECRET_KEY_FILE") != nil else {
            throw ValidationError(
                "a cluster needs one secret key on all its nodes: set RIVULET_SECRET_KEY or RIVULET_SECRET_KEY_FILE to the "
                    + "same key everywhere; openssl rand -hex 32 makes one"
            )
        }
        return try SecretKeys(keptIn: nil).current
    }
}

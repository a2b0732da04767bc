import ArgumentParser
import RivuletAccess
import RivuletAuth
import RivuletJSON
import RivuletServer

/// Tries out a policy.
struct Policy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try out a file of permissions.",
        subcommands: [Check.self]
    )

    /// Decides about one request.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say if a policy allows a request, and which grant does, or what is missing.",
            discussion: """
                Exits with 0 if the request is allowed, 1 if it is denied, and 2 for a fault of the arguments or files. The decision is made by \
                the code of the server. An app that is a GuardedApp may decide otherwise. In a path, the session me is the caller's own.
                """
        )

        @Argument(help: "The file with the permissions, as --policy of a server.")
        var policy: String

        @Option(
            help: "A file with the caller's claims as a JSON object; it needs sub alone. (default: an anonymous caller)"
        )
        var claims: String?

        @Option(help: "The path of the claim with the roles, such as realm_access.roles. (default: roles)")
        var rolesClaim: String?

        @Option(help: "The name of the event that the request dispatches. (default: any)")
        var event: String?

        @Argument(help: "The method: GET, POST, PUT, PATCH or DELETE.")
        var method: String

        @Argument(help: "The path with its query: /v1/apps/todos/sessions/x/state/p.")
        var target: String

        /// The most grants of the caller that are shown for a denied request.
        private static let grantsShownMax = 20

        func run() throws {
            let bytes = try CredentialFile(policy).bytes
            let permissions: AccessPolicy
            do throws(AccessPolicyError) {
                permissions = try AccessPolicy(parsing: bytes)
            } catch {
                throw ServerError("\(policy): \(error)")
            }
            let principal = try principal()
            let check = try PolicyCheck(permissions, of: principal)
            let decision = try check.decide(method: method, target: target, event: event)
            let request = "\(method) \(target)\(event.map { " of the event \(ForeignText.quoted($0))" } ?? "")"
            guard decision.isAllowed else {
                print("denied (\(decision.status)): \(request)")
                print(decision.needs.map { "  needs \(ForeignText.visible($0))" } ?? "  needs a valid credential")
                for source in check.sources.prefix(Self.grantsShownMax) { print("  has \(Self.text(source))") }
                if check.sources.isEmpty { print("  the caller has no grant") }
                let more = check.sources.count - Self.grantsShownMax
                if more > 0 { print("  has \(more) more grants") }
                for role in (principal?.roles ?? []).sorted() where !permissions.has(role: role) {
                    print("  the policy has no role \(ForeignText.quoted(role))")
                }
                throw ExitCode.failure
            }
            print("allowed: \(request)")
            for source in decision.grants { print("  by \(Self.text(source))") }
            if decision.grants.isEmpty { print("  no grant is needed") }
            for note in decision.notes { print("  \(note)") }
        }

        private static func text(_ source: PolicyCheck.Source) -> String {
            "\(source.location): \(ForeignText.visible(source.grant.json.description))"
        }

        /// The caller of the claims; nil for an anonymous caller.
        private func principal() throws -> Principal? {
            guard let claims else { return nil }
            let name = rolesClaim ?? Environment.text("ROLES_CLAIM") ?? RolesClaim.default.description
            guard let rolesClaim = RolesClaim(name) else {
                throw ValidationError("--roles-claim needs 1 to \(RolesClaim.bytesMax) bytes")
            }
            let bytes = try CredentialFile(claims).bytes
            do {
                return try Principal(assuming: try JSONValue(parsing: bytes), rolesClaim: rolesClaim)
            } catch let error as JSONError {
                throw ServerError("\(claims) is not JSON: \(ForeignText.line(error.description)). Correct the place")
            } catch {
                throw ServerError("\(claims): \(error)")
            }
        }
    }
}

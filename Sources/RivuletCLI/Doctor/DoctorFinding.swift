/// The result of one check of a deployment.
struct DoctorFinding: Hashable {
    enum Verdict: Hashable {
        case ok
        case fault(DoctorRemedy)
        /// The check needs something that the caller did not give.
        case skipped
    }

    let verdict: Verdict
    /// The thing that was checked.
    let subject: String
    let detail: String

    static func ok(_ subject: String, _ detail: String) -> DoctorFinding {
        DoctorFinding(verdict: .ok, subject: subject, detail: detail)
    }

    static func fault(_ subject: String, _ detail: String, _ remedy: DoctorRemedy) -> DoctorFinding {
        DoctorFinding(verdict: .fault(remedy), subject: subject, detail: detail)
    }

    static func skipped(_ subject: String, _ detail: String) -> DoctorFinding {
        DoctorFinding(verdict: .skipped, subject: subject, detail: detail)
    }

    /// The line of the report.
    ///
    /// `server` is the field `Server` of the answers, which may name the proxy.
    func line(server: String?) -> String {
        switch verdict {
        case .ok: "ok     \(subject): \(detail)"
        case .skipped: "skip   \(subject): \(detail)"
        case .fault(let remedy): "FAULT  \(subject): \(detail). Remedy: \(remedy.text(server: server))"
        }
    }
}

/// A change that mends a fault, with the line of each proxy's configuration.
///
/// The tests look for these lines in the folder `Deployment`.
struct DoctorRemedy: Hashable {
    /// The change in words, without a dot at its end.
    let advice: String
    var nginx: String?
    var caddy: String?
    var haproxy: String?

    /// The advice with the line of the proxy that `Server` names, or with the lines of all proxies.
    func text(server: String?) -> String {
        let lines = [("nginx", nginx), ("Caddy", caddy), ("HAProxy", haproxy)]
        let name = server?.lowercased() ?? ""
        let known = lines.filter { name.hasPrefix($0.0.lowercased()) }
        let shown = (known.isEmpty ? lines : known).compactMap { line in line.1.map { "\(line.0): `\($0)`" } }
        return shown.isEmpty ? advice : "\(advice). \(shown.joined(separator: "; "))"
    }

    static let reachable = DoctorRemedy(advice: "check the address, the certificate, and that proxy and server run")
    static let http2 = DoctorRemedy(
        advice: "let the proxy speak HTTP/2, because over HTTP/1.1 a browser opens six streams at most",
        nginx: "listen 443 ssl http2;",
        caddy: "protocols h1 h2",
        haproxy: "alpn h2,http/1.1"
    )
    static let tls = DoctorRemedy(advice: "serve https at the proxy, as the configurations in Deployment/ do")
    static let host = DoctorRemedy(
        advice: "pass the client's host on, and start the server with --public-url",
        nginx: "proxy_set_header Host $host;"
    )
    static let foreignHost = DoctorRemedy(
        advice: "refuse other hosts, and pass the client's host on",
        nginx: "return 421;",
        caddy: "respond 421",
        haproxy: "http-request return status 421 unless { req.hdr(host),host_only,lower -m str rivulet.example }"
    )
    static let forwardedProtocol = DoctorRemedy(
        advice:
            "start the server with --public-url and https, or with --trusted-proxies and a proxy that sets the field",
        nginx: "proxy_set_header X-Forwarded-Proto $scheme;",
        haproxy: "http-request set-header X-Forwarded-Proto https"
    )
    static let buffering = DoctorRemedy(
        advice: "let the proxy send each event at once",
        nginx: "proxy_buffering off;",
        caddy: "flush_interval -1"
    )
    static let compression = DoctorRemedy(
        advice:
            "switch the proxy's compression off for streams (nginx: gzip; Caddy: encode; HAProxy: compression), because the server "
            + "compresses"
    )
    static let timeOut = DoctorRemedy(
        advice: "let the proxy keep quiet answers open for more than 15 seconds, and streams for minutes",
        nginx: "proxy_read_timeout 1h;",
        haproxy: "timeout server 1h"
    )
    static let caching = DoctorRemedy(
        advice:
            "remove the rule of the proxy that changes Cache-Control (nginx: expires, add_header, proxy_hide_header; Caddy: header)"
    )
    static let lastEventID = DoctorRemedy(
        advice: "remove the rule of the proxy that drops the request's field Last-Event-ID"
    )
    static let bodies = DoctorRemedy(
        advice: "let the proxy take bodies of 1 MiB (Caddy: request_body)",
        nginx: "client_max_body_size 0;"
    )
    static func operators(_ path: String) -> DoctorRemedy {
        DoctorRemedy(
            advice: "refuse this path at the proxy",
            nginx: "location = \(path) { return 404; }",
            caddy: "respond @operators 404",
            haproxy: "http-request return status 404 if operators"
        )
    }
}

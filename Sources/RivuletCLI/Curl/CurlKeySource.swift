import FoundationEssentials
import RivuletAuth
import RivuletServer

/// Fetches key sets with curl.
///
/// Source: <https://curl.se/docs/manpage.html>.
struct CurlKeySource: KeySource {
    /// The longest time of a fetch, in seconds.
    private static let secondsMax = 10
    /// The time after which a curl that has not ended is killed, in seconds.
    private static let killSeconds = 12

    private static let bytesMax = KeySet.documentBytesMax
    /// curl's exit codes for an answer over the limit, and for a fetch over the time.
    private static let (tooLarge, tooLong): (Int32, Int32) = (63, 28)

    /// The variables that curl gets.
    ///
    /// The secrets in other variables are none of its business.
    private static let variables: Set = [
        "PATH", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "https_proxy", "HTTPS_PROXY",
        "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    ]

    func keySet(at url: String) throws -> [UInt8] {
        var curl = try Self.start(url)
        let outcome = try curl.read(until: .now + .seconds(Self.killSeconds)) { $0.body.count > Self.bytesMax }
        let status =
            switch outcome {
            case .enough: Self.tooLarge
            case .late: Self.tooLong
            case .ended: curl.exitStatus() ?? Self.tooLong
            }
        guard status == 0 else { throw ServerError(Self.reason(of: status)) }
        // A redirect is not followed, and is no error for curl.
        guard curl.answer.status == 200 else {
            throw ServerError("the answer has the status \(curl.answer.status) instead of 200; give the final URL")
        }
        return curl.answer.body
    }

    private static func start(_ url: String) throws -> CurlProcess {
        let arguments = [
            // The first option: without the file of options in the home folder.
            "--disable", "--fail", "--silent", "--globoff", "--proto", "=https", "--max-redirs", "0",
            "--max-time", "\(secondsMax)", "--max-filesize", "\(bytesMax)",
            // The head comes before the document, without that of a proxy.
            "--include", "--suppress-connect-headers", "--url", url,
        ]
        let environment = ProcessInfo.processInfo.environment.filter { variables.contains($0.key) }
        do throws(CurlError) {
            return try CurlProcess.start(arguments, in: environment)
        } catch {
            guard error.isMissing else { throw error }
            throw ServerError(
                "this machine has no curl; fetch the document by other means into a file, and name the file"
            )
        }
    }

    /// Source: <https://curl.se/docs/manpage.html#EXIT>.
    private static func reason(of status: Int32) -> String {
        let text =
            switch status {
            case 1: "it was built without https"
            case 5, 6: "the host is not known"
            case 7: "the host refuses the connection"
            case 22: "the answer is an error"
            case tooLong: "it took over \(secondsMax) seconds"
            case 35: "the host does not speak TLS as curl does"
            case 58, 60, 77: "the host's certificate is not trusted; see SSL_CERT_FILE"
            case tooLarge: "the document has over \(bytesMax) bytes"
            default: "see the list of exit codes in curl's manual"
            }
        return "curl ended with \(status): \(text)"
    }
}

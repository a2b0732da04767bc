import RivuletHTTP

/// One HTTP connection.
///
/// The requests must be the same, whatever the sizes of the pieces are in which the peer's bytes arrive.
enum ConnectionFuzz {
    /// The number of bytes at the start of an input that determine the sizes of the pieces.
    private static let cutCount = 2

    static func fault(in bytes: [UInt8]) -> String? {
        guard bytes.count > cutCount else { return nil }
        let cuts = bytes.prefix(cutCount).map { Int($0) + 1 }
        let text = Array(bytes.dropFirst(cutCount))
        var limits = HTTPLimits()
        // The limits are small, so that short inputs reach them.
        limits.bodyBytesMax = 512
        let whole = Reading(text, cuts: [text.count], limits)
        let parts = Reading(text, cuts: cuts, limits)
        return whole == parts ? nil : "whole: \(whole), cut into \(cuts): \(parts)"
    }

    private struct Reading: Equatable {
        var requests: [String] = []
        var refusal: HTTPError?
        var isClosed = false

        init(_ bytes: [UInt8], cuts: [Int], _ limits: HTTPLimits) {
            var connection = HTTPConnection()
            var (start, index) = (0, 0)
            while start < bytes.count {
                let end = min(start + cuts[index % cuts.count], bytes.count)
                let action = connection.receive(Array(bytes[start..<end]).span, limits: limits)
                take(action, of: &connection, limits)
                (start, index) = (end, index + 1)
            }
        }

        /// Answers each request at once.
        private mutating func take(
            _ first: HTTPConnection.Action,
            of connection: inout HTTPConnection,
            _ limits: HTTPLimits
        ) {
            var action = first
            while true {
                switch action {
                case .request(let request):
                    let headers = request.headers.all.map { "\($0.name): \($0.value)" }
                    requests.append(
                        "\(request.method.name) \(request.path) \(request.query ?? "-") \(headers) \(request.body)"
                    )
                    action = connection.responseFinished(limits: limits)
                case .admit: action = connection.admitted(limits: limits)
                case .refuse(let refusal):
                    self.refusal = refusal
                    return
                case .close:
                    isClosed = true
                    return
                case .wait, .sendContinue: return
                }
            }
        }
    }
}

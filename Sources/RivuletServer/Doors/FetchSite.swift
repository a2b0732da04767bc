// The browser's statement about the page that sent a request.

import RivuletHTTP

/// The relation of a request's page to this server, as `Sec-Fetch-Site` states it.
///
/// Browsers send the field to https and to localhost only, and no script can set it.
/// Source: <https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header>.
enum FetchSite: Hashable, Sendable {
    /// There is no such header line.
    case unknown
    /// The page is of this origin, or the user opened the address: by a bookmark, or by typing.
    ///
    /// A prefetch with `none` is `crossSite`, because Chromium sends `none` for the speculation rules of any page.
    case own
    /// The page is of this site, but of another port or subdomain.
    case sameSite
    /// The page is of another site.
    ///
    /// A value that is not in the specification and a repeated line are treated in the same way.
    case crossSite

    /// The site of a request with these header lines.
    init(_ headers: HTTPHeaders) {
        let values = headers.values(of: "sec-fetch-site")
        self =
            switch values.first {
            case nil: .unknown
            case _ where values.count > 1: .crossSite
            case "same-origin": .own
            case "none": Self.isPrefetch(headers) ? .crossSite : .own
            case "same-site": .sameSite
            default: .crossSite
            }
    }

    /// True if the browser fetches ahead of a navigation that may never come.
    ///
    /// Source: <https://fetch.spec.whatwg.org/>, the `Sec-Purpose` header.
    private static func isPrefetch(_ headers: HTTPHeaders) -> Bool {
        headers.values(of: "sec-purpose").contains { $0.lowercased().contains("prefetch") }
    }

    /// True if the browser shows the answer as a page: the user followed a link, and no script of the linking page sees
    /// the answer.
    static func isNavigation(_ request: HTTPRequest) -> Bool {
        (request.method == .get || request.method == .head)
            && request.headers.values(of: "sec-fetch-mode") == ["navigate"]
            && request.headers.values(of: "sec-fetch-dest") == ["document"]
    }
}

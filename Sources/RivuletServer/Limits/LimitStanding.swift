import RivuletHTTP
import RivuletJSON

/// A caller's position in one limit after a cost was counted or refused.
struct LimitStanding: Hashable, Sendable {
    let name: LimitClass
    let rate: Rate
    let outcome: ArrivalTable.Outcome
    /// The part of the burst that is free.
    let remaining: Int

    /// Makes the position after a cost, in microseconds.
    init(_ name: LimitClass, _ rate: Rate, _ outcome: ArrivalTable.Outcome, of cost: UInt64) {
        (self.name, self.rate, self.outcome) = (name, rate, outcome)
        let free =
            switch outcome {
            case .taken(let ahead): rate.capacity - min(ahead, rate.capacity)
            case .refused(let wait): cost - min(wait, cost)
            }
        remaining = rate.count(in: free)
    }

    /// True if the cost was not counted.
    var isRefused: Bool { waitSeconds != nil }

    /// The seconds after which the same cost is admitted, at least 1; nil if it was counted.
    var waitSeconds: Int? {
        guard case .refused(let wait) = outcome else { return nil }
        return Self.seconds(wait)
    }

    /// True if less than a quarter of the burst is free, so that answers say how much.
    var isScarce: Bool { remaining < (rate.burst + 3) / 4 }

    /// The fields `RateLimit-Policy` and `RateLimit`.
    ///
    /// The window is the time in which an empty burst is full again. `t` is `Retry-After` of a refusal, and the time
    /// until the burst is full after any other request.
    /// Source: <https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/>.
    var fields: [HTTPField] {
        let unit = name.unit.map { ";qu=\"\($0)\"" } ?? ""
        let ahead: UInt64 = if case .taken(let ahead) = outcome { ahead } else { 0 }
        return [
            HTTPField("RateLimit-Policy", "\"\(name.value)\";q=\(rate.burst)\(unit);w=\(Self.seconds(rate.capacity))"),
            HTTPField("RateLimit", "\"\(name.value)\";r=\(remaining);t=\(waitSeconds ?? Self.seconds(ahead))"),
        ]
    }

    /// Microseconds as seconds, rounded up, at least 1.
    private static func seconds(_ microseconds: UInt64) -> Int { max(Int((microseconds + 999_999) / 1_000_000), 1) }
}

extension Problem {
    /// 429: the caller has used its quota.
    ///
    /// Source: <https://www.iana.org/assignments/http-problem-types>.
    static func limited(_ standing: LimitStanding) -> Problem {
        let (rate, seconds) = (standing.rate, standing.waitSeconds ?? 1)
        let window = rate.windowSeconds == 1 ? "a second" : "\(rate.windowSeconds) seconds"
        return Problem(
            .quotaExceeded,
            "The limit \"\(standing.name.value)\" is reached: \(rate.burst) at once, and then \(rate.quota) in \(window). "
                + "Nothing has changed. Try again in \(seconds) s.",
            members: [("violated-policies", JSONValue.array([.string(standing.name.value)]).json)],
            fields: [HTTPField("Retry-After", "\(seconds)")] + standing.fields
        )
    }

    /// A refused dispatch, for the page about the type.
    static var limitedExample: Problem {
        guard let rate = LimitRules.defaults.rate(of: .dispatches) else { return Problem(.quotaExceeded, "") }
        return .limited(LimitStanding(.dispatches, rate, .refused(wait: 10_000), of: 10_000))
    }

    /// The seconds in `Retry-After`; nil without the field.
    var retrySeconds: Int? { fields.first { $0.name == "Retry-After" }.flatMap { Int($0.value) } }
}

import RivuletAccess
import RivuletJSON

/// The limit of one class.
enum LimitRule: Hashable, Sendable {
    case rate(Rate)
    /// The most things that are open at once.
    case count(Int)
}

/// The limits of a server by their classes; a class may have none.
struct LimitRules: Hashable, Sendable {
    /// The most bytes of a file with limits.
    static let documentBytesMax = 65_536

    private var rules: [LimitRule?]

    /// Rules without a limit.
    static let off = LimitRules(rules: Array(repeating: nil, count: LimitClass.count))

    /// The rules of a server that asks for credentials.
    static let defaults: LimitRules = {
        var rules = LimitRules.off
        rules[.connections] = .count(512)
        rules[.streams] = .count(64)
        for (name, quota, window, burst) in rates {
            rules[name] = Rate(quota: quota, windowSeconds: window, burst: burst).map(LimitRule.rate)
        }
        return rules
    }()

    private static let rates: [(LimitClass, quota: Int, window: Int, burst: Int)] = [
        (.failedCredentials, 5, 1, 20),
        (.anonymousRequests, 50, 1, 200),
        (.requests, 200, 1, 800),
        (.dispatches, 100, 1, 400),
        (.tickets, 10, 1, 10),
        (.sessionsCreated, 10, 60, 60),
        (.bytesWritten, 10_485_760, 60, 52_428_800),
    ]

    private init(rules: [LimitRule?]) { self.rules = rules }

    subscript(name: LimitClass) -> LimitRule? {
        get { rules[name.rawValue] }
        set { rules[name.rawValue] = newValue }
    }

    /// The rate of a class; nil if it has none.
    func rate(of name: LimitClass) -> Rate? {
        guard case .rate(let rate) = self[name] else { return nil }
        return rate
    }

    /// The most open things of a class; nil if they are not limited.
    func count(of name: LimitClass) -> Int? {
        guard case .count(let count) = self[name] else { return nil }
        return count
    }

    /// True if no class has a limit.
    var isEmpty: Bool { rules.allSatisfy { $0 == nil } }

    /// The limits as `GET /v1/me` shows them; a limit of open things has no window and no burst.
    var json: JSONValue {
        .array(
            LimitClass.allCases.compactMap { name in
                let numbers: (quota: Int, window: Int?, burst: Int?)
                switch self[name] {
                case nil: return nil
                case .rate(let rate): numbers = (rate.quota, rate.windowSeconds, rate.burst)
                case .count(let count): numbers = (count, nil, nil)
                }
                func number(_ value: Int?) -> JSONValue { value.map { .number("\($0)") } ?? .null }
                return .object([
                    .init(name: "policy", value: .string(name.value)),
                    .init(name: "quota", value: number(numbers.quota)),
                    .init(name: "window", value: number(numbers.window)),
                    .init(name: "burst", value: number(numbers.burst)),
                ])
            }
        )
    }

    /// Reads `{"dispatches": {"quota": 100, "window": 1, "burst": 400}, "requests": null}`.
    ///
    /// `null` removes a limit. A class that is not named has the limit of `base`.
    ///
    /// - Throws: a `ServerError` with the member and the remedy.
    init(parsing bytes: [UInt8], over base: LimitRules) throws(ServerError) {
        guard bytes.count <= Self.documentBytesMax else {
            throw ServerError("the limits have \(bytes.count) bytes; use at most \(Self.documentBytesMax)")
        }
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw ServerError("the limits are not JSON: \(ForeignText.line(error.description))")
        }
        guard let members = document.members else {
            throw ServerError(
                "the limits are no object; use {\"dispatches\": {\"quota\": 100, \"window\": 1, \"burst\": 400}}"
            )
        }
        rules = base.rules
        for member in members {
            guard let name = LimitClass(named: member.name) else {
                let known = LimitClass.allCases.map(\.value).joined(separator: ", ")
                throw ServerError("\(ForeignText.quoted(member.name)) is no limit; use one of \(known)")
            }
            self[name] = member.value == .null ? nil : try Self.rule(member.value, of: name)
        }
    }

    private static func rule(_ value: JSONValue, of name: LimitClass) throws(ServerError) -> LimitRule {
        let known = name.isCount ? ["quota"] : ["quota", "window", "burst"]
        let example = name.isCount ? "{\"quota\": 64}" : "{\"quota\": 100, \"window\": 1, \"burst\": 400}"
        guard let members = value.members, members.allSatisfy({ known.contains($0.name) }) else {
            throw ServerError("\"\(name.value)\" is an object such as \(example), or null for no limit")
        }
        guard let quota = value["quota"]?.integerValue, (1...Rate.countMax).contains(quota) else {
            throw ServerError("\"\(name.value)\" needs a \"quota\" of 1 to \(Rate.countMax), as in \(example)")
        }
        guard !name.isCount else { return .count(quota) }
        guard let window = value["window"]?.integerValue,
            let burst = value["burst"].map(\.integerValue) ?? .some(quota),
            let rate = Rate(quota: quota, windowSeconds: window, burst: burst)
        else {
            throw ServerError(
                "\"\(name.value)\" needs a \"window\" of 1 to \(Rate.secondsMax) seconds, and a \"burst\" that fills again within a day, "
                    + "as in \(example)"
            )
        }
        return .rate(rate)
    }
}

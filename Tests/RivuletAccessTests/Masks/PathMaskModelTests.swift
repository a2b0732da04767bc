import RivuletAccess
import RivuletJSON
import SeededRandom
import Testing

/// Compares masks with a list of patterns, of which each is tried alone.
@Suite struct PathMaskModelTests {
    private static let tokens = ["a", "b", "c"]
    private static let rounds = 2_000

    /// The patterns of a mask, as they are given.
    private struct Model {
        let patterns: [[String]]

        /// True if one pattern contains all that the path stands for.
        func grants(_ path: [String]) -> Bool {
            patterns.contains { pattern in
                pattern.count <= path.count && zip(pattern, path).allSatisfy { $0 == "*" || $0 == $1 }
            }
        }

        /// True if one pattern has something in common with the path.
        func intersects(_ path: [String]) -> Bool {
            patterns.contains { zip($0, path).allSatisfy { $0 == "*" || $1 == "*" || $0 == $1 } }
        }
    }

    private static func path(
        _ lengths: ClosedRange<Int>,
        _ tokens: [String],
        _ random: inout SeededGenerator
    ) -> [String] {
        (0..<Int.random(in: lengths, using: &random)).map { _ in
            tokens[Int.random(in: tokens.indices, using: &random)]
        }
    }

    private static func patterns(_ random: inout SeededGenerator, from shortest: Int) -> [[String]] {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in path(shortest...3, tokens + ["*"], &random) }
    }

    private static func mask(_ patterns: [[String]]) -> PathMask {
        PathMask(patterns.map(JSONPointer.init(tokens:)))
    }

    /// All paths of four tokens without wildcards.
    private static let deepPaths: [[String]] = (0..<4).reduce([[]]) { paths, _ in
        paths.flatMap { path in tokens.map { path + [$0] } }
    }

    @Test func `a mask grants what one of its paths grants`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<Self.rounds {
            let patterns = Self.patterns(&random, from: 0)
            let (mask, model) = (Self.mask(patterns), Model(patterns: patterns))
            for _ in 0..<8 {
                let path = Self.path(0...4, Self.tokens + ["*"], &random)
                let pointer = JSONPointer(tokens: path)
                #expect(mask.grants(pointer) == model.grants(path), "\(patterns) \(path)")
                #expect(mask.intersects(pointer) == model.intersects(path), "\(patterns) \(path)")
            }
            let minimal = mask.paths.map(\.tokens)
            for (index, path) in minimal.enumerated() {
                var others = minimal
                others.remove(at: index)
                #expect(!Model(patterns: others).grants(path), "\(patterns)")
            }
            #expect(Self.mask(minimal) == mask && Self.mask(patterns.shuffled(using: &random)) == mask)
        }
    }

    @Test func `unions, intersections and narrowed requests have exactly the common paths`() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<Self.rounds / 10 {
            let (left, right) = (Self.patterns(&random, from: 1), Self.patterns(&random, from: 0))
            let (one, other) = (Model(patterns: left), Model(patterns: right))
            let union = Model(patterns: Self.mask(left).union(Self.mask(right)).paths.map(\.tokens))
            let common = Model(patterns: Self.mask(left).intersection(Self.mask(right)).paths.map(\.tokens))
            let narrowed = Self.mask(left).narrow(right.map(JSONPointer.init(tokens:)))
            let requested = right.isEmpty ? Model(patterns: [[]]) : other
            let granted = Model(patterns: narrowed?.paths.map(\.tokens) ?? [])
            #expect(narrowed?.isNarrowed != false || requested.patterns.allSatisfy(one.grants))
            for path in Self.deepPaths {
                #expect(union.grants(path) == (one.grants(path) || other.grants(path)), "\(left) \(right) \(path)")
                #expect(common.grants(path) == (one.grants(path) && other.grants(path)), "\(left) \(right) \(path)")
                let isGranted = one.grants(path) && requested.grants(path)
                #expect(granted.grants(path) == isGranted, "\(left) \(right) \(path)")
            }
        }
    }

    /// A random value; the leaves are numbers that differ.
    private static func value(_ depth: Int, _ leaves: inout Int, _ random: inout SeededGenerator) -> JSONValue {
        func names() -> [String] { tokens.filter { _ in Bool.random(using: &random) } }
        func members() -> [JSONValue.Member] {
            names().map { .init(name: $0, value: value(depth - 1, &leaves, &random)) }
        }
        switch depth > 0 ? Int.random(in: 0..<5, using: &random) : 0 {
        case 0:
            leaves += 1
            return .number(String(leaves))
        case 1:
            return .array(
                names().map { .object([.init(name: "id", value: .string($0))] + members()) }
            )
        default: return .object(members())
        }
    }

    /// The shape of the values: each is an object, or a keyed collection.
    private static var schema: JSONSchema {
        .named(title: "Value", identity: ObjectIdentifier(Self.self)) {
            .anyOf([.keyed(Self.schema), .dictionary(Self.schema)])
        }
    }

    /// The numbers in a value, each with its path.
    private static func leaves(of value: JSONValue, at path: [String]) -> [(path: [String], number: String)] {
        switch value {
        case .number(let number): [(path, number)]
        case .object(let members): members.flatMap { leaves(of: $0.value, at: path + [$0.name]) }
        case .array(let elements): elements.flatMap { leaves(of: $0, at: path + [$0["id"]?.stringValue ?? ""]) }
        case .null, .bool, .string: []
        }
    }

    @Test func `a pruned value has every granted number, and no other`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<Self.rounds {
            let patterns = Self.patterns(&random, from: 0)
            let (mask, model) = (Self.mask(patterns), Model(patterns: patterns))
            var count = 0
            let value = Self.value(4, &count, &random)
            let path = Self.path(0...2, Self.tokens, &random)
            let pruned = mask.prune(value, at: JSONPointer(tokens: path), of: Self.schema)
            let visible = pruned.map { Self.leaves(of: $0, at: path) } ?? []
            let granted = Self.leaves(of: value, at: path).filter { model.grants($0.path) }
            #expect(visible.map(\.number) == granted.map(\.number), "\(patterns) \(path) \(value)")
            #expect(visible.map(\.path) == granted.map(\.path), "\(patterns) \(path) \(value)")
            if !model.intersects(path) { #expect(pruned == nil) }
        }
    }
}

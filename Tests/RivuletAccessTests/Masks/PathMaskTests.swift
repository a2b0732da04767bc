import RivuletAccess
import RivuletJSON
import Testing

@Suite struct PathMaskTests {
    private static func path(_ text: String) throws -> JSONPointer { try JSONPointer(parsing: text) }

    private static func mask(_ texts: [String]) throws -> PathMask { PathMask(try texts.map(path)) }

    private static let forms: [([String], [String])] = [
        ([], []), ([""], [""]), (["", "/a"], [""]), (["/a", "/a"], ["/a"]), (["/a/b", "/a"], ["/a"]),
        (["/b", "/a"], ["/a", "/b"]), (["/p/*", "/p/a/b", "/p"], ["/p"]), (["/p/*", "/p/a/b"], ["/p/*"]),
        (["/*/b", "/a/*"], ["/*/b", "/a/*"]), (["/*/b/c", "/a/*"], ["/*/b/c", "/a/*"]), (["/*/*", "/a/*"], ["/*/*"]),
        (["/*/b", "/a/b/c", "/a/c"], ["/*/b", "/a/c"]), (["/*", "/a", "/b/c"], ["/*"]),
        (["/a/*/c", "/*/b", "/a/b/c", "/a/b/c/d"], ["/*/b", "/a/*/c"]), (["/"], ["/"]), (["/a~1b"], ["/a~1b"]),
    ]

    @Test(arguments: forms)
    func `a mask has no path that another one contains`(_ texts: [String], _ minimal: [String]) throws {
        let mask = try Self.mask(texts)
        #expect(mask.paths.map(\.description) == minimal)
        #expect(try mask == Self.mask(minimal.reversed()))
        #expect(try mask.name == Self.mask(minimal).name)
    }

    @Test func `all and none are masks of their own`() throws {
        #expect(try PathMask.all == Self.mask([""]))
        #expect(PathMask.none == PathMask([]))
        #expect(PathMask.all.isAll && !PathMask.all.isNone)
        #expect(PathMask.none.isNone && !PathMask.none.isAll)
        #expect(PathMask.all.grants(JSONPointer(tokens: [])))
        #expect(!PathMask.none.grants(JSONPointer(tokens: [])))
        #expect(!PathMask.none.intersects(JSONPointer(tokens: [])))
        #expect(PathMask.all.union(.none) == .all)
        #expect(PathMask.all.intersection(.none) == .none)
    }

    @Test func `names differ between masks, and are stable`() throws {
        #expect(PathMask.all.name.isEmpty)
        let masks = [[], ["/a"], ["/b"], ["/a", "/b"], ["/a/b"], ["/*"], ["/a~1b"], ["/"]]
        let names = try masks.map { try Self.mask($0).name }
        #expect(Set(names).count == masks.count)
        #expect(names.allSatisfy { $0.utf8.count == 13 })
        #expect(try Self.mask(["/p/todos"]).name == "rgqjzh3yvc7du")
    }

    private static let decisions: [([String], String, Bool, Bool)] = [
        (["/p"], "/p", true, true), (["/p"], "/p/a", true, true), (["/p"], "", false, true),
        (["/p"], "/pq", false, false), (["/p/a"], "/p/b", false, false), (["/p/*"], "/p", false, true),
        (["/p/*"], "/p/a", true, true), (["/p/*"], "/p/*", true, true), (["/p/a"], "/p/*", false, true),
        (["/p/*/t"], "/p/a/u", false, false), (["/p/*/t"], "/p/*/t/x", true, true), (["/p/*/t"], "/*/a", false, true),
        (["/p/*/t"], "/q/*", false, false), (["/*/a", "/b/*"], "/b/a", true, true),
        (["/*/a", "/b/*"], "/*/*", false, true), (["/caf\u{E9}"], "/cafe\u{301}", false, false),
        (["/p/a*"], "/p/ab", false, false),
    ]

    @Test(arguments: decisions)
    func `a path is granted, or has something granted`(
        _ texts: [String],
        _ text: String,
        _ isGranted: Bool,
        _ isMet: Bool
    ) throws {
        let (mask, path) = (try Self.mask(texts), try Self.path(text))
        #expect(mask.grants(path) == isGranted)
        #expect(mask.intersects(path) == isMet)
    }

    private static let requests: [([String], [String], [String], Bool)] = [
        (["/p"], [], ["/p"], true), (["/p", "/q/*"], [""], ["/p", "/q/*"], true), (["/p"], ["/p/a"], ["/p/a"], false),
        (["/p"], ["/p/a", "/p", "/p/a"], ["/p/a", "/p", "/p/a"], false), (["/p/*"], ["/p"], ["/p/*"], true),
        (["/p/*/t"], ["/p/a"], ["/p/a/t"], true), (["/p/a"], ["/*/*/t"], ["/p/a/t"], true),
        (["/*/a", "/b/*"], ["/b"], ["/b/*"], true), (["/p"], ["/q", "/p/a", ""], ["/p"], true),
        (["/*/t"], ["/a", "/a/t/x"], ["/a/t"], true),
    ]

    @Test(arguments: requests)
    func `requested paths are narrowed`(
        _ texts: [String],
        _ requested: [String],
        _ paths: [String],
        _ isNarrowed: Bool
    ) throws {
        let narrowed = try #require(try Self.mask(texts).narrow(requested.map(Self.path)))
        #expect(narrowed.paths.map(\.description) == paths)
        #expect(narrowed.isNarrowed == isNarrowed)
    }

    @Test func `the work ends at more granted paths than a stream could have`() throws {
        let mask = PathMask((0..<2_048).map { JSONPointer(tokens: ["p", "\($0)", "t"]) })
        let requested = try ["/p", "/*/*/t", "/p/*/t"].map(Self.path)
        #expect(mask.narrow(requested, partsMax: 64)?.paths.count == 65)
        #expect(mask.narrow(requested, partsMax: 2_047)?.paths.count == 2_048)
        #expect(mask.narrow(requested, partsMax: 2_048)?.paths == mask.paths)
        // A part within two requested paths counts once.
        let nested = try Self.mask(["/*/a", "/b/*/c"])
        let all = try [Self.path("/b/*"), Self.path("/*/*/c")]
        #expect(nested.narrow(all, partsMax: 4)?.paths.map(\.description) == ["/*/a/c", "/b/*/c", "/b/a"])
        #expect(nested.narrow(all, partsMax: 2)?.paths.count == 3)
    }

    @Test func `a request beside the mask has no paths at all`() throws {
        #expect(try Self.mask(["/p"]).narrow([Self.path("/q"), Self.path("/pp")]) == nil)
        #expect(PathMask.none.narrow([]) == nil)
        #expect(PathMask.all.narrow([])?.paths.map(\.description) == [""])
        #expect(try PathMask.all.narrow([Self.path("/q")])?.isNarrowed == false)
    }

    @Test func `masks have unions and intersections`() throws {
        let (left, right) = (try Self.mask(["/p", "/q/*/t"]), try Self.mask(["/p/a", "/q/b", "/r"]))
        #expect(left.union(right).paths.map(\.description) == ["/p", "/q/*/t", "/q/b", "/r"])
        #expect(left.intersection(right).paths.map(\.description) == ["/p/a", "/q/b/t"])
        #expect(left.intersection(right) == right.intersection(left))
        #expect(left.union(right) == right.union(left))
    }

    /// A document with keyed collections in `l` and `k`, a plain array in `n`, and one or the other in `m`.
    private static let schema = JSONSchema.object(title: "Document") {
        [
            JSONSchema.Field(name: "l", schema: .keyed(.any)),
            JSONSchema.Field(name: "k", schema: .optional(.annotated(.keyed(.any), []))),
            JSONSchema.Field(name: "n", schema: .array(.any)),
            JSONSchema.Field(name: "m", schema: .oneOf([.array(.any), .keyed(.any)])),
            JSONSchema.Field(name: "o", schema: .dictionary(.any)),
        ]
    }

    private static let prunings: [([String], String, String?)] = [
        ([""], "{\"a\":1}", "{\"a\":1}"), ([], "{\"a\":1}", nil), (["/a"], "{\"a\":1,\"b\":2}", "{\"a\":1}"),
        (["/a"], "{\"b\":2}", "{}"), (["/a/b"], "{\"a\":5,\"b\":2}", "{}"),
        (["/a/b"], "{\"a\":{\"c\":1}}", "{\"a\":{}}"), (["/a/b"], "{\"a\":null}", "{}"), (["/a"], "5", nil),
        (["/u/*/n"], "{\"u\":{\"x\":{\"s\":1},\"y\":{\"n\":2,\"s\":3}},\"v\":4}", "{\"u\":{\"y\":{\"n\":2}}}"),
        (["/l/7"], "{\"l\":[{\"id\":\"7\",\"t\":1},{\"id\":\"8\",\"t\":2}]}", "{\"l\":[{\"id\":\"7\",\"t\":1}]}"),
        (
            ["/l/*/t"], "{\"l\":[{\"id\":7,\"t\":1,\"s\":9},{\"s\":9,\"id\":8}]}", "{\"l\":[{\"id\":7,\"t\":1}]}"
        ),
        (["/l/8/t"], "{\"l\":[{\"id\":7,\"t\":1},{\"s\":9,\"id\":8}]}", "{\"l\":[{\"id\":8}]}"),
        (["/n/1"], "{\"n\":[10,11,12]}", "{\"n\":[11]}"), (["/n/1"], "{\"n\":[{\"id\":5},12]}", "{\"n\":[12]}"),
        (["/n/1"], "{\"n\":[{\"id\":1,\"s\":1},{\"id\":0,\"s\":2}]}", "{\"n\":[{\"id\":0,\"s\":2}]}"),
        (["/n/*/t"], "{\"n\":[{\"id\":7,\"t\":1},{\"id\":8,\"s\":9}]}", "{\"n\":[{\"t\":1}]}"),
        (["/o/x/1"], "{\"o\":{\"x\":[{\"id\":1,\"s\":1},{\"id\":0,\"s\":2}]}}", "{\"o\":{\"x\":[{\"id\":0,\"s\":2}]}}"),
        (["/m/1"], "{\"m\":[{\"id\":1},{\"id\":0}]}", "{\"m\":[]}"),
        (["/m/*/t"], "{\"m\":[{\"id\":1,\"t\":1}]}", "{\"m\":[{\"t\":1}]}"),
        (["/x/0"], "{\"x\":[1]}", "{\"x\":[]}"), (["/x/*"], "{\"x\":[1]}", "{\"x\":[1]}"),
        (["/l/1"], "{\"l\":[{\"t\":1},{\"id\":1,\"t\":2}]}", "{\"l\":[{\"id\":1,\"t\":2}]}"),
        (["/l/*"], "{\"l\":[]}", "{\"l\":[]}"), (["/*/x"], "{\"l\":[],\"m\":{}}", "{}"),
        (["/a"], "{\"a\\u0301\":1}", "{}"), (["/*"], "{\"*\":1}", "{\"*\":1}"),
        (["/k/id"], "{\"k\":[{\"id\":\"id\",\"s\":1},{\"id\":\"b\"}]}", "{\"k\":[{\"id\":\"id\",\"s\":1}]}"),
    ]

    @Test(arguments: prunings)
    func `a value has its granted part`(_ texts: [String], _ value: String, _ pruned: String?) throws {
        let found = try Self.mask(texts).prune(JSONValue(parsing: value), at: JSONPointer(tokens: []), of: Self.schema)
        #expect(found?.description == pruned)
    }

    @Test func `a value is pruned at its path`() throws {
        let mask = try Self.mask(["/p/a", "/q/*/t"])
        let value = try JSONValue(parsing: "{\"a\":1,\"t\":2}")
        #expect(try mask.prune(value, at: Self.path("/p"), of: .any)?.description == "{\"a\":1}")
        #expect(try mask.prune(value, at: Self.path("/p/a/b"), of: .any) == value)
        #expect(try mask.prune(value, at: Self.path("/q/x"), of: .any)?.description == "{\"t\":2}")
        #expect(try mask.prune(value, at: Self.path("/q/x/t"), of: .any) == value)
        #expect(try mask.prune(value, at: Self.path("/r"), of: .any) == nil)
    }

    @Test func `an element keeps its id if its collection is keyed`() throws {
        let mask = try Self.mask(["/l/*/t", "/n/*/t"])
        let value = try JSONValue(parsing: "{\"id\":1,\"t\":2}")
        for (path, text) in [("/l/1", "{\"id\":1,\"t\":2}"), ("/n/1", "{\"t\":2}")] {
            let pruned = try mask.prune(value, at: Self.path(path), of: Self.schema, keepsID: true)
            #expect(pruned?.description == text)
        }
        #expect(try mask.prune(value, at: Self.path("/l/1"), of: Self.schema)?.description == "{\"t\":2}")
    }
}

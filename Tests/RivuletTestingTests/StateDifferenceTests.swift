// Checks the lines of a failed expectation for each kind of difference.

import RivuletJSON
import RivuletObservation
import RivuletTesting
import Testing

@ObservableState
fileprivate struct Shelf: Equatable, Sendable {
    var title = ""
    var books: Keyed<Book> = []
    var tags: [String] = []
    var votes: [String: Int] = [:]
    var labels: Set<String> = []
    var mode = Mode.idle
    var size: ShelfSize?
    @Wrapped(Boxed.self) var boxed = ShelfSize()
    @Wrapped(Omitted.self) var note: String?
}

@ObservableState
fileprivate struct Book: Equatable, Sendable, Identifiable {
    var id: String
    var title = ""
    @Wrapped(Omitted.self) var note: String?
}

@ObservableState
fileprivate struct ShelfSize: Equatable, Sendable {
    var width = 1
    var height = 2
    @Wrapped(Omitted.self) var secret = 0
}

@ObservableState
fileprivate enum Mode: Equatable, Sendable {
    case idle
    case editing(ShelfSize)
    case lending(ShelfSize)
}

@Suite struct StateDifferenceTests {
    /// The lines between two edits of the same state.
    private func lines(
        _ expected: (inout Shelf) -> Void,
        _ actual: (inout Shelf) -> Void
    ) -> [String] {
        var (left, right) = (Shelf(), Shelf())
        expected(&left)
        actual(&right)
        return StateDifference.lines(expected: left, actual: right)
    }

    private func books(_ ids: [String]) -> Keyed<Book> {
        Keyed(ids.map { Book(id: $0) })
    }

    @Test func `a field of a nested state is named, and no other`() {
        let found = lines {
            $0.size = ShelfSize()
            $0.title = "a"
        } _: {
            $0.size = ShelfSize(width: 7)
            $0.boxed.height = 9
        }
        #expect(
            found == [
                #"/title: expected "a", was """#, "/size/width: expected 1, was 7", "/boxed/height: expected 2, was 9",
            ]
        )
    }

    // MARK: - Elements

    @Test func `elements of a collection that are missing, unexpected and different are named by their ids`() {
        let found = lines {
            $0.books = books(["a", "b", "c/d"])
        } _: {
            $0.books = books(["b", "c/d", "e"])
            $0.books[id: "c/d"]?.title = "C"
        }
        #expect(
            found == [
                #"/books/a: expected {"id":"a","title":""}, was missing"#,
                #"/books/c~1d/title: expected "", was "C""#,
                #"/books/e: expected no element, was {"id":"e","title":""}"#,
            ]
        )
    }

    @Test func `the fewest elements are reported as moved, with both positions`() {
        let found = lines {
            $0.books = books(["a", "b", "c", "d"])
        } _: {
            $0.books = books(["new", "d", "a", "b", "c"])
        }
        #expect(
            found == [
                "/books/d: expected at index 3, was at index 1",
                #"/books/new: expected no element, was {"id":"new","title":""}"#,
            ]
        )
    }

    @Test func `a long collection in another order is one line`() {
        let ids = (0...StateDifference.reorderedMax).map { "b\($0)" }
        let found = lines {
            $0.books = books(ids)
        } _: {
            $0.books = books(ids.reversed())
        }
        #expect(found == ["/books: the order of its elements is another one"])
    }

    @Test func `two spellings of an id are two elements`() {
        let found = lines {
            $0.books = books(["\u{E9}"])
        } _: {
            $0.books = books(["e\u{301}"])
        }
        #expect(found.count == 2 && found[0].hasSuffix("was missing"))
    }

    @Test func `many elements are named one by one, and those above the limit are counted`() {
        let found = lines {
            $0.books = books((0..<1_000).map { "b\($0)" })
        } _: {
            $0.books = books((0..<1_000).map { "b\($0)" })
            for index in 0..<900 { $0.books[id: "b\(index)"]?.title = "x" }
        }
        #expect(found.count == StateDifference.linesMax + 1)
        #expect(found.first == #"/books/b0/title: expected "", was "x""#)
        #expect(found.last == "and \(900 - StateDifference.linesMax) more")
    }

    @Test(arguments: [
        (["a", "b", "c"], ["a", "c"], [#"/tags/1: expected "b", was missing"#]),
        (["a", "c"], ["a", "b", "c"], [#"/tags/1: expected no element, was "b""#]),
        (["a", "b", "c"], ["a", "x", "c"], [#"/tags/1: expected "b", was "x""#]),
        (["a", "a"], ["a"], [#"/tags/1: expected "a", was missing"#]),
        ([], ["a"], [#"/tags/0: expected no element, was "a""#]),
        (
            ["a", "b"], ["x", "y", "z"],
            [
                #"/tags/0: expected "a", was "x""#, #"/tags/1: expected "b", was "y""#,
                #"/tags/2: expected no element, was "z""#,
            ]
        ),
    ])
    func `elements of an array are named by their index`(_ expected: [String], _ actual: [String], _ found: [String]) {
        #expect(
            lines {
                $0.tags = expected
            } _: {
                $0.tags = actual
            } == found
        )
    }

    @Test func `keys of a dictionary that are missing, unexpected and different are named`() {
        let found = lines {
            $0.votes = ["a": 1, "b": 2, "c": 3]
        } _: {
            $0.votes = ["b": 2, "c": 4, "d": 5]
        }
        #expect(
            found == [
                "/votes/a: expected 1, was missing", "/votes/c: expected 3, was 4",
                "/votes/d: expected no value, was 5",
            ]
        )
        #expect(
            lines {
                $0.votes = ["a": 1]
            } _: { _ in
            } == ["/votes/a: expected 1, was missing"]
        )
    }

    // MARK: - Whole values

    @Test func `another case of an enum differs as a whole, the same case in its values`() {
        let size = #"{"width":1,"height":2}"#
        #expect(
            lines {
                $0.mode = .editing(ShelfSize())
            } _: {
                $0.mode = .lending(ShelfSize())
            }
                == [#"/mode: expected {"editing":\#(size)}, was {"lending":\#(size)}"#]
        )
        #expect(
            lines {
                $0.mode = .editing(ShelfSize())
            } _: {
                $0.mode = .idle
            }
                == [#"/mode: expected {"editing":\#(size)}, was "idle""#]
        )
        #expect(
            lines {
                $0.mode = .editing(ShelfSize())
            } _: {
                $0.mode = .editing(ShelfSize(width: 3))
            }
                == ["/mode/editing/width: expected 1, was 3"]
        )
    }

    @Test func `nil differs as a whole`() {
        #expect(
            lines {
                $0.size = ShelfSize()
            } _: { _ in
            } == [#"/size: expected {"width":1,"height":2}, was null"#]
        )
    }

    @Test func `long values are cut, and their first difference is shown`() {
        let long = String(repeating: "a", count: 400)
        #expect(
            lines {
                $0.title = long
            } _: {
                $0.title = "b"
            }
                == ["/title: expected \"\(long.prefix(StateDifference.valueCharactersMax - 1))…, was \"b\""]
        )
        #expect(
            lines {
                $0.title = long + "x"
            } _: {
                $0.title = long + "y"
            }
                == [#"/title: expected …\#(long.prefix(20))x", was …\#(long.prefix(20))y""#]
        )
    }

    // MARK: - Omitted fields

    @Test func `omitted fields are named too, also those of nested states`() {
        let found = lines {
            $0.note = "a"
            $0.size = ShelfSize()
            $0.boxed.secret = 1
        } _: {
            $0.size = ShelfSize(secret: 5)
            $0.title = "b"
        }
        #expect(
            found == [
                #"/title: expected "", was "b""#, "/boxed/secret: expected 1, was 0",
                #"/note: expected Optional("a"), was nil"#, "/size/secret: expected 0, was 5",
            ]
        )
    }

    @Test func `sets are compared as sorted lists`() {
        let found = lines {
            $0.labels = ["a", "b", "c"]
        } _: {
            $0.labels = ["c", "a"]
        }
        #expect(found.allSatisfy { $0.hasPrefix("/labels") && !$0.contains("(:") } && !found.isEmpty, "\(found)")
    }

    @Test func `if states differ by == but in no field, the message says so`() {
        let found = lines {
            $0.books = [Book(id: "a", note: "x")]
        } _: {
            $0.books = [Book(id: "a", note: "y")]
        }
        #expect(found == ["the states differ by ==, but in no field of their JSON"])
    }
}

// Checks the times at which a file of the public folder is read again.

import Testing

@testable import RivuletServer

@Suite struct FileLooksTests {
    private let old = FileStamp(bytes: 1, modified: 1)
    private let new = FileStamp(bytes: 2, modified: 2)
    private let newer = FileStamp(bytes: 3, modified: 3)

    @Test func `a file is due if two checks find the same new stamp`() {
        var looks = FileLooks(taken: ["a": old])
        #expect(looks.look(["a": old]) == FileLooks.Work())
        #expect(looks.look(["a": new]) == FileLooks.Work())
        #expect(looks.look(["a": newer]) == FileLooks.Work())
        #expect(looks.look(["a": newer]) == FileLooks.Work(due: ["a"]))
        looks.settle("a", newer)
        #expect(looks.look(["a": newer]) == FileLooks.Work())
    }

    @Test func `a file that was not settled stays due`() {
        var looks = FileLooks(taken: ["a": old])
        _ = looks.look(["a": new])
        #expect(looks.look(["a": new]).due == ["a"])
        #expect(looks.look(["a": new]).due == ["a"])
    }

    @Test func `a file that differs from the old one only in its inode is due`() {
        var looks = FileLooks(taken: ["a": old])
        let moved = FileStamp(bytes: 1, inode: 9, modified: 1)
        _ = looks.look(["a": moved])
        #expect(looks.look(["a": moved]).due == ["a"])
    }

    @Test func `a new file is due, and a file that two checks do not find is removed`() {
        var looks = FileLooks(taken: ["a": old])
        #expect(looks.look(["b": new]) == FileLooks.Work())
        #expect(looks.look(["b": new]) == FileLooks.Work(due: ["b"], gone: ["a"]))
        looks.settle("b", new)
        #expect(looks.look(["b": new]) == FileLooks.Work())
    }

    @Test func `a file that one check does not find stays`() {
        var looks = FileLooks(taken: ["a": old])
        _ = looks.look([:])
        #expect(looks.look(["a": old]) == FileLooks.Work())
        _ = looks.look([:])
        #expect(looks.look(["a": new]) == FileLooks.Work())
    }

    @Test func `a refused file is due again when it is forgotten`() {
        var looks = FileLooks(taken: [:])
        _ = looks.look(["a": new])
        looks.settle("a", new)
        #expect(looks.look(["a": new]).due == [])
        looks.forget("a")
        #expect(looks.look(["a": new]).due == ["a"])
    }
}

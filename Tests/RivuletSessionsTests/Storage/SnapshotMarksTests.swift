// Checks the choice of the snapshot for a version, and the version up to which entries may be deleted.

import RivuletSessions
import Testing

@Suite struct SnapshotMarksTests {
    private typealias Mark = SnapshotMarks.Mark

    private func marks(_ marks: (UInt64, UInt32)...) -> SnapshotMarks {
        SnapshotMarks(marks.map { Mark(version: $0.0, schema: $0.1) })
    }

    @Test func `a version is read from the newest snapshot up to it`() {
        let marks = marks((0, 1), (5, 1), (9, 1))
        #expect(marks.base(of: 4) == Mark(version: 0, schema: 1))
        #expect(marks.base(of: 5) == Mark(version: 5, schema: 1))
        #expect(marks.base(of: 8) == Mark(version: 5, schema: 1))
        #expect(marks.base(of: 99) == Mark(version: 9, schema: 1))
        #expect(self.marks((5, 1)).base(of: 4) == nil)
    }

    @Test func `the version at a migration is read in the older shape, the next version in the newer`() {
        let alone = marks((0, 1), (5, 2))
        #expect(alone.base(of: 5) == Mark(version: 0, schema: 1))
        #expect(alone.base(of: 6) == Mark(version: 5, schema: 2))
        let beside = marks((0, 1), (5, 2), (5, 1))
        #expect(beside.base(of: 5) == Mark(version: 5, schema: 1))
        #expect(beside.base(of: 6) == Mark(version: 5, schema: 2))
        #expect(marks((0, 1), (5, 2), (5, 3)).base(of: 5) == Mark(version: 0, schema: 1), "two migrations")
    }

    @Test func `a session that began in a later schema is read from its first snapshot`() {
        #expect(marks((0, 3)).base(of: 0) == Mark(version: 0, schema: 3))
        #expect(marks((0, 2), (0, 3)).base(of: 0) == Mark(version: 0, schema: 2))
    }

    @Test func `entries are deleted up to a snapshot that needs no earlier one`() {
        #expect(marks((0, 1), (5, 1), (9, 1)).base(keepingFrom: 9) == 5)
        #expect(marks((0, 1), (5, 2), (9, 2)).base(keepingFrom: 9) == 0, "version 5 is read from version 0")
        #expect(marks((0, 1), (5, 2), (9, 2)).base(keepingFrom: 10) == 9)
        #expect(marks((0, 1), (5, 1), (5, 2)).base(keepingFrom: 9) == 5)
        #expect(marks((5, 1)).base(keepingFrom: 5) == nil)
    }
}

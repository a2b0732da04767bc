// Checks that the system's error of a failed call is found in SQLite's messages.

import RivuletSQLite
import Testing

@Suite struct SQLiteCauseTests {
    @Test(
        arguments: [
            ("os_unix.c:3500: (28) full_fsync(/data/rivulet.db-wal) - No space left on device", 28),
            ("os_unix.c:45148: (5) open(/data/rivulet.db) - ", 5),
            ("recovered 12 frames from WAL file /data/rivulet.db-wal", nil),
            ("os_unix.c:1: full_fsync", nil),
            ("file renamed while open: /data/rivulet (28).db", nil),
        ] as [(String, Int32?)]
    )
    func `a message of a failed call has the number of the system's error`(message: String, number: Int32?) {
        #expect(SQLiteProcess.systemError(in: message) == number)
    }
}

internal import RivuletSessions

/// A row of the table `session`.
struct SessionRow {
    let sid: Int64
    let key: SessionKey
    let epoch: String
    let created: Int64

    var checksum: Int64 {
        var checksum = RowChecksum()
        checksum.add(sid)
        checksum.add(key.app)
        checksum.add(key.id)
        checksum.add(epoch)
        checksum.add(created)
        return checksum.stored
    }
}

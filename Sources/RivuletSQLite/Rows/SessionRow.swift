internal import RivuletSessions

/// A row of the table `session`.
struct SessionRow {
    let sid: Int64
    let key: SessionKey
    /// The stored epoch, or the renewed one.
    let epoch: String
    let created: Int64
    /// The caller that created the session; nil if it has no name.
    let owner: String?

    /// Returns the row with another epoch, as a renewal gives it; its checksum differs from the stored one.
    func with(epoch: String) -> SessionRow {
        SessionRow(sid: sid, key: key, epoch: epoch, created: created, owner: owner)
    }

    var checksum: Int64 {
        var checksum = RowChecksum()
        checksum.add(sid)
        checksum.add(key.app)
        checksum.add(key.id)
        checksum.add(epoch)
        checksum.add(created)
        // Rows of earlier layouts have no owner, and their checksums end here.
        if let owner { checksum.add(owner) }
        return checksum.stored
    }
}

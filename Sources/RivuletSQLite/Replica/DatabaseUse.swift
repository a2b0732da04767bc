internal import RivuletSessions

/// The program for which a database is opened for writing.
enum DatabaseUse {
    /// A server without a cluster: a commit is on disk before its answer.
    case single
    /// A node of a cluster, which applies the cluster's log again after a power cut.
    case replica
    /// A command that keeps the database as it is, such as a vacuum.
    case maintenance

    /// The setting `synchronous`.
    ///
    /// With `NORMAL`, the write-ahead log is synced before a checkpoint, and not at each commit. So a power cut takes
    /// the last commits back, each as a whole. Source: <https://sqlite.org/pragma.html#pragma_synchronous>
    var synchronous: (name: String, number: Int64) { self == .replica ? ("NORMAL", 1) : ("FULL", 2) }

    /// Refuses the database of another use.
    ///
    /// `layout` is the file's layout; nil if the file is empty.
    func check(_ connection: SQLiteConnection, layout: Int64?) throws(SQLiteError) {
        guard self != .maintenance, let layout else { return }
        let cluster = try ReplicaRow.cluster(in: connection, layout: layout)
        switch (self, cluster) {
        case (.single, let cluster?):
            let detail =
                "\(connection.path) belongs to the cluster \"\(cluster)\": start with --cluster, or take another folder"
            throw .refused(.incompatible(detail: detail))
        case (.replica, _?):
            guard try EpochRenewal(connection, layout: layout) != nil else { return }
            let detail = "\(connection.path): its sessions were given epochs that no other copy has"
            throw .refused(.corrupt(nil, detail: detail))
        case (.replica, nil):
            guard try ReplicaFolder.hasContent(connection, layout: layout) else { return }
            let detail =
                "\(connection.path) has the data of a server without a cluster, and was left as it is: "
                + "give this node an empty folder"
            throw .refused(.incompatible(detail: detail))
        default: return
        }
    }
}

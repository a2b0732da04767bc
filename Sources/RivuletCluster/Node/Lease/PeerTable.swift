/// All nodes' records, as they were read last, for operators and for the choice of the next owner.
struct PeerTable {
    private struct Peer {
        var record: NodeRecord
        var value: [UInt8]
        var revision: UInt64
        var since: Int64
    }

    enum Action: Hashable {
        case names
        case record(String)
    }

    /// The most nodes of a cluster; further records are ignored.
    static let nodesMax = 256

    private let own: String
    private let interval: Int64
    private var peers: [String: Peer] = [:]
    private var waiting: [String] = []
    private var isBusy = false
    private var next = Int64.min
    /// A number that changes with the status of any node.
    private(set) var version = 0
    /// True after the first complete reading.
    private(set) var isKnown = false

    init(own: String, interval: Int64) { (self.own, self.interval) = (own, interval) }

    mutating func due(at now: Int64) -> Action? {
        guard !isBusy else { return nil }
        if let name = waiting.popLast() {
            isBusy = true
            return .record(name)
        }
        guard now >= next else { return nil }
        (isBusy, next) = (true, now + interval)
        return .names
    }

    mutating func didList(_ result: Result<[String], LogError>) {
        isBusy = false
        guard case .success(let names) = result else { return }
        waiting = names.filter { $0.hasPrefix(NodeRecord.namePrefix) }.prefix(Self.nodesMax).reversed()
            .map { String($0.dropFirst(NodeRecord.namePrefix.count)) }.filter { $0 != own }
        let gone = peers.keys.filter { !waiting.contains($0) }
        for name in gone { peers[name] = nil }
        if !gone.isEmpty { version += 1 }
        if waiting.isEmpty { isKnown = true }
    }

    mutating func didRead(_ result: Result<ClusterRecord?, LogError>, of name: String, at now: Int64) {
        isBusy = false
        if waiting.isEmpty { isKnown = true }
        guard case .success(let read?) = result else { return }
        if var peer = peers[name], peer.value == read.value {
            guard peer.revision != read.revision else { return }
            (peer.revision, peer.since) = (read.revision, now)
            peers[name] = peer
            return
        }
        // A record that cannot be read is no node that could take the partition.
        guard let record = try? NodeRecord(bytes: read.value) else { return }
        peers[name] = Peer(record: record, value: read.value, revision: read.revision, since: now)
        version += 1
    }

    private func isLive(_ peer: Peer, at now: Int64) -> Bool {
        peer.record.state == .live && now < peer.since + NodeTimes.watch(of: peer.record.lease) + interval
    }

    /// The names of the other nodes that could take the partition, sorted.
    func live(at now: Int64) -> [String] { peers.filter { isLive($0.value, at: now) }.keys.sorted() }

    /// The place of this node among the live ones, from 0.
    func rank(at now: Int64) -> Int { peers.count { $0.key < own && isLive($0.value, at: now) } }

    /// The nodes' status, this one included.
    func status(own record: NodeRecord, at now: Int64) -> [ClusterNodeStatus] {
        var all = peers.map { name, peer in
            let isSilent = now >= peer.since + NodeTimes.watch(of: peer.record.lease) + interval
            return ClusterNodeStatus(
                name: name,
                build: peer.record.build,
                state: isSilent ? .gone : ClusterNodeStatus.State(peer.record.state),
                leaseSeconds: peer.record.leaseSeconds
            )
        }
        all.append(
            ClusterNodeStatus(
                name: own,
                build: record.build,
                state: ClusterNodeStatus.State(record.state),
                leaseSeconds: record.leaseSeconds
            )
        )
        return all.sorted { $0.name < $1.name }
    }

    var wake: Int64? { isBusy ? nil : (waiting.isEmpty ? next : .min) }
}

extension ClusterNodeStatus.State {
    package init(_ state: NodeRecord.State) {
        self =
            switch state {
            case .live: .live
            case .draining: .draining
            case .gone, .fenced: .gone
            }
    }
}

import RivuletMetrics

/// The metrics of a server; Documentation/Operating.md shows the same table.
enum ServerMetric {
    static let buildInfo = MetricDescription("rivulet_build_info", .gauge, "1, with the version.", labels: ["version"])

    // MARK: - Connections and requests

    static let connections = MetricDescription("rivulet_connections", .gauge, "Open connections.")
    static let connectionsAccepted = MetricDescription(
        "rivulet_connections_accepted_total",
        .counter,
        "Accepted connections."
    )
    static let connectionsRefused = MetricDescription(
        "rivulet_connections_refused_total",
        .counter,
        "Connections that were closed at once, by cause.",
        labels: ["cause"]
    )
    static let requests = MetricDescription(
        "rivulet_requests_total",
        .counter,
        "Answered requests by method and class of status; a stream is counted when it begins.",
        labels: ["method", "status"]
    )
    static let problems = MetricDescription(
        "rivulet_request_problems_total",
        .counter,
        "Refused requests by status.",
        labels: ["status"]
    )
    static let requestsRefused = MetricDescription(
        "rivulet_requests_refused_total",
        .counter,
        "Requests refused before their body was read to the end, by cause.",
        labels: ["cause"]
    )
    static let authentications = MetricDescription(
        "rivulet_auth_total",
        .counter,
        "Looks at credentials and refused permissions by result, on a server that asks for credentials.",
        labels: ["result"]
    )
    static let rateLimits = MetricDescription(
        "rivulet_rate_limited_total",
        .counter,
        "Requests, lines, streams and connections refused because a caller or an address used its quota, by limit.",
        labels: ["policy"]
    )
    static let bodyBytes = MetricDescription(
        "rivulet_body_bytes_held",
        .gauge,
        "Memory that is reserved for request bodies, and held by bodies that wait for a reservation."
    )
    static let dispatches = MetricDescription(
        "rivulet_dispatches_total",
        .counter,
        "Dispatched events, arrays and lines by app, outcome, and whether they were on disk before the answer.",
        labels: ["app", "outcome", "durability"]
    )

    // MARK: - Streams

    static let streams = MetricDescription("rivulet_streams", .gauge, "Open streams by kind.", labels: ["kind"])
    static let streamsOpened = MetricDescription(
        "rivulet_streams_opened_total",
        .counter,
        "Opened streams by kind.",
        labels: ["kind"]
    )
    static let streamsClosed = MetricDescription(
        "rivulet_streams_closed_total",
        .counter,
        "Ended streams by kind and reason; the reason peer means that the client closed the connection.",
        labels: ["kind", "reason"]
    )
    static let streamsRefused = MetricDescription(
        "rivulet_streams_refused_total",
        .counter,
        "Refused streams, which got only a bye, by the reason of the bye.",
        labels: ["reason"]
    )
    static let streamStarts = MetricDescription(
        "rivulet_stream_starts_total",
        .counter,
        "Stream starts by way: fresh, resumed with one merged change or with all versions, or reset by reason.",
        labels: ["way"]
    )
    static let streamEvents = MetricDescription(
        "rivulet_stream_events_total",
        .counter,
        "Events written to streams, each counted once for each stream."
    )
    static let streamBytes = MetricDescription(
        "rivulet_stream_bytes_total",
        .counter,
        "Bytes of events and comments written to streams, with the framing of their chunks."
    )
    static let heartbeats = MetricDescription(
        "rivulet_stream_heartbeats_total",
        .counter,
        "Comments written to quiet streams."
    )
    static let streamsBehind = MetricDescription(
        "rivulet_streams_behind_total",
        .counter,
        "Times that a stream's unsent bytes exceeded the limit and its changes were merged."
    )

    // MARK: - Storage and sessions

    static let appends = MetricDescription(
        "rivulet_storage_appends_total",
        .counter,
        "Appends to sessions' logs by outcome.",
        labels: ["outcome"]
    )
    static let appendEntries = MetricDescription(
        "rivulet_storage_append_entries",
        .histogram(bounds: [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1_024]),
        "Versions in one append to a session's log."
    )
    static let appendSeconds = MetricDescription(
        "rivulet_storage_append_seconds",
        .histogram(
            bounds: [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
        ),
        "Time from an append to its answer, with its wait for the group commit."
    )
    static let sessionsToErase = MetricDescription(
        "rivulet_storage_sessions_to_erase",
        .gauge,
        "Deleted sessions whose text is still in the files of the data folder."
    )
    static let sessions = MetricDescription("rivulet_sessions_resident", .gauge, "Sessions in memory.")
    static let passivated = MetricDescription(
        "rivulet_sessions_passivated",
        .gauge,
        "Sessions that left memory while streams follow them."
    )
    static let sessionBytes = MetricDescription(
        "rivulet_sessions_bytes",
        .gauge,
        "Approximate memory of sessions, including passivated sessions and, without a disk, the logs."
    )
    static let evictions = MetricDescription(
        "rivulet_sessions_evicted_total",
        .counter,
        "Sessions that left memory because they were idle or memory was full, by kind.",
        labels: ["kind"]
    )

    // MARK: - Cluster

    static let clusterRole = MetricDescription(
        "rivulet_cluster_role",
        .gauge,
        "1 for the part that the node takes in its cluster, and 0 for the others.",
        labels: ["role"]
    )
    static let clusterTerm = MetricDescription(
        "rivulet_cluster_term",
        .gauge,
        "The claim of the partition's owner; each owner has a greater one."
    )
    static let clusterHead = MetricDescription(
        "rivulet_cluster_head",
        .gauge,
        "The position of the last message that is known to be in the partition's log."
    )
    static let clusterApplied = MetricDescription(
        "rivulet_cluster_applied",
        .gauge,
        "The position of the last message that the node has applied."
    )
    static let clusterLeaseLeft = MetricDescription(
        "rivulet_cluster_lease_left_seconds",
        .gauge,
        "Time for which the owner may still answer; 0 for any other node."
    )
    static let clusterForwarded = MetricDescription(
        "rivulet_cluster_forwarded_total",
        .counter,
        "Requests that needed another node, by outcome.",
        labels: ["outcome"]
    )
    static let clusterWaiting = MetricDescription(
        "rivulet_cluster_waiting",
        .gauge,
        "Requests that wait for an owner."
    )
    static let clusterMoved = MetricDescription(
        "rivulet_cluster_moved_total",
        .counter,
        "Requests of other nodes that were not taken, because the node is not the owner."
    )
    static let clusterBusLost = MetricDescription(
        "rivulet_cluster_bus_lost_total",
        .counter,
        "Interruptions of the bus in which messages may have been lost."
    )

    // MARK: - Loops

    static let turns = MetricDescription("rivulet_loop_turns_total", .counter, "Turns of all event loops.")
    static let longestTurn = MetricDescription(
        "rivulet_loop_longest_turn_seconds",
        .gauge,
        "The longest turn of any event loop since the last request for /metrics; exact to a millisecond or two."
    )

    // MARK: - Process

    static let cpu = MetricDescription(
        "process_cpu_seconds_total",
        .counter,
        "Total user and system CPU time spent in seconds."
    )
    static let residentMemory = MetricDescription(
        "process_resident_memory_bytes",
        .gauge,
        "Resident memory size in bytes."
    )
    static let virtualMemory = MetricDescription(
        "process_virtual_memory_bytes",
        .gauge,
        "Virtual memory size in bytes."
    )
    static let descriptors = MetricDescription("process_open_fds", .gauge, "Number of open file descriptors.")
    static let descriptorsMax = MetricDescription(
        "process_max_fds",
        .gauge,
        "Maximum number of open file descriptors."
    )
    static let startTime = MetricDescription(
        "process_start_time_seconds",
        .gauge,
        "Start time of the process since unix epoch in seconds."
    )

    /// All of them, in the order of the documentation.
    static let all = [
        buildInfo, connections, connectionsAccepted, connectionsRefused, requests, problems, requestsRefused,
        authentications, rateLimits, bodyBytes, dispatches, streams, streamsOpened, streamsClosed, streamsRefused,
        streamStarts,
        streamEvents,
        streamBytes, heartbeats,
        streamsBehind, appends, appendEntries, appendSeconds, sessionsToErase, sessions, passivated, sessionBytes,
        evictions, clusterRole, clusterTerm, clusterHead, clusterApplied, clusterLeaseLeft, clusterForwarded,
        clusterWaiting, clusterMoved, clusterBusLost, turns,
        longestTurn, cpu,
        residentMemory, virtualMemory, descriptors, descriptorsMax, startTime,
    ]
}

import RivuletHTTP

/// The node of a cluster that answers a request.
enum ClusterDestination: Equatable {
    /// The node that took the request, also one that takes no part in the cluster any more.
    case always
    /// The node that took the request.
    case here
    /// The node that has the stream; nil for a name without a node.
    case node(String?)
    /// The node that has the partition.
    case owner

    /// Decides about a request that passed the admission.
    init(of route: Route) {
        switch route {
        case .stream(let name): self = .node(name.node)
        default: self = route.resource.destination
        }
    }
}

extension Resource {
    /// The node that answers requests for the resource.
    ///
    /// The switch has no default, so a new resource needs a decision. Streams of changes are `here`, because the relay
    /// opens them on each node. Revocations are read at the owner too, so that a client reads what it has written.
    var destination: ClusterDestination {
        switch self {
        case .health, .readiness, .metrics, .cluster: .always
        case .openAPI, .problems, .problem, .file, .caller, .login, .tickets, .resourceMetadata, .apps, .app, .types:
            .here
        case .streams, .changes, .viewChanges, .storeEvents, .valueChanges: .here
        case .stream: .node(nil)
        case .sessions, .session, .state, .events, .reset, .restore, .fork, .views, .view: .owner
        case .store, .item, .operations, .value, .toggle, .secret: .owner
        case .revocations, .revocation: .owner
        }
    }
}

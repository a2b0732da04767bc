// Owns the answers to requests for which a node of a cluster cannot act.

import RivuletHTTP

extension Problem {
    /// 503: no node can take the request, and none has.
    static var ownerUnavailable: Problem {
        Problem(
            .ownerUnavailable,
            "no node of the cluster can answer now, because none has the data; nothing has changed, try again",
            fields: [HTTPField("Retry-After", "1")]
        )
    }

    /// 503: a node took the request, and its answer has not come.
    static var outcomeUnknown: Problem {
        Problem(
            .outcomeUnknown,
            "the node with the data took the request, and its answer has not come; the change may have taken effect. "
                + "Send the request again with the same Idempotency-Key, or read before you retry",
            fields: [HTTPField("Retry-After", "1")]
        )
    }

    /// 503: this node takes no part in the cluster any more.
    static var nodeHalted: Problem {
        Problem(.nodeHalted, "this node of the cluster has halted; send requests to another node. Nothing has changed")
    }
}

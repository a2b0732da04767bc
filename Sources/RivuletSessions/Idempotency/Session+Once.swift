// Owns dispatches that carry an idempotency key: a retry gets the first answer, and nothing happens twice.

import RivuletEngine

extension Session {
    /// Dispatches as `dispatch(_:reply:)` does, but once for all requests with the reserved key: a retry gets the first
    /// answer again.
    ///
    /// A dispatch that fails leaves no idempotency record, so that its retry is dispatched like a first request.
    package func dispatch(
        _ request: DispatchRequest,
        once reservation: IdempotencyReservation,
        reply: @escaping SessionReply<OnceAnswer>
    ) {
        recordUse()
        do throws(SessionError) {
            try machine.admit(bytes: request.body.count)
            try idempotency.reserve(reservation, of: key, underWayMax: environment.limits.engine.queuedDispatchesMax)
        } catch {
            return reply(.failure(error))
        }
        let body = machine.hold(bytes: request.body.count)
        let ticket = idempotency.takeTicket()
        findIdempotencyRecord(reservation) { [self] found in
            idempotency.fill(ticket) { [self] in
                machine.release(body)
                dispatch(request, reservation, found: found, reply)
            }
            // Storage may answer in any order. Requests to the session are carried out in the order in which they came.
            while let next = idempotency.popReady() { next() }
            // If the request was not dispatched, no other call updates the memory account after the release.
            account()
        }
    }

    /// Continues after storage was searched for the idempotency record.
    private func dispatch(
        _ request: DispatchRequest,
        _ reservation: IdempotencyReservation,
        found: Result<IdempotencyRecord?, SessionError>,
        _ reply: @escaping SessionReply<OnceAnswer>
    ) {
        // The key is free again before the answer goes out, because a client that gets the answer may repeat the
        // request at once.
        let finish: SessionReply<OnceAnswer> = { [weak self] answer in
            self?.idempotency.release(reservation.key)
            reply(answer)
        }
        switch found {
        case .failure(let error): finish(.failure(error))
        case .success(let kept?):
            guard reservation.isOf(kept) else { return finish(.failure(.keyReused(reservation.name))) }
            finish(.success(OnceAnswer(body: kept.body, isReplay: true, isDurable: true)))
        case .success(nil): dispatch(request, keeping: reservation, finish)
        }
    }

    /// Dispatches a request that was not dispatched before; its idempotency record is stored with its changes.
    private func dispatch(
        _ request: DispatchRequest,
        keeping reservation: IdempotencyReservation,
        _ finish: @escaping SessionReply<OnceAnswer>
    ) {
        // The client gets exactly the bytes that storage keeps.
        var body: [UInt8] = []
        let recorder = IdempotencyRecorder(commandID: reservation.name) { [environment] answer in
            body = reservation.render(answer)
            let time = environment.wallClock()
            return IdempotencyRecord(id: reservation.key, time: time, fingerprint: reservation.fingerprint, body: body)
        }
        dispatch(request, recorder: recorder) { result in
            finish(result.map { OnceAnswer(body: body, isReplay: false, isDurable: $0.isDurable) })
        }
    }

    // MARK: - Storage

    /// Finds the idempotency record if it is not too old; if there is none, makes sure that there is room for one.
    private func findIdempotencyRecord(
        _ reservation: IdempotencyReservation,
        _ found: @escaping SessionReply<IdempotencyRecord?>
    ) {
        guard isStored else { return found(.success(nil)) }
        let oldest = oldestKept
        ask {
            $0.answers.idempotencyRecord(key, epoch: standing.epoch, id: reservation.key, reply: $1)
        } then: { session, result in
            switch result {
            case .failure(let error): found(.failure(.storage(error)))
            case .success(let answer?) where answer.time >= oldest: found(.success(answer))
            case .success: session.makeRoom(found)
            }
        }
    }

    private func makeRoom(_ found: @escaping SessionReply<IdempotencyRecord?>) {
        let now = environment.wallClock()
        switch idempotency.room(now: now, limits: environment.limits) {
        case .free: found(.success(nil))
        case .full(let end):
            let seconds = (end - now) / 1_000 + 1
            found(.failure(.keysFull(key, seconds: Int(seconds))))
        case .unknown:
            ask {
                $0.answers.idempotencyRecords(key, epoch: standing.epoch, since: oldestKept, reply: $1)
            } then: { session, result in
                switch result {
                case .failure(let error): found(.failure(.storage(error)))
                case .success(let usage):
                    session.idempotency.learn(usage)
                    session.makeRoom(found)
                }
            }
        }
    }

    /// The earliest time of an idempotency record that is not too old, in milliseconds since 1970.
    var oldestKept: Int64 { environment.wallClock() - environment.idempotencyRecordMilliseconds }
}

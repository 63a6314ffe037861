/** The channel that a release notifies. */
export const RELEASE_CHANNEL = 'causeway_leader';

/** Extends the lease: epoch, holder, ms. Returns no row if another epoch or holder replaced these, or if the lease was released. */
export const RENEW = `UPDATE leader_lease SET expires_at = clock_timestamp() + $3 * interval '1 ms'
  WHERE epoch = $1 AND holder = $2 AND expires_at <> 'epoch' RETURNING epoch`;

/** Ends the lease if its epoch and holder are these, and notifies the candidates. */
export const RELEASE = `WITH released AS (UPDATE leader_lease SET expires_at = 'epoch' WHERE epoch = $1 AND holder = $2 RETURNING 1)
  SELECT pg_notify('${RELEASE_CHANNEL}', '') FROM released`;

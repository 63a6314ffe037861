import type { ProxyFacts, ReplicaSessions, StoredProxySession } from '@causeway/store';

/** A replica that has not reported for this time is gone, ms by the store's clock. */
const REPLICA_EXPIRY = 15_000;
/** The time for which the resources of a proxy without a certificate count as in use after it was last seen, ms. */
export const HELD_WITHOUT_CERTIFICATE = 24 * 3_600_000;
/** Maximum difference between the clock of a replica, by which certificates expire, and the store's clock, ms. */
const CLOCK_SLACK = 5 * 60_000;

/** A replica that serves or served proxies. */
export interface ProxyReplica extends Omit<ReplicaSessions, 'sessions' | 'now'> {
  readonly isLive: boolean;
}

/** A session of a proxy in the report of one replica. */
export interface SessionAtReplica {
  readonly replica: ProxyReplica;
  readonly session: StoredProxySession;
}

/** A proxy, merged from the reports of all replicas. */
export interface KnownProxy {
  readonly proxy: string;
  readonly connected: boolean;
  /** The replica that serves it, or served it last. */
  readonly instance: string;
  /** The revision of the log for facts without a revision of their own. */
  readonly revision: number;
  /** When a replica last saw it, ms since 1970 by the store's clock. */
  readonly lastSeen: number;
  /** When a live replica saw its last stream end, ms by the store's clock; absent while it is connected, and if no replica saw it. */
  readonly leftAt?: number;
  readonly facts: ProxyFacts;
}

/** Reports whether a replica that was read at `now` is live. */
export function isLiveReplica({ isEnd, seenAt, now }: Pick<ReplicaSessions, 'isEnd' | 'seenAt' | 'now'>): boolean {
  return !isEnd && now - seenAt <= REPLICA_EXPIRY;
}

/** Returns the session that represents a proxy: the newest connected one, else the one that was seen last. */
function standingSession(
  sessions: readonly [SessionAtReplica, ...SessionAtReplica[]],
): SessionAtReplica & { readonly connected: boolean } {
  const connected = sessions.filter(isConnected);
  const [first = sessions[0], ...others] = connected.length > 0 ? connected : sessions;
  const age = ({ session, ...at }: SessionAtReplica): number =>
    connected.length > 0 ? session.facts.since : getLastSeen({ session, ...at });
  const standing = others.reduce((a, b) => (age(b) > age(a) ? b : a), first);
  return { ...standing, connected: connected.length > 0 };
}

/** Returns the proxy of these sessions. */
export function knownProxy(sessions: readonly [SessionAtReplica, ...SessionAtReplica[]]): KnownProxy {
  const standing = standingSession(sessions);
  const { session, replica, connected } = standing;
  return {
    proxy: session.proxy,
    connected,
    facts: session.facts,
    instance: replica.instance,
    revision: replica.revision,
    lastSeen: getLastSeen(standing),
    ...(!connected && !session.connected && replica.isLive && { leftAt: session.changedAt }),
  };
}

/** The time in which a proxy reconnects after its stream ended, unless it is gone, ms. */
const BACK_WITHIN = 3_000;
/** The time in which a proxy reconnects after its control plane was away and another one serves, ms. */
const BACK_AFTER_RESTART = 120_000;

/**
 * Reports whether a proxy is gone: a live replica has seen it leave. If its replica is gone too, nothing is known of the proxy until a leader has
 * waited for it: after an outage a control plane concludes nothing. `storeNow`: ms by the store's clock; `ledFor`: the time for which the leader has
 * led, ms.
 */
export function isProxyGone(
  { connected, leftAt, lastSeen }: Pick<KnownProxy, 'connected' | 'leftAt' | 'lastSeen'>,
  { storeNow, ledFor }: { readonly storeNow: number; readonly ledFor: number },
): boolean {
  if (connected) return false;
  if (leftAt !== undefined) return storeNow - leftAt >= BACK_WITHIN;
  return ledFor >= BACK_AFTER_RESTART && storeNow - lastSeen >= BACK_AFTER_RESTART;
}

function isConnected({ replica, session }: SessionAtReplica): boolean {
  return session.connected && replica.isLive;
}

/** Returns when a replica last saw the proxy: now, when it left, or at the replica's last report. */
function getLastSeen({ replica, session }: SessionAtReplica): number {
  return session.connected ? replica.seenAt : session.changedAt;
}

/** Returns until when a proxy that is gone may still use its resources, ms by the store's clock. */
function heldUntil(at: SessionAtReplica): number {
  const { certificate } = at.session.facts;
  return certificate ? certificate.end + CLOCK_SLACK : getLastSeen(at) + HELD_WITHOUT_CERTIFICATE;
}

/** The maximum time until a stream is ended whose proxy disappeared without closing it, ms; until then it seems connected. */
const HALF_OPEN = 2 * 60_000;
/**
 * The time after which no resource that a vanished replica sent is in use any more, ms. Cut off from the store, it may still serve proxies, and may
 * have served some between two reports: it is assumed to end within a day, and its resources to be in use for another.
 */
const REPLICA_HELD = 2 * HELD_WITHOUT_CERTIFICATE;

/** Reports whether resources that a replica sent may still be in use although nothing is known of its proxies. */
export function mayBeInUse({ isLive, isEnd, seenAt }: ProxyReplica, now: number): boolean {
  return isLive || (!isEnd && seenAt + REPLICA_HELD > now);
}

/**
 * Returns the revision up to which every proxy of a zone applies all changes: connected proxies, and those gone for less than their certificate is
 * valid (24 h without one). A replica counts as a further proxy: proxies may have come and gone between two reports. Infinity if there is no proxy;
 * -1 if the resources of a proxy are unknown (docs/design.md §9, I11). `incarnation`: of the log; reports for another one are not comparable.
 */
export function ackWatermark(
  zone: { readonly replicas: Iterable<ProxyReplica>; readonly proxies: Iterable<readonly SessionAtReplica[]> },
  at: { readonly now: number; readonly incarnation: string },
): number {
  let watermark = Infinity;
  for (const replica of zone.replicas)
    if (mayBeInUse(replica, at.now))
      watermark = Math.min(watermark, replica.incarnation === at.incarnation ? replica.revision : -1);
  for (const sessions of zone.proxies)
    for (const { replica, session } of sessionsInUse(sessions, at.now))
      watermark = Math.min(
        watermark,
        replica.incarnation === at.incarnation ? (session.facts.applied ?? replica.revision) : -1,
      );
  return watermark;
}

/** The proxies and replicas that may still use resources from before a revision of the log: their number, and the first names. */
export interface WaitedFor {
  readonly count: number;
  readonly names: readonly string[];
}

/** Maximum number of names in a list. */
const MAX_NAMED = 5;

/** Returns the proxies that keep `ackWatermark` below a revision, and replicas that vanished. */
export function waitedFor(
  zone: Parameters<typeof ackWatermark>[0],
  at: Parameters<typeof ackWatermark>[1],
  revision: number,
): WaitedFor {
  const none: ProxyReplica[] = [];
  const isBehind = (part: Parameters<typeof ackWatermark>[0]): boolean => ackWatermark(part, at) < revision;
  const proxies = [...zone.proxies].flatMap((sessions) => {
    const [first] = sessions;
    return first && isBehind({ replicas: none, proxies: [sessions] }) ? [first.session.proxy] : [];
  });
  const replicas = [...zone.replicas].flatMap((replica) =>
    isBehind({ replicas: [replica], proxies: [] }) ? [`control plane ${replica.instance}`] : [],
  );
  const all = [...proxies.sort(), ...replicas.sort()];
  return { count: all.length, names: all.slice(0, MAX_NAMED) };
}

/**
 * Returns the sessions of a proxy that determine its resources: connected ones; recently ended ones, because another may only seem connected; and, if
 * no connected one has known resources, the latest ones.
 */
function sessionsInUse(sessions: readonly SessionAtReplica[], now: number): readonly SessionAtReplica[] {
  const settled = sessions.filter(({ session }) => session.facts.isSettled);
  const isServed = settled.some(isConnected);
  const isBack = sessions.some(isConnected);
  const latest = Math.max(...settled.map(getLastSeen));
  return sessions.filter((at) => {
    const seen = getLastSeen(at);
    if (isConnected(at) || seen + HALF_OPEN > now) return true;
    if (isServed) return false;
    if (!at.session.facts.isSettled) return heldUntil(at) > now;
    return seen + HALF_OPEN >= latest && (isBack || heldUntil(at) > now);
  });
}

/** Reports whether a session can be deleted. */
export function isSessionOver(at: SessionAtReplica, all: readonly SessionAtReplica[], now: number): boolean {
  if (isConnected(at) || sessionsInUse(all, now).includes(at)) return false;
  return heldUntil(at) < now || all.some(isConnected);
}

/** A proxy that needs authorities subscribes to this type. */
const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';

/**
 * Returns the authorities that a connected proxy has accepted, by mesh: its own mesh, or for an egress each mesh that it serves. Empty for a proxy
 * that requests none, such as an ingress, which verifies no certificate.
 */
export function getAcceptedTrust({ connected, facts }: KnownProxy): ReadonlyMap<string, readonly string[]> {
  const isAsked = facts.types.some(({ type, subscribed }) => type === SECRETS && subscribed > 0);
  if (!connected || !isAsked) return new Map();
  if (facts.kind === 'egress') return new Map(Object.entries(facts.authoritiesIn ?? {}));
  return new Map([[facts.owner?.mesh ?? '', facts.authorities ?? []]]);
}

/**
 * Returns the connected proxies of all replicas that have not accepted a trust with this authority; sorted. Proxies that request no trust need none.
 * `isConcerned` selects the meshes whose trust must contain it; all without it.
 */
export function proxiesWithoutAuthority(
  proxies: Iterable<KnownProxy>,
  authority: string,
  isConcerned: (mesh: string) => boolean = () => true,
): readonly string[] {
  const missing: string[] = [];
  for (const known of proxies) {
    const trust = [...getAcceptedTrust(known)].filter(([mesh]) => isConcerned(mesh));
    if (trust.some(([, accepted]) => !accepted.includes(authority))) missing.push(known.proxy);
  }
  return missing.sort();
}

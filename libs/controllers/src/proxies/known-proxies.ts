import type { ProxyFacts, ReplicaSessions, StoredProxySession } from '@causeway/store';

/** A replica that has not reported for so long is gone, ms by the store's clock. */
const REPLICA_EXPIRY = 15_000;
/** Time for which the resources of a proxy without a certificate count as in use after it was last seen, ms. */
export const HELD_WITHOUT_CERTIFICATE = 24 * 3_600_000;
/** Between the clock of a replica, which certificates end by, and that of the store, ms. */
const CLOCK_SLACK = 5 * 60_000;

/** A replica that serves or served proxies. */
export interface ProxyReplica extends Omit<ReplicaSessions, 'sessions' | 'now'> {
  readonly isLive: boolean;
}

/** A session of a proxy as one replica stored it. */
export interface SessionAtReplica {
  readonly replica: ProxyReplica;
  readonly session: StoredProxySession;
}

/** A proxy as all replicas together know it. */
export interface KnownProxy {
  readonly proxy: string;
  readonly connected: boolean;
  /** The replica that serves it, or served it last. */
  readonly instance: string;
  /** Up to which revision of the log facts without a number of their own hold. */
  readonly revision: number;
  /** When a replica saw it last, ms since 1970 by the store's clock. */
  readonly lastSeen: number;
  /** When a replica that lives saw its last stream end, ms by the store's clock; absent while it is connected and where none saw it. */
  readonly leftAt?: number;
  readonly facts: ProxyFacts;
}

/** Whether a replica that was read at `now` lives. */
export function isLiveReplica({ isEnd, seenAt, now }: Pick<ReplicaSessions, 'isEnd' | 'seenAt' | 'now'>): boolean {
  return !isEnd && now - seenAt <= REPLICA_EXPIRY;
}

/** Returns the session that stands for a proxy: of the connected ones the newest, else the one that was seen last. */
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

/** A proxy comes back within so long after its stream has ended, unless it is gone, ms. */
const BACK_WITHIN = 3_000;
/** One whose control plane went away comes back within so long after another one serves, ms. */
const BACK_AFTER_RESTART = 120_000;

/**
 * Whether a proxy is gone: a replica that lives has seen it leave. Where its replica is gone too, nothing is known of the proxy until
 * a leader has waited for it: a control plane that was away concludes nothing. `storeNow`: ms by the store's clock; `ledFor`: since
 * when the leader leads, ms.
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

/** Returns when a replica saw the proxy last: now, or when it left, or when the replica reported last. */
function getLastSeen({ replica, session }: SessionAtReplica): number {
  return session.connected ? replica.seenAt : session.changedAt;
}

/** Returns until when a proxy that is gone may still use what it held, ms by the store's clock. */
function heldUntil(at: SessionAtReplica): number {
  const { certificate } = at.session.facts;
  return certificate ? certificate.end + CLOCK_SLACK : getLastSeen(at) + HELD_WITHOUT_CERTIFICATE;
}

/** A stream whose proxy is gone without a word is ended after so long at the latest, ms; until then it seems to be connected. */
const HALF_OPEN = 2 * 60_000;
/**
 * A replica that is gone without a word may still serve proxies, cut off from the store, and may have served some between two
 * reports. It is believed to end within a day, and the resources that it sent to be in use for another, ms.
 */
const REPLICA_HELD = 2 * HELD_WITHOUT_CERTIFICATE;

/** Whether resources that a replica sent to its proxies may still be in use though nothing is known of the proxies. */
export function mayBeInUse({ isLive, isEnd, seenAt }: ProxyReplica, now: number): boolean {
  return isLive || (!isEnd && seenAt + REPLICA_HELD > now);
}

/**
 * Returns the revision up to which every proxy of a zone applies all changes: connected, or gone for less than its certificate lives (24 h
 * without one). A replica counts as a proxy of its own: some may have come and gone between two reports. Infinity where there is
 * nobody; -1 where what somebody holds is unknown (docs/design.md §9, I11). `incarnation`: that of the log; what was reported of
 * another one does not compare.
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

/** The proxies and replicas that may still use resources which were changed up to a revision of the log: how many, and the first by name. */
export interface WaitedFor {
  readonly count: number;
  readonly names: readonly string[];
}

/** Names in a list. */
const MAX_NAMED = 5;

/** Returns the proxies because of which `ackWatermark` is below a revision, and replicas that are gone without a word. */
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
 * Returns the sessions of a proxy that may show what it holds: those that are connected; those that ended lately, for another one may only
 * seem to be connected; and, where none is connected that is known to hold what it was sent, those that were there last.
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

/** Whether a session can be forgotten. */
export function isSessionOver(at: SessionAtReplica, all: readonly SessionAtReplica[], now: number): boolean {
  if (isConnected(at) || sessionsInUse(all, now).includes(at)) return false;
  return heldUntil(at) < now || all.some(isConnected);
}

/** A proxy asks for this type of resources where it needs authorities. */
const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';

/**
 * Returns the authorities that a connected proxy has accepted of the trust that it needs, by mesh: of its own, an egress of each that leaves through it. Empty
 * for a proxy that asks for none, as ingresses do: they read no certificate.
 */
export function getAcceptedTrust({ connected, facts }: KnownProxy): ReadonlyMap<string, readonly string[]> {
  const isAsked = facts.types.some(({ type, subscribed }) => type === SECRETS && subscribed > 0);
  if (!connected || !isAsked) return new Map();
  if (facts.kind === 'egress') return new Map(Object.entries(facts.authoritiesIn ?? {}));
  return new Map([[facts.owner?.mesh ?? '', facts.authorities ?? []]]);
}

/**
 * Returns the connected proxies, of all replicas, that have not accepted a trust with this authority; sorted. Proxies that ask for no trust
 * need none. `isConcerned` says of which meshes the trust is to hold it; of all without it.
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

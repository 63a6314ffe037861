import { type Violation, printableText } from '@causeway/resources';
import type { ProxyFacts, ProxyFault, ProxyTypeFacts } from '@causeway/store';
import { parseEgressSecret, TRUST_SECRET } from '@causeway/xds-translation';
import { type ProxyStatus, type ProxyTypeStatus, RESOURCE_TYPES } from '@causeway/xds-server';

/** Stream of a proxy, with the status of the proxy's certificate. */
export interface ObservedStream extends ProxyStatus {
  readonly certificate?: { readonly uri?: string; readonly notAfter?: number };
}

/** Revisions against which streams are observed. */
export interface ObservationFrame {
  /** Revision of the source; `shift`: its lead over the revision of the log. */
  readonly revision: number;
  readonly shift: number;
  /** Returns the authorities in a trust secret of this version. */
  readonly findAuthorities: (version: string) => readonly string[] | undefined;
}

/** State of a proxy at one moment, from all its streams at this replica. */
export interface ProxyObservation {
  readonly facts: Omit<ProxyFacts, 'isSettled' | 'applied'>;
  /** Revision of the log up to which it applies all changes, except secrets; -1: unknown. */
  readonly applied: number;
  /** Its state changes only with an event of one of its streams; it applies everything sent until then. */
  readonly isAtRest: boolean;
  /** Time at which its newest stream began. */
  readonly newest: number;
}

/** Maximum number of reported faults of a proxy. */
const MAX_FAULTS = 20;
const MAX_REASON_LENGTH = 500;

/** Joins the streams of one proxy. */
export function observeProxy(
  streams: readonly [ObservedStream, ...ObservedStream[]],
  frame: ObservationFrame,
): ProxyObservation {
  const latest = streams.reduce((a, b) => (b.since > a.since ? b : a));
  const { owner, tcpPassthroughReason: bytesOnly, node, address, userAgent, form, certificate } = latest;
  const types = [...new Set(streams.flatMap((stream) => stream.types.map(({ type }) => type)))].sort();
  const statuses = streams.flatMap((stream) => stream.types);
  const traffic = statuses.filter(({ type }) => type !== RESOURCE_TYPES.secret);
  const applied = traffic.length === 0 ? -1 : Math.min(...traffic.map(({ appliedRevision }) => appliedRevision));
  const kind = getKind(latest);
  const { notAfter: end, uri } = certificate ?? {};
  return {
    facts: {
      kind,
      ...(owner && { owner }),
      ...(bytesOnly !== undefined && { bytesOnly }),
      node,
      address,
      userAgent,
      form,
      since: Math.min(...streams.map(({ since }) => since)),
      streams: streams.length,
      types: types.map((type) => typeFacts(type, statuses, frame)),
      ...acceptedTrust(kind, collectTrust(streams, frame)),
      ...(end !== undefined && { certificate: { end, ...(uri !== undefined && { uri }) } }),
      rejected: faults(statuses.flatMap(toFaults)),
      refused: faults(streams.flatMap(({ refused }) => refused.map(refusedFault))),
    },
    applied: toLogRevision(applied, frame),
    // Certificates of a zone proxy change independently of its streams.
    isAtRest: kind === 'dataplane' && statuses.every((type) => type.isAtRest),
    newest: latest.since,
  };
}

function getKind({ owner }: ObservedStream): ProxyFacts['kind'] {
  if (owner?.kind === 'ZoneIngress') return 'ingress';
  return owner?.kind === 'ZoneEgress' ? 'egress' : 'dataplane';
}

function typeFacts(type: string, statuses: readonly ProxyTypeStatus[], frame: ObservationFrame): ProxyTypeFacts {
  const own = statuses.filter((status) => status.type === type);
  const sum = (count: (status: ProxyTypeStatus) => number): number => own.reduce((all, each) => all + count(each), 0);
  const acked = Math.min(...own.map(({ ackedRevision }) => ackedRevision));
  return {
    type,
    subscribed: sum((each) => each.subscribed),
    held: sum((each) => each.held),
    ...(acked < frame.revision && { acked: toLogRevision(acked, frame) }),
    responses: {
      sent: sum(({ responses }) => responses.sent),
      acked: sum(({ responses }) => responses.acked),
      rejected: sum(({ responses }) => responses.rejected),
    },
  };
}

/** Authorities that a stream accepted, by secret name; undefined for a version that was not served lately. */
type TrustOfStream = ReadonlyMap<string, readonly string[] | undefined>;

function collectTrust(
  streams: readonly ObservedStream[],
  { findAuthorities }: ObservationFrame,
): readonly TrustOfStream[] {
  return streams.flatMap(({ types }) => {
    const secrets = types.find(({ type }) => type === RESOURCE_TYPES.secret);
    if (!secrets) return [];
    return [new Map(Object.entries(secrets.versions ?? {}).map(([name, version]) => [name, findAuthorities(version)]))];
  });
}

/** Returns the authorities that all streams of a proxy have accepted. */
function acceptedTrust(
  kind: ProxyFacts['kind'],
  streams: readonly TrustOfStream[],
): Pick<ProxyFacts, 'authorities' | 'authoritiesIn'> {
  if (kind !== 'egress') {
    const authorities = inAll(streams.map((trust) => trust.get(TRUST_SECRET)));
    return authorities ? { authorities } : {};
  }
  const names = new Set(streams.flatMap((trust) => [...trust.keys()]));
  const byMesh = [...names].sort().flatMap((name) => {
    const asked = parseEgressSecret(name);
    if (asked?.type !== TRUST_SECRET) return [];
    const sets = streams.filter((trust) => trust.has(name)).map((trust) => trust.get(name));
    return [[asked.mesh, inAll(sets) ?? []] as const];
  });
  return byMesh.length === 0 ? {} : { authoritiesIn: Object.fromEntries(byMesh) };
}

function inAll(sets: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const [first, ...others] = sets;
  if (!first || others.includes(undefined)) return undefined;
  return first.filter((id) => others.every((set) => set?.includes(id)));
}

function toFaults({ type, rejected }: ProxyTypeStatus): readonly ProxyFault[] {
  return rejected.map(({ name, version, text, at }) => ({
    type,
    name,
    version,
    reason: printableText(text, MAX_REASON_LENGTH),
    at,
  }));
}

function refusedFault({ type, name, violations }: ProxyStatus['refused'][number]): ProxyFault {
  const reason = violations.map(({ field, reason: why }: Violation) => `${field}: ${why}`).join('; ');
  return { type, name, reason: printableText(reason, MAX_REASON_LENGTH) };
}

function faults(found: readonly ProxyFault[]): readonly ProxyFault[] {
  const byName = new Map(found.map((fault) => [`${fault.type} ${fault.name}`, fault]));
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_FAULTS)
    .map(([, fault]) => fault);
}

/** Converts a revision of the source to one of the log. */
function toLogRevision(revision: number, { shift }: ObservationFrame): number {
  return Math.max(-1, revision - shift);
}

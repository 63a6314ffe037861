import { globalIdentity, Forbidden, type StorePoint, computedLabels, type Registry } from '@causeway/resources';
import type { HandshakeRequest, HandshakeResponse } from '@causeway/proto-gen';
import type { SessionOpening, SessionRequest, ResourceStore } from '@causeway/store';
import { PeerState, type ResumePoint } from '../session/peer-state';
import { judgeClaimedPoints, ResumePointSigner, type JudgedPoints } from '../session/resume-points';
import { sharedExtensions } from '../wire/dialect';
import type { ZoneHeaders } from '../wire/headers';
import type { AttemptLimits } from './connection-limits';
import { callerOf } from './zone-authenticator';
import type { DoubtfulClaims, RefusedStores } from './zones/zone-incidents';
import { checkHandshake, checkHeaders, LARGEST_EPOCH } from './handshake-rules';
import type { KumaGate } from './kuma-gate';
import type { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './global-sync-options';
import type { Quarantines } from './zones/zone-decisions';

/** A zone that was let in, for one stream. */
export interface AcceptedStream {
  readonly zone: string;
  readonly session: number;
  readonly extensions: readonly string[];
  /** Whether it shook hands; else it is plain Kuma. */
  readonly causeway: boolean;
  /** Version of the zone's control plane. */
  readonly version: string;
  /** The zone's replica; empty where it is plain Kuma. */
  readonly instance: string;
  /** What the zone said in its handshake with this replica that it holds. */
  readonly points: ReadonlyMap<string, ResumePoint>;
}

const NO_POINTS: ReadonlyMap<string, ResumePoint> = new Map();

/** What a handshake left for the streams of its session. */
interface CompletedHandshake {
  readonly session: number;
  readonly points: ReadonlyMap<string, ResumePoint>;
}

/** What a door works with besides the store. */
export interface HandshakeHandlerParts {
  readonly refused: RefusedStores;
  readonly doubts: DoubtfulClaims;
  readonly gate: KumaGate;
  readonly quarantines: Quarantines;
  readonly limits: AttemptLimits;
}

/** Lets zones in: authenticates them, gives them a session, makes them known. */
export class HandshakeHandler {
  private readonly completed = new Map<string, CompletedHandshake>();

  constructor(
    private readonly options: GlobalSyncOptions,
    private readonly live: LiveSessions,
    private readonly features: readonly string[],
    private readonly parts: HandshakeHandlerParts,
  ) {}

  /** `address` is empty where the transport has none. Throws Invalid, Forbidden, Unavailable. */
  async handshake(request: HandshakeRequest, headers: ZoneHeaders, address = ''): Promise<HandshakeResponse> {
    const { options, parts } = this;
    parts.limits.countCall(address);
    checkHeaders(headers);
    checkHandshake(request, options.registry.kinds.length);
    if (headers.zone !== request.zone) {
      throw new Forbidden(`client-id is "${headers.zone}" in a handshake of zone "${request.zone}"`);
    }
    await this.authenticate(headers, address);
    const { zone, storeId, incarnation, leaderEpoch: epoch, instance } = request;
    parts.limits.countHandshake(zone);
    const opening = await this.open({ zone, storeId, incarnation, epoch, instance });
    if (opening.type === 'other-store') await parts.refused.note(zone, storeId, instance);
    const session = opened(request, opening);
    await ensureZone(options.store, options.registry, zone);
    this.live.closeOlder(zone, session, 'both');
    const { points, doubtful, head } = await this.judge(request);
    this.completed.set(zone, { session, points });
    if (doubtful) {
      const detail = `holds ${doubtful.kind} at revision ${doubtful.revision} of this global, which it never issued; it gets the whole state`;
      await parts.doubts.note(zone, { claim: 'revision', detail, instance });
    } else await parts.doubts.clear(zone);
    const book = await PeerState.read(options.store, zone, parts.quarantines.cutsOf(zone));
    const resumePoints = [...book.resumablePoints()]
      .filter(([kind]) => options.registry.kind(kind) !== undefined)
      .map(([kind, point]) => ({ kind, mac: '', ...point }));
    const { instance: ours, version } = this.options;
    this.options.logger.info('zone opened a session', { zone, session, instance });
    const features = [...sharedExtensions(this.features, request.features)];
    return {
      session,
      features,
      incarnation: head.incarnation,
      revision: head.revision,
      instance: ours,
      version,
      resumePoints,
    };
  }

  /** The caller of one stream; a plain Kuma zone gets a session for it. Throws Invalid, Forbidden, Unavailable. */
  async acceptStream(headers: ZoneHeaders, direction: 'up' | 'down', address = ''): Promise<AcceptedStream> {
    const { zone } = headers;
    this.parts.limits.countCall(address);
    if (zone === '') throw new Forbidden('"client-id" is not present in metadata');
    checkHeaders(headers);
    await this.authenticate(headers, address);
    this.parts.limits.countStream(zone);
    if (headers.session === undefined) return this.acceptKumaStream(headers, direction);
    const standing = await this.options.sessions.session(zone);
    if (standing?.[direction] !== headers.session) {
      throw new Forbidden(
        `session ${headers.session} of zone ${zone} was replaced by ${standing?.[direction] ?? 'none'}`,
      );
    }
    const extensions = sharedExtensions(this.features, headers.features);
    const greeted = this.completed.get(zone);
    // Another replica shook hands: the zone gets whole states here.
    const points = greeted?.session === headers.session ? greeted.points : NO_POINTS;
    const { session, version } = headers;
    return { zone, session, extensions, causeway: true, version, instance: standing.instance, points };
  }

  /** A zone that holds what this store issued and has not shows that something was lost: a new life begins. */
  private async judge({ zone, resumePoints }: HandshakeRequest): Promise<JudgedPoints & { readonly head: StorePoint }> {
    const { store, registry, maintenance: upkeep, logger } = this.options;
    const [head, signer] = await Promise.all([store.head(), ResumePointSigner.read(store, zone)]);
    const claimed = resumePoints
      .filter(({ kind }) => registry.kind(kind) !== undefined)
      .map(({ kind, ...point }) => [kind, point] as const);
    const judged = judgeClaimedPoints(claimed, head, signer);
    if (!judged.isSetBack || !upkeep) return { ...judged, head };
    logger.error('a zone holds newer state than this store: it was set back, and begins a new life', { zone });
    return { ...judged, head: await upkeep.newIncarnation() };
  }

  /** An epoch that no count of leader changes reaches opens nothing. */
  private async open(request: SessionRequest): Promise<SessionOpening> {
    const { zone, epoch, instance } = request;
    const standing = epoch > LARGEST_EPOCH ? await this.options.sessions.session(zone) : undefined;
    const opening: SessionOpening =
      epoch > LARGEST_EPOCH
        ? { type: 'doubtful', epoch: standing?.epoch ?? 0 }
        : await this.options.sessions.open(request);
    if (opening.type === 'doubtful') {
      const detail = `claims the leader epoch ${epoch}, far above the last one, ${opening.epoch}; its sessions are refused`;
      await this.parts.doubts.note(zone, { claim: 'epoch', detail, instance });
    }
    return opening;
  }

  private async acceptKumaStream({ zone, version }: ZoneHeaders, direction: 'up' | 'down'): Promise<AcceptedStream> {
    const request = { zone, storeId: '', incarnation: '', epoch: 0, instance: '', direction };
    const session = opened(request, await this.options.sessions.open(request));
    await ensureZone(this.options.store, this.options.registry, zone);
    this.options.logger.info('a zone of plain Kuma opened a stream', { zone, session, direction, version });
    return { zone, session, extensions: [], causeway: false, version, instance: '', points: NO_POINTS };
  }

  private async authenticate(headers: ZoneHeaders, address: string): Promise<void> {
    try {
      await this.options.auth.authenticate(callerOf(headers));
    } catch (error) {
      this.parts.limits.countUnauthenticated(address);
      throw error;
    }
    this.parts.quarantines.check(headers.zone);
    await this.parts.gate.check();
  }
}

function opened(
  { zone, storeId, leaderEpoch = 0 }: Pick<SessionRequest, 'zone' | 'storeId'> & { readonly leaderEpoch?: number },
  opening: SessionOpening,
): number {
  switch (opening.type) {
    case 'opened':
      return opening.session;
    case 'older':
      throw new Forbidden(`zone ${zone} has a leader of the later epoch ${opening.epoch}`);
    case 'doubtful':
      throw new Forbidden(
        `zone ${zone} claims the leader epoch ${leaderEpoch}, far above the last one, ${opening.epoch}; where that is so: causeway zones reset-epoch ${zone}`,
      );
    case 'other-store':
      throw new Forbidden(
        `the name ${zone} belongs to the store ${opening.boundTo}, not to ${storeId}; where the zone was installed anew: causeway zones adopt ${zone} ${storeId}`,
      );
  }
}

/** Writes the Zone of a name that has none: a zone is made known by its first session (design.md §1 table). */
export async function ensureZone(store: ResourceStore, registry: Registry, zone: string): Promise<void> {
  const kind = registry.kind('Zone');
  if (!kind) return;
  const id = globalIdentity(kind.name, zone);
  if (await store.get(id)) return;
  const labels = computedLabels(kind, id, { role: 'global' });
  await store.write({ changes: [{ type: 'put', id, expect: 'absent', labels, spec: {} }], onRefusal: 'skip' });
}

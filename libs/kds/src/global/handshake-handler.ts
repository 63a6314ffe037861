import type { SourceForm } from '@causeway/kinds';
import { globalIdentity, Forbidden, type StorePoint, computedLabels, type Registry } from '@causeway/resources';
import type { HandshakeRequest, HandshakeResponse, RenewTokenRequest, RenewTokenResponse } from '@causeway/proto-gen';
import type { SessionOpening, SessionRequest, ResourceStore } from '@causeway/store';
import { PeerState, type ResumePoint } from '../session/peer-state';
import { evaluateClaimedPoints, ResumePointSigner, type EvaluatedPoints } from '../session/resume-points';
import type { Direction } from '../session/session';
import { sharedExtensions } from '../wire/dialect';
import type { ZoneHeaders } from '../wire/headers';
import { findZoneSourceForm } from '../wire/kuma-version';
import type { AttemptLimits } from './attempt-limits';
import { toZoneCaller } from '../auth/zone-authenticator';
import type { WholeStates } from './zones/whole-states';
import type { DoubtfulClaims, RefusedStores } from './zones/zone-incidents';
import { checkHandshake, checkHeaders, checkRenewal, MAX_EPOCH } from './handshake-rules';
import type { KumaGate } from './kuma-gate';
import type { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './global-sync-options';
import type { Quarantines } from './zones/zone-decisions';

/** An authenticated stream of a zone and its session. */
export interface AcceptedStream {
  readonly zone: string;
  readonly session: number;
  readonly extensions: readonly string[];
  /** Whether the zone has done a handshake; one that has not is plain Kuma. */
  readonly causeway: boolean;
  /** The form in which a zone without cw-sources reads certificate sources. */
  readonly sources: SourceForm;
  /** Version of the zone's control plane. */
  readonly version: string;
  /** The zone's replica; empty for plain Kuma. */
  readonly instance: string;
  /** The resume points of this store that the zone presented in its handshake with this replica. */
  readonly resumePoints: ReadonlyMap<string, ResumePoint>;
}

const NO_POINTS: ReadonlyMap<string, ResumePoint> = new Map();

/** Result of a handshake, kept for the streams of its session. */
interface CompletedHandshake {
  readonly session: number;
  readonly points: ReadonlyMap<string, ResumePoint>;
}

/** Dependencies of handshakes beside the options. */
export interface HandshakeHandlerParts {
  readonly live: LiveSessions;
  /** Extensions that this global offers. */
  readonly features: readonly string[];
  readonly refused: RefusedStores;
  readonly doubts: DoubtfulClaims;
  readonly gate: KumaGate;
  readonly quarantines: Quarantines;
  readonly limits: AttemptLimits;
  readonly wholeStates: WholeStates;
}

/** Authenticates zones, opens their sessions, and creates the Zone of a zone that connects for the first time. */
export class HandshakeHandler {
  private readonly completed = new Map<string, CompletedHandshake>();

  constructor(
    private readonly options: GlobalSyncOptions,
    private readonly parts: HandshakeHandlerParts,
  ) {}

  /** Opens a session. `address` is empty if the transport has none. Throws Invalid, Forbidden, Unavailable. */
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
    const opening = await this.openSession({ zone, storeId, incarnation, epoch, instance });
    if (opening.type === 'other-store') await parts.refused.record(zone, storeId, instance);
    const session = requireSession(request, opening);
    await ensureZone(options.store, options.registry, zone);
    parts.live.closeOlder(zone, session, 'both');
    const { points, doubtful, head } = await this.evaluatePoints(request);
    this.completed.set(zone, { session, points });
    if (doubtful) {
      const detail = `holds ${doubtful.kind} at revision ${doubtful.revision} of this global, which it never issued; it gets the whole state`;
      await parts.doubts.record(zone, { claim: 'revision', detail, instance });
    } else await parts.doubts.clear(zone);
    const peerState = await PeerState.read(options.store, zone, parts.quarantines.getDigests(zone));
    const resumePoints = [...peerState.resumablePoints()]
      .filter(([kind]) => options.registry.kind(kind) !== undefined)
      .map(([kind, point]) => ({ kind, mac: '', ...point }));
    const { instance: ours, version } = this.options;
    this.options.logger.info('zone opened a session', { zone, session, instance });
    const features = [...sharedExtensions(this.parts.features, request.features)];
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

  /** Issues the successor of the token of a zone that has the current session. Throws Invalid, Forbidden, Conflict, Unavailable. */
  async renewToken(request: RenewTokenRequest, headers: ZoneHeaders, address = ''): Promise<RenewTokenResponse> {
    const { zone, storeId, secret, instance } = request;
    this.parts.limits.countCall(address);
    checkHeaders(headers);
    checkRenewal(request);
    if (headers.zone !== zone) throw new Forbidden(`client-id is "${headers.zone}" in a renewal of zone "${zone}"`);
    await this.authenticate(headers, address);
    this.parts.limits.countHandshake(zone);
    const { auth, sessions } = this.options;
    const { token } = headers;
    if (!auth.renew || token === undefined) throw new Forbidden(`zone "${zone}" shows no zone token`);
    const standing = await sessions.session(zone);
    if (!standing || standing.storeId !== storeId || standing.up !== headers.session)
      throw new Forbidden(`zone ${zone} has another session: its token is renewed in the current one`);
    return { token: (await auth.renew({ zone, storeId, token, secret, instance })).token };
  }

  /** Authenticates a stream; a plain Kuma zone gets a session for it. Throws Invalid, Forbidden, Unavailable. */
  async acceptStream(headers: ZoneHeaders, direction: Direction, address = ''): Promise<AcceptedStream> {
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
    const extensions = sharedExtensions(this.parts.features, headers.features);
    const completed = this.completed.get(zone);
    // A zone whose handshake was with another replica gets full states.
    const resumePoints = completed?.session === headers.session ? completed.points : NO_POINTS;
    const { session, version } = headers;
    const { instance } = standing;
    return { zone, session, extensions, causeway: true, sources: 'untyped', version, instance, resumePoints };
  }

  /**
   * Evaluates the presented resume points; one that this store issued and lacks proves a restore: a new incarnation
   * begins.
   */
  private async evaluatePoints({
    zone,
    resumePoints,
  }: HandshakeRequest): Promise<EvaluatedPoints & { readonly head: StorePoint }> {
    const { store, registry, maintenance, logger } = this.options;
    const [head, signer] = await Promise.all([store.head(), ResumePointSigner.read(store, zone)]);
    const claimed = resumePoints
      .filter(({ kind }) => registry.kind(kind) !== undefined)
      .map(({ kind, ...point }) => [kind, point] as const);
    const evaluated = evaluateClaimedPoints(claimed, head, signer);
    if (!evaluated.isSetBack || !maintenance) return { ...evaluated, head };
    logger.error(
      'a zone holds newer state than this store: it was restored from a backup, and begins a new incarnation',
      { zone },
    );
    return { ...evaluated, head: await maintenance.newIncarnation() };
  }

  /** Opens the session; refuses an epoch too large to be a real number of leader changes. */
  private async openSession(request: SessionRequest): Promise<SessionOpening> {
    const { zone, epoch, instance } = request;
    await this.parts.wholeStates.beforeNext(zone);
    const standing = epoch > MAX_EPOCH ? await this.options.sessions.session(zone) : undefined;
    const opening: SessionOpening =
      epoch > MAX_EPOCH ? { type: 'doubtful', epoch: standing?.epoch ?? 0 } : await this.options.sessions.open(request);
    if (opening.type === 'doubtful') {
      const detail = `claims the leader epoch ${epoch}, far above the last one, ${opening.epoch}; its sessions are refused`;
      await this.parts.doubts.record(zone, { claim: 'epoch', detail, instance });
    }
    return opening;
  }

  private async acceptKumaStream(headers: ZoneHeaders, direction: Direction): Promise<AcceptedStream> {
    const { zone, version } = headers;
    const sources = findZoneSourceForm(headers);
    const request = { zone, storeId: '', incarnation: '', epoch: 0, instance: '', direction };
    await this.parts.wholeStates.beforeNext(zone);
    const session = requireSession(request, await this.options.sessions.open(request));
    await ensureZone(this.options.store, this.options.registry, zone);
    this.options.logger.info('a zone of plain Kuma opened a stream', { zone, session, direction, version });
    return { zone, session, extensions: [], causeway: false, sources, version, instance: '', resumePoints: NO_POINTS };
  }

  private async authenticate(headers: ZoneHeaders, address: string): Promise<void> {
    try {
      await this.options.auth.authenticate(toZoneCaller(headers));
    } catch (error) {
      this.parts.limits.countUnauthenticated(address);
      throw error;
    }
    this.parts.quarantines.check(headers.zone);
    await this.parts.gate.check();
  }
}

/** Returns the opened session. Throws Forbidden with the command that the operator can run. */
function requireSession(
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

/** Creates the Zone if it does not exist: the first session of a zone creates it (docs/design.md §1). */
async function ensureZone(store: ResourceStore, registry: Registry, zone: string): Promise<void> {
  const kind = registry.kind('Zone');
  if (!kind) return;
  const id = globalIdentity(kind.name, zone);
  if (await store.get(id)) return;
  const labels = computedLabels(kind, id, { role: 'global' });
  await store.write({ changes: [{ type: 'put', id, expect: 'absent', labels, spec: {} }], onRefusal: 'skip' });
}

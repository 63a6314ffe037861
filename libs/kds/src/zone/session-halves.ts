import { randomUUID } from 'node:crypto';
import { identityKey, type ControlPlane, type Resource } from '@causeway/resources';
import { followIndex } from '@causeway/store';
import { isSentUp, mayHaveBeenSentUp, type LastSent } from '@causeway/sync';
import { findClusterId, CONFIG_KIND, KumaIncarnation } from '../session/kuma-incarnation';
import { isInsightKind } from '../session/proxy-insights';
import type { InboundChannel } from '../session/inbound/inbound-capacity';
import { endOnStoreFailure } from '../session/end-unstored';
import { InboundHalf, type InboundHalfOptions } from '../session/inbound/inbound-half';
import { OutboundHalf } from '../session/outbound/outbound-half';
import { toOutboundItem, PeerIndexView, type VisibilityRules } from '../session/outbound/peer-index-view';
import type { PeerState, ResumePoint } from '../session/peer-state';
import type { PeerStream } from '../session/peer-stream';
import type { ResumePointSigner } from '../session/resume-points';
import type { Session } from '../session/session';
import { findSyncedKind } from '../session/synced-kinds';
import { computeDialect, Extension, sourcesView, type Dialect } from '../wire/dialect';
import { findGlobalSourceForm } from '../wire/kuma-version';
import type { IncomingResponse } from '../wire/response';
import { ResourceEncoder } from '../wire/resource-encoder';
import { InsightView } from './insight-view';
import { CountedOrders } from './counted-orders';
import { reportFirstState } from './first-state';
import type { ZoneSyncOptions } from './zone-sync-options';
import { DEFAULT_ABSENCE_HOLD } from '../session/sync-options';

/** Parts that both halves of a zone's session share. */
export interface ZoneSessionParts {
  readonly options: ZoneSyncOptions;
  readonly session: Session;
  /** Stored state of the global as a peer. */
  readonly peerState: PeerState;
  /** The points of this store's state that the global showed in the handshake. */
  readonly resumePoints: ReadonlyMap<string, ResumePoint>;
  readonly signer: ResumePointSigner;
}

/** A stream of the session and its inbound channel. */
export interface GlobalStream {
  readonly stream: PeerStream;
  readonly channel: InboundChannel;
}

/** Creates the half that subscribes to every kind that is sent to zones and stores it (GlobalToZoneSync). */
export function createInboundHalf(
  { options, session, peerState }: ZoneSessionParts,
  { stream, channel }: GlobalStream,
): InboundHalf {
  const { store, term, version, logger, onPropagated, sealing, hold = DEFAULT_ABSENCE_HOLD } = options;
  const { writeCopies = (request) => store.write(request) } = options;
  const { causeway } = session;
  const declares = session.extensions.includes(Extension.kinds);
  const hadWhole = (kind: string): boolean => peerState.resumePoints().has(kind);
  const fence = { epoch: term.epoch, holder: term.holder };
  const onStoreFailure = (what: string, error: unknown): void => endOnStoreFailure({ stream, logger }, what, error);
  return new InboundHalf(session, {
    stream,
    channel,
    peerState,
    hold,
    write: (changes, entries) => writeCopies({ changes, metadata: entries, onRefusal: 'skip', fence }),
    node: { version, config: '{}', controlPlaneId: term.holder },
    ...(causeway ? {} : toKumaOptions(new KumaIncarnation())),
    onComplete: reportFirstState({ store, fence, onStoreFailure, causeway, declares, hadWhole }),
    ...(onPropagated ? { onPropagated } : {}),
    ...(sealing ? { sealing } : {}),
  });
}

/** Returns the options for a Kuma global, which sends its cluster id in a Config. */
function toKumaOptions(kuma: KumaIncarnation): Pick<InboundHalfOptions, 'kuma' | 'outOfBand'> {
  const take = (response: IncomingResponse): void => kuma.learn(findClusterId(response) ?? '');
  return { kuma, outOfBand: { kind: CONFIG_KIND, take } };
}

/** Returns which resources this session sends up, and which an earlier one may have sent. */
function toVisibilityRules(session: ZoneSessionParts['session'], cp: ControlPlane): VisibilityRules {
  return {
    isVisible: (kind, resource) => isSentUp(kind, resource, session, cp),
    mayHold: (kind, id) => mayHaveBeenSentUp(kind, id, session),
  };
}

/** Creates the half that sends the global the resources created here, until the stream ends (ZoneToGlobalSync). */
export function createOutboundHalf(
  { options, session, resumePoints, signer }: ZoneSessionParts,
  { stream, channel }: GlobalStream,
): OutboundHalf {
  const { store, index, registry, clock, zone, term, logger, insights } = options;
  const cp: ControlPlane = { role: 'zone', zone, federated: true };
  const encoder = new ResourceEncoder(cp);
  // A Kuma global shows in its first request which form it reads, and is sent nothing before.
  let dialect = computeDialect(session.extensions);
  const known = (): Dialect => dialect;
  const rules = toVisibilityRules(session, cp);
  const source = { index, registry, encoder, now: () => clock.now() };
  const view = insights ? new InsightView(source, known, rules, insights) : undefined;
  const ofThisSession = randomUUID();
  const fence = { epoch: term.epoch, holder: term.holder };
  const counts = session.extensions.includes(Extension.order);
  const onStoreFailure = (what: string, error: unknown): void => endOnStoreFailure({ stream, logger }, what, error);
  const half = new OutboundHalf(session, {
    stream,
    resumePoints,
    signer,
    ...(counts ? { orders: new CountedOrders({ store, index, zone, fence, onStoreFailure }) } : {}),
    source: view ?? new PeerIndexView(source, known, rules),
    // The resources that are sent up depend only on rules of the kinds, which do not change. Insights have no log to resume from.
    viewHash: (kind) => (isInsightKind(kind) ? ofThisSession : sourcesView(kind, dialect)),
    ...(session.causeway
      ? {}
      : {
          onNodeMetadata: (metadata) => {
            dialect = computeDialect(session.extensions, findGlobalSourceForm(metadata));
          },
        }),
    // A state without insights would make the global delete the insights it has.
    isExcluded: (kind) => insights?.isLoaded === false && isInsightKind(kind),
  });
  const formerItem = (before: Resource | undefined): LastSent | undefined => {
    const kind = before && findSyncedKind(registry, before.id.kind);
    return kind && rules.isVisible(kind, before) ? toOutboundItem(encoder, before, dialect) : undefined;
  };
  const unsubscribe = followIndex(index, {
    reload: () => stream.end('unavailable', 'the zone loaded its state anew'),
    apply: (changes) => {
      for (const { id, before } of changes) half.mark(id.kind, identityKey(id), () => formerItem(before));
      if (changes.length > 0) queueMicrotask(() => half.pump());
    },
  });
  const unfollow = view?.follow(half, clock);
  channel.lifetime.signal.addEventListener('abort', () => [unsubscribe, unfollow].forEach((end) => end?.()), {
    once: true,
  });
  return half;
}

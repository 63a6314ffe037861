import { crossesZones } from '@causeway/resources';
import { isKindSentUp, QUARANTINED } from '@causeway/sync';
import type { KumaIncarnations } from '../session/kuma-incarnation';
import type { InboundChannel } from '../session/inbound/inbound-capacity';
import { InboundHalf } from '../session/inbound/inbound-half';
import type { CompressedStates } from '../session/outbound/compressed-states';
import { OutboundHalf } from '../session/outbound/outbound-half';
import type { PeerState } from '../session/peer-state';
import type { PeerStream } from '../session/peer-stream';
import type { ResumePointSigner } from '../session/resume-points';
import type { Session } from '../session/session';
import { computeDialect, Extension, sourcesView } from '../wire/dialect';
import type { FanOut } from './fan-out';
import type { GlobalSyncOptions } from './global-sync-options';
import { DEFAULT_ABSENCE_HOLD } from '../session/sync-options';
import type { AcceptedStream } from './handshake-handler';
import type { KumaGate } from './kuma-gate';
import type { Quarantines } from './zones/zone-decisions';
import { findZoneRefusal } from './zones/zone-rights';

/** Parts that the halves of all sessions of a global share. */
export interface SessionHalfParts {
  readonly options: GlobalSyncOptions;
  readonly fanOut: FanOut;
  readonly gate: KumaGate;
  readonly quarantines: Quarantines;
  readonly kumaIncarnations: KumaIncarnations;
  readonly compressed: CompressedStates;
}

/** An accepted stream of a zone and its inbound channel. */
export interface ZoneStream {
  readonly accepted: AcceptedStream;
  readonly stream: PeerStream;
  readonly channel: InboundChannel;
}

/** Creates the half that receives the zone's resources (ZoneToGlobalSync). */
export function createInboundHalf(
  parts: SessionHalfParts,
  { accepted, stream, channel }: ZoneStream,
  peerState: PeerState,
): InboundHalf {
  const { options, gate, quarantines, kumaIncarnations } = parts;
  const { store, registry, instance, version, onPropagated, hold = DEFAULT_ABSENCE_HOLD } = options;
  const { zone, session } = accepted;
  const crossing = registry.kinds.filter(
    (kind) =>
      crossesZones(kind.sync) &&
      isKindSentUp(kind, { ...accepted, groups: accepted.extensions.includes(Extension.groups) }),
  );
  const awaited = new Set(crossing.map(({ name }) => name));
  return new InboundHalf(toSession(options, accepted), {
    stream,
    channel,
    peerState,
    hold,
    write: (changes, entries) =>
      store.write({ changes, metadata: entries, onRefusal: 'skip', session: { zone, session } }),
    node: { version, config: '', controlPlaneId: instance },
    ...(accepted.causeway ? {} : { kuma: kumaIncarnations.of(zone) }),
    refusal: (id) =>
      quarantines.ofZone(zone)?.includes(id) === true ? QUARANTINED : findZoneRefusal(options.rights, id),
    // Kuma zones may get this zone's resources once all its kinds that cross zones are stored.
    onComplete: (kind) => {
      if (awaited.delete(kind) && awaited.size === 0) void gate.reported(zone);
    },
    ...(onPropagated ? { onPropagated } : {}),
  });
}

/** Creates the half that sends the zone the resources it may see (GlobalToZoneSync), until the stream ends. */
export function createOutboundHalf(
  parts: SessionHalfParts,
  { accepted, stream, channel }: ZoneStream,
  signer: ResumePointSigner,
): OutboundHalf {
  const { options, fanOut, gate, kumaIncarnations, compressed } = parts;
  const { zone, causeway, resumePoints } = accepted;
  const peer = { zone, causeway, groups: accepted.extensions.includes(Extension.groups) };
  const dialect = computeDialect(accepted.extensions, accepted.sources);
  const isExcluded = (name: string): boolean => {
    const kind = options.registry.kind(name);
    return !gate.isOpen && kind !== undefined && crossesZones(kind.sync);
  };
  const half = new OutboundHalf(toSession(options, accepted), {
    stream,
    signer,
    resumePoints,
    compressed,
    source: fanOut.viewFor(peer, dialect),
    viewHash: (kind) => fanOut.viewHash(kind) + sourcesView(kind, dialect),
    ...(causeway
      ? {}
      : { isExcluded, onNodeMetadata: ({ controlPlaneId }) => kumaIncarnations.of(zone).learn(controlPlaneId) }),
  });
  const subscriber = { peer, dialect, half };
  fanOut.add(subscriber);
  const unsubscribe = gate.onOpen(() => half.resume());
  const end = (): void => {
    unsubscribe();
    fanOut.remove(subscriber);
  };
  channel.lifetime.signal.addEventListener('abort', end, { once: true });
  return half;
}

function toSession(options: GlobalSyncOptions, { zone, causeway, extensions }: AcceptedStream): Session {
  const { index, registry, clock, tracer, logger } = options;
  const parts = { index, registry, clock, tracer, logger: logger.child({ zone }) };
  return { role: 'global', zone, causeway, groups: extensions.includes(Extension.groups), extensions, ...parts };
}

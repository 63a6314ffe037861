import type { Logger } from '@causeway/runtime';
import { isKindSentDown, type PendingIncarnation, type Receiver } from '@causeway/sync';
import { clusterIdIn, CONFIG } from '../kuma/kuma-incarnation';
import type { KindReport } from '../session/kind-report';
import { GLOBAL_PEER } from '../session/peer-state';
import { InboundShare } from '../session/inbound/inbound-capacity';
import { InboundStream } from '../session/inbound/inbound-stream';
import { InboundApplier } from '../session/inbound/inbound-applier';
import { RateLimitedLogger } from '../session/rate-limited-logger';
import { CHUNKED_BOUNDS, KUMA_BOUNDS } from '../wire/bounds';
import { dialectOf, Extension } from '../wire/dialect';
import { NODE_FEATURES } from '../wire/node';
import { encodeRequest } from '../wire/request';
import type { IncomingResponse } from '../wire/response';
import { DEFAULT_ABSENCE_HOLD } from './zone-sync-options';
import { headersOf, peerOf, receive, type SessionContext } from './session-context';

/** The open stream. */
export interface DownLink {
  isComplete(kind: string): boolean;
  reports(): readonly KindReport[];
  /** See InboundApplier. */
  checkConfirmation(): Promise<void>;
  pendingIncarnation(): PendingIncarnation | undefined;
  /** Resolves when nothing of this stream can be written any more. */
  close(): Promise<void>;
}

/** GlobalToZoneSync: asks for every kind that comes down and takes it in. */
export function openDown(session: SessionContext, finish: (reason: string) => void): DownLink {
  const { options, transport: calls, extensions, scheduler } = session;
  const { zone, registry, index, clock } = options;
  const logger = RateLimitedLogger.of(options.logger.child({ stream: 'down' }), clock);
  const life = new AbortController();
  const share = new InboundShare({ peer: GLOBAL_PEER, scheduler, index, signal: life.signal });
  const stream = calls.stream('down', headersOf(session));
  const plain = plainGlobal(session);
  const receiver = { role: 'zone', zone } as const;
  const writer = writerFor(session, { receiver, share, plain, logger });
  const intake = new InboundStream({
    stream,
    receiver,
    zone,
    dialect: dialectOf(extensions),
    results: extensions.includes(Extension.result),
    registry,
    index,
    ready: Promise.resolve(),
    writer,
    bounds: extensions.includes(Extension.chunk) ? CHUNKED_BOUNDS : KUMA_BOUNDS,
    share,
    ...(plain ? { outOfBand: { kind: CONFIG, take: (response) => plain.take(response, writer) } } : {}),
    now: () => clock.now(),
    logger,
    ...(options.onPropagated ? { onPropagated: options.onPropagated } : {}),
  });
  receive(session, stream, {
    message: (bytes) => intake.message(bytes),
    drain: () => intake.drain(),
    ended: (reason) => {
      life.abort();
      finish(`GlobalToZoneSync: ${reason}`);
    },
  });
  for (const request of subscriptions(session)) stream.write(request);
  return {
    isComplete: (kind) => intake.isComplete(kind),
    reports: () => intake.reports(),
    checkConfirmation: () => intake.checkConfirmation(),
    pendingIncarnation: () => intake.pendingIncarnation(),
    close: () => {
      life.abort();
      stream.end('shutdown', 'the session is over');
      return intake.close();
    },
  };
}

/** What a writer needs beside the session. */
interface WriterParts {
  readonly receiver: Receiver;
  readonly share: InboundShare;
  readonly plain: PlainGlobal | undefined;
  readonly logger: Logger;
}

function writerFor(
  { options, peerState: book }: SessionContext,
  { receiver, share, plain, logger }: WriterParts,
): InboundApplier {
  const { index, store, clock, term, hold = DEFAULT_ABSENCE_HOLD } = options;
  const fence = { epoch: term.epoch, holder: term.holder };
  return new InboundApplier({
    index,
    receiver,
    write: (changes, notes) => share.write(changes, () => store.write({ changes, notes, onRefusal: 'skip', fence })),
    peerState: book,
    hold,
    clock,
    logger,
    ...(plain ? { kumaIncarnation: () => plain.clusterId } : {}),
  });
}

/** The requests for every kind that comes down; of a plain Kuma global first for what tells its life. */
function subscriptions(session: SessionContext): Buffer[] {
  const { options, greeting } = session;
  const { zone, registry, term, version } = options;
  const metadata = { version, config: '{}', controlPlaneId: term.holder, features: NODE_FEATURES };
  const kinds = registry.kinds
    .filter((candidate) => isKindSentDown(candidate, peerOf(session)))
    .map((kind) => kind.name);
  const asked = greeting ? kinds : [CONFIG, ...kinds];
  return asked.map((kind) => encodeRequest({ type: 'subscribe', kind, zone, metadata, held: {} }));
}

/** What a plain Kuma global says of itself: its Config names the life that its state is of. */
class PlainGlobal {
  clusterId: string | undefined;

  take(response: IncomingResponse, writer: InboundApplier): void {
    this.clusterId = clusterIdIn(response) ?? this.clusterId;
    void writer.kumaIncarnationKnown();
  }
}

function plainGlobal({ greeting }: SessionContext): PlainGlobal | undefined {
  return greeting ? undefined : new PlainGlobal();
}

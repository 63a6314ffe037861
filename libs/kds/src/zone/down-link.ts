import type { Logger } from '@causeway/runtime';
import { goesDown, type PendingLife, type Receiver } from '@causeway/sync';
import { clusterIdIn, CONFIG } from '../kuma-config';
import type { KindReport } from '../report';
import { GLOBAL_PEER } from '../peer-book';
import { IntakeShare } from '../stream/intake-share';
import { IntakeStream } from '../stream/intake-stream';
import { IntakeWriter } from '../stream/intake-writer';
import { LimitedLogger } from '../stream/limited-logger';
import { CHUNKED_BOUNDS, PLAIN_BOUNDS } from '../wire/bounds';
import { dialectOf, Extension } from '../wire/dialect';
import { NODE_FEATURES } from '../wire/node';
import { encodeRequest } from '../wire/request';
import type { IncomingResponse } from '../wire/response';
import { DEFAULT_HOLD } from './options';
import { headersOf, peerOf, receive, type ZoneSession } from './session';

/** The open stream. */
export interface DownLink {
  isComplete(kind: string): boolean;
  reports(): readonly KindReport[];
  /** See IntakeWriter. */
  heedOperator(): Promise<void>;
  pendingLife(): PendingLife | undefined;
  /** Resolves when nothing of this stream can be written any more. */
  close(): Promise<void>;
}

/** GlobalToZoneSync: asks for every kind that comes down and takes it in. */
export function openDown(session: ZoneSession, finish: (reason: string) => void): DownLink {
  const { options, calls, extensions, scheduler } = session;
  const { zone, registry, index, clock } = options;
  const logger = LimitedLogger.of(options.logger.child({ stream: 'down' }), clock);
  const life = new AbortController();
  const share = new IntakeShare({ peer: GLOBAL_PEER, scheduler, index, signal: life.signal });
  const stream = calls.stream('down', headersOf(session));
  const plain = plainGlobal(session);
  const receiver = { role: 'zone', zone } as const;
  const writer = writerFor(session, { receiver, share, plain, logger });
  const intake = new IntakeStream({
    stream,
    receiver,
    zone,
    dialect: dialectOf(extensions),
    results: extensions.includes(Extension.result),
    registry,
    index,
    ready: Promise.resolve(),
    writer,
    bounds: extensions.includes(Extension.chunk) ? CHUNKED_BOUNDS : PLAIN_BOUNDS,
    share,
    ...(plain ? { aside: { kind: CONFIG, take: (response) => plain.take(response, writer) } } : {}),
    now: () => clock.now(),
    logger,
    ...(options.propagated ? { propagated: options.propagated } : {}),
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
    heedOperator: () => intake.heedOperator(),
    pendingLife: () => intake.pendingLife(),
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
  readonly share: IntakeShare;
  readonly plain: PlainGlobal | undefined;
  readonly logger: Logger;
}

function writerFor({ options, book }: ZoneSession, { receiver, share, plain, logger }: WriterParts): IntakeWriter {
  const { index, store, clock, term, hold = DEFAULT_HOLD } = options;
  const fence = { epoch: term.epoch, holder: term.holder };
  return new IntakeWriter({
    index,
    receiver,
    write: (changes, notes) => share.write(changes, () => store.write({ changes, notes, onRefusal: 'skip', fence })),
    book,
    hold,
    clock,
    logger,
    ...(plain ? { plainLife: () => plain.clusterId } : {}),
  });
}

/** The requests for every kind that comes down; of a plain Kuma global first for what tells its life. */
function subscriptions(session: ZoneSession): Buffer[] {
  const { options, greeting } = session;
  const { zone, registry, term, version } = options;
  const metadata = { version, config: '{}', controlPlaneId: term.holder, features: NODE_FEATURES };
  const kinds = registry.kinds.filter((candidate) => goesDown(candidate, peerOf(session))).map((kind) => kind.name);
  const asked = greeting ? kinds : [CONFIG, ...kinds];
  return asked.map((kind) => encodeRequest({ type: 'subscribe', kind, zone, metadata, held: {} }));
}

/** What a plain Kuma global says of itself: its Config names the life that its state is of. */
class PlainGlobal {
  clusterId: string | undefined;

  take(response: IncomingResponse, writer: IntakeWriter): void {
    this.clusterId = clusterIdIn(response) ?? this.clusterId;
    void writer.lifeKnown();
  }
}

function plainGlobal({ greeting }: ZoneSession): PlainGlobal | undefined {
  return greeting ? undefined : new PlainGlobal();
}

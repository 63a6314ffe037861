import { goesDown } from '@causeway/sync';
import type { KindReport } from '../report';
import { IntakeStream } from '../stream/intake-stream';
import { IntakeWriter } from '../stream/intake-writer';
import { dialectOf, Extension } from '../wire/dialect';
import { NODE_FEATURES } from '../wire/node';
import { encodeRequest } from '../wire/request';
import { DEFAULT_HOLD } from './options';
import { headersOf, peerOf, type ZoneSession } from './session';

/** The open stream. */
export interface DownLink {
  isComplete(kind: string): boolean;
  reports(): readonly KindReport[];
  /** Resolves when nothing of this stream can be written any more. */
  close(): Promise<void>;
}

/** GlobalToZoneSync: asks for every kind that comes down and takes it in. */
export function openDown(session: ZoneSession, finish: (reason: string) => void): DownLink {
  const { options, calls, extensions, book } = session;
  const { zone, registry, index, store, clock, term, hold = DEFAULT_HOLD } = options;
  const logger = options.logger.child({ stream: 'down' });
  const stream = calls.stream('down', headersOf(session));
  const fence = { epoch: term.epoch, holder: term.holder };
  const intake = new IntakeStream({
    stream,
    receiver: { role: 'zone', zone },
    zone,
    dialect: dialectOf(extensions),
    results: extensions.includes(Extension.result),
    registry,
    index,
    ready: Promise.resolve(),
    writer: new IntakeWriter({
      write: (changes, notes) => store.write({ changes, notes, onRefusal: 'skip', fence }),
      book,
      hold,
      clock,
      logger,
    }),
    now: () => clock.now(),
    logger,
  });
  stream.listen({
    message: (bytes) => intake.message(bytes),
    drain: () => undefined,
    ended: (reason) => finish(`GlobalToZoneSync: ${reason}`),
  });
  const metadata = { version: options.version, config: '{}', controlPlaneId: term.holder, features: NODE_FEATURES };
  for (const kind of registry.kinds.filter((candidate) => goesDown(candidate, peerOf(session)))) {
    stream.write(encodeRequest({ type: 'subscribe', kind: kind.name, zone, metadata, held: {} }));
  }
  return {
    isComplete: (kind) => intake.isComplete(kind),
    reports: () => intake.reports(),
    close: () => {
      stream.end('shutdown', 'the session is over');
      return intake.close();
    },
  };
}

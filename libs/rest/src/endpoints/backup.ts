import { exportStore } from '@causeway/api';
import { Unavailable } from '@causeway/resources';
import { errorText, underSignals } from '@causeway/runtime';
import { LineStream } from '../answers/line-stream';
import { endpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Timeout for a client to read a backup, ms: meanwhile the database cannot vacuum. */
const READ_TIME = 600_000;

/** Endpoint of backups: a failure before the first line is a problem document, a later one ends the connection without the last line. */
export function backupEndpoints(sources: EndpointSources): readonly Endpoint[] {
  const { queries, audit, clock, recorder, logger, ending } = sources;
  return [
    endpoint(exportStore, async ({ request, reply }, { query: { secrets = false } }) => {
      const lines = new LineStream(reply, clock);
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort(new Unavailable('the client is gone')));
      const activity = secrets ? 'export the store with its secrets' : 'export the store without its secrets';
      const subject = { verb: 'get', kind: 'Backup', mesh: '', zone: '', namespace: '', name: '', activity };
      await recorder.done(audit.getSource(request), subject);
      lines.limit(READ_TIME);
      try {
        await underSignals([gone.signal, ending], (signal) =>
          queries.backups.write(secrets, (text) => lines.writeText(text), signal),
        );
        lines.end();
      } catch (error) {
        if (!lines.isOpen) throw error;
        logger.warn('a backup was cut off', { error: errorText(error) });
        lines.destroy();
      }
    }),
  ];
}

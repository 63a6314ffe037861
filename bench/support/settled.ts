import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';

/** State to wait for in a zone's database. */
export interface Wanted {
  /** MeshServices with virtual IP and an available hostname, at least. */
  readonly services: number;
  /** ms between two reads of the revision: a read is one small query. */
  readonly every: number;
  /** ms without a commit after which the services are counted, which costs a scan. */
  readonly still: number;
  /** ms after which it is given up. */
  readonly timeout: number;
}

const COMPLETE = `
  SELECT count(*)::int AS complete FROM resources
  WHERE kind = 'MeshService' AND deleted_at IS NULL AND vip IS NOT NULL
    AND status->'addresses' @> '[{"status": "Available"}]'`;

/**
 * Waits until a control plane has settled: nothing was committed for `still` ms and all wanted services are complete.
 * Resolves with the time of its last commit (`performance.now()`). Reads the database, not the process, which thus is
 * left alone.
 */
export async function untilSettled(url: string, wanted: Wanted): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const deadline = performance.now() + wanted.timeout;
    let [revision, movedAt] = ['', performance.now()];
    for (;;) {
      const now = (await client.query<{ revision: string }>('SELECT revision FROM store_head')).rows[0]?.revision ?? '';
      if (now !== revision) [revision, movedAt] = [now, performance.now()];
      else if (performance.now() - movedAt > wanted.still && (await complete(client)) >= wanted.services)
        return movedAt;
      if (performance.now() > deadline)
        throw new Error(
          `${await complete(client)} of ${wanted.services} services are complete after ${wanted.timeout} ms`,
        );
      await pause(wanted.every);
    }
  } finally {
    await client.end();
  }
}

async function complete(client: Client): Promise<number> {
  return (await client.query<{ complete: number }>(COMPLETE)).rows[0]?.complete ?? 0;
}

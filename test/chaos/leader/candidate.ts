import { createInterface } from 'node:readline';
import { createZoneReconcilers } from '@causeway/controllers';
import { runLoops } from '@causeway/loops/testing';
import { createRedisLock } from '@causeway/leader-redis';
import { createElection, silentLogger, systemClock, type LeaderTerm } from '@causeway/runtime';
import { Fenced, followStore, ResourceIndex, type ResourceStore } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { CP, RANGE, REST, traceOf } from './world';

/**
 * One candidate as a process: leads with the vip loop of a zone, and leaves a trace of its epoch every few ms. Reports its events on stdout, one JSON
 * line each; steps down on a command on stdin, and ends with stdin.
 */
async function main(): Promise<void> {
  const [database = '', redis = '', lease = '', holder = '', stall = ''] = process.argv.slice(2);
  const backend = await createPostgresBackend({ url: database, poolSize: 4 });
  const lock = redis === '' ? undefined : createRedisLock({ url: redis, key: 'leader', logger: silentLogger });
  const [index, stopped] = [new ResourceIndex(), new AbortController()];
  const parts = { clock: systemClock, logger: silentLogger };
  const following = followStore(backend.store, index, { ...parts, signal: stopped.signal });
  let stepDown = (): void => undefined;
  let current: LeaderTerm | undefined;
  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => {
    const [order, ms] = line.split(' ');
    if (order === 'hold') void holdAndWrite(backend.store, Number(ms), current);
    else stepDown();
  });
  input.on('close', () => stopped.abort());

  const election = createElection({
    ...parts,
    lease: backend.lease,
    keeper: backend.leaseKeeper(Number(stall)),
    ...(lock ? { lock } : {}),
    holder,
    leaseMs: Number(lease),
  });
  say('ready', 0);
  await election.run(async (term) => {
    say('lead', term.epoch);
    current = term;
    const over = new AbortController();
    stepDown = () => over.abort(new Error('told to step down'));
    const mine: LeaderTerm = { ...term, signal: AbortSignal.any([term.signal, over.signal]) };
    const loops = createZoneReconcilers({ cp: CP, ranges: { MeshService: RANGE }, cooldown: REST }).filter(
      ({ name }) => name === 'vip',
    );
    await Promise.all([
      runLoops(loops, { ...parts, store: backend.store, index, term: mine }),
      leaveTraces(backend.store, mine),
    ]);
    say('end', term.epoch);
  }, stopped.signal);
  await following;
  lock?.close();
  await backend.close();
}

/** Writes as a leader does until it is fenced; not even its signal keeps it from trying. */
async function leaveTraces(store: ResourceStore, { epoch, holder, signal }: LeaderTerm): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    const changes = [traceOf({ epoch, holder, n })];
    await store.write({ changes, onRefusal: 'abort', fence: { epoch, holder } }).catch(() => undefined);
    await systemClock.sleep(5, signal);
  }
  const last = { changes: [traceOf({ epoch, holder, n: -1 })], onRefusal: 'abort', fence: { epoch, holder } } as const;
  await store.write(last).catch(() => undefined);
}

/** Writes as a handler does that held the event loop for too long and does not check whether its term still stands. */
async function holdAndWrite(store: ResourceStore, ms: number, term: LeaderTerm | undefined): Promise<void> {
  // Blocks without computing: other tests need the processor.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  const { epoch = 0, holder = '' } = term ?? {};
  const write = { changes: [traceOf({ epoch, holder, n: -2 })], onRefusal: 'abort', fence: { epoch, holder } } as const;
  try {
    await store.write(write);
    say('wrote', epoch);
  } catch (error) {
    say(error instanceof Fenced ? 'fenced' : String(error), epoch);
  }
}

function say(event: string, epoch: number): void {
  process.stdout.write(`${JSON.stringify({ event, epoch })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});

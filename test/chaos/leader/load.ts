import { Conflict } from '@causeway/resources';
import type { Change, ResourceStore } from '@causeway/store';
import { counterId, serviceId } from './world';

const COUNTERS = 4;
const SERVICES = 60;
const STANDING = 24;

/** The responses that clients got; the final state is compared with them. */
interface Told {
  /** By counter: increments that were answered, and those whose answer was lost. */
  readonly counters: { done: number; unknown: number }[];
  /** By service: whether it should be there; undefined while an answer was lost. */
  readonly services: Map<string, boolean | undefined>;
}

/** Clients that write all the time, as REST does for users: services come and go, counters grow. */
export class Load {
  private readonly told: Told = {
    counters: Array.from({ length: COUNTERS }, () => ({ done: 0, unknown: 0 })),
    services: new Map(),
  };
  private running = true;
  private readonly clients: Promise<void>[] = [];

  constructor(private readonly store: ResourceStore) {}

  async start(): Promise<void> {
    const counters = this.told.counters.map((_, n): Change => put(counterId(n), 0));
    await this.store.write({ changes: counters, onRefusal: 'abort' });
    for (const [n] of this.told.counters.entries()) this.clients.push(this.count(n), this.count(n));
    this.clients.push(this.churn());
  }

  /** Stops the clients, whatever became of the run. */
  async halt(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  /** Stops the clients; returns the number of writes, and of acknowledged writes that the store lacks. */
  async stop(): Promise<{ readonly writes: number; readonly lost: number }> {
    await this.halt();
    let [writes, lost] = [0, 0];
    for (const [n, { done, unknown }] of this.told.counters.entries()) {
      const value = Number((await this.store.get(counterId(n)))?.spec['n']);
      writes += done;
      if (value < done || value > done + unknown) lost += Math.max(1, done - value);
    }
    for (const [name, there] of this.told.services) {
      if (there === undefined) continue;
      writes += 1;
      if (((await this.store.get(serviceId(name))) !== undefined) !== there) lost += 1;
    }
    return { writes, lost };
  }

  private async count(n: number): Promise<void> {
    const told = this.told.counters[n] ?? { done: 0, unknown: 0 };
    while (this.running) {
      await pause(10); // also when the store is away: a client that spins would starve everybody
      const seen = await this.store.get(counterId(n)).catch(() => undefined);
      if (!seen) continue;
      const change = { ...put(counterId(n), Number(seen.spec['n']) + 1), expect: seen.revision };
      await this.store.write({ changes: [change], onRefusal: 'abort' }).then(
        () => void (told.done += 1),
        (error: unknown) => void (told.unknown += error instanceof Conflict ? 0 : 1),
      );
    }
  }

  /** Two dozen services exist at any time, out of sixty names: more names than addresses, so addresses are reused. */
  private async churn(): Promise<void> {
    const { services } = this.told;
    for (let turn = 0; this.running; turn++) {
      await pause(15);
      const name = `s${Math.floor(Math.random() * SERVICES)}`;
      const standing = [...services.values()].filter(Boolean).length;
      const there = services.get(name) === true;
      if (!there && standing >= STANDING) continue;
      const change: Change = there
        ? { type: 'delete', id: serviceId(name), expect: 'any' }
        : put(serviceId(name), turn);
      services.set(name, undefined);
      const { results } = await this.store
        .write({ changes: [change], onRefusal: 'skip' })
        .catch(() => ({ results: [undefined] }));
      if (results[0]) services.set(name, !there);
    }
  }
}

function put(id: ReturnType<typeof counterId>, n: number): Extract<Change, { type: 'put' }> {
  return {
    type: 'put',
    id,
    expect: 'any',
    labels: {},
    spec: id.kind === 'Counter' ? { n } : { ports: [{ port: 80 }] },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

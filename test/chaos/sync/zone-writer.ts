import { setTimeout as wait } from 'node:timers/promises';
import type { Prng } from '../../simulation/engine/prng';
import type { ReplicaProcess } from './replica-process';
import { adminFetch } from '../../support/admin-credential';

/** A client gives up on a request after this, ms: the replica may be stopped. */
const PATIENCE = 2_000;
const PAUSE = 60;
const STANDING = 40;

/** The last response about a service: its last stamp, that it is deleted, or unknown after a failed request. */
export type Told = { readonly type: 'stands'; readonly stamp: string } | { readonly type: 'gone' | 'unknown' };

/** A user of one zone who makes, changes and deletes services all the time, at any replica that answers. */
export class ZoneWriter {
  readonly told = new Map<string, Told>();
  answered = 0;
  unanswered = 0;
  private running = true;
  private turn = 0;
  private done: Promise<void> = Promise.resolve();

  constructor(
    private readonly zone: string,
    private readonly replicas: readonly ReplicaProcess[],
    private readonly chance: Prng,
  ) {}

  start(): void {
    this.done = this.write();
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.done;
  }

  private async write(): Promise<void> {
    while (this.running) {
      await wait(PAUSE);
      const up = this.replicas.filter(({ down }) => !down);
      if (up.length > 0) await this.once(this.chance.pick(up).restUrl);
    }
  }

  private async once(restUrl: string): Promise<void> {
    const standing = [...this.told].flatMap(([name, told]) => (told.type === 'stands' ? [name] : []));
    const gone = [...this.told].flatMap(([name, told]) => (told.type === 'gone' ? [name] : []));
    const fresh = `${this.zone}-${this.told.size}`;
    const make = standing.length < STANDING && this.chance.chance(0.4);
    const name =
      make || standing.length === 0 ? this.chance.pick([fresh, ...gone.slice(-3)]) : this.chance.pick(standing);
    const remove = !make && standing.length > 0 && this.chance.chance(0.3);
    const stamp = `${this.zone}-${++this.turn}`;
    const url = `${restUrl}/meshes/default/meshservices/${name}`;
    // A missing answer decides nothing: the write may still happen. Such a name is not used again.
    this.told.set(name, { type: 'unknown' });
    if (await this.request(url, remove ? undefined : body(name, stamp))) {
      this.told.set(name, remove ? { type: 'gone' } : { type: 'stands', stamp });
    }
  }

  private async request(url: string, content: unknown): Promise<boolean> {
    const headers = { 'content-type': 'application/json' };
    const how =
      content === undefined ? { method: 'DELETE' } : { method: 'PUT', headers, body: JSON.stringify(content) };
    try {
      const answer = await adminFetch(url, { ...how, signal: AbortSignal.timeout(PATIENCE) });
      await answer.arrayBuffer();
      if (answer.ok) this.answered++;
      else this.unanswered++;
      return answer.ok;
    } catch {
      this.unanswered++;
      return false;
    }
  }
}

function body(name: string, stamp: string): unknown {
  const spec = { selector: { dataplaneTags: { app: name } }, ports: [{ port: 80 }] };
  return { type: 'MeshService', mesh: 'default', name, labels: { stamp }, spec };
}

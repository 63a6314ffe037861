import { setTimeout as pause } from 'node:timers/promises';
import type { Prng } from '../../test/simulation/engine/prng';
import { CHURN_KINDS, type ChurnKind } from './churn-kinds';
import type { Owner, SoakMesh } from './soak-mesh';
import { adminFetch } from '../../test/support/admin-credential';

/** A client gives up after this, ms: a replica may be stopped. */
const PATIENCE = 20_000;
/** A stopped replica may still do a write that had no answer: its name is not used for this time, ms. */
const UNKNOWN_FOR = 120_000;
/** Share of new services whose name was never used before and never is again. */
const FRESH = 0.2;
/** As many of those live in a zone at a time. */
const FRESH_LIVING = 30;

/** The last answer about a thing: its document, `gone` if it was deleted, or undefined if no answer came. */
type Told = { readonly body: Readonly<Record<string, unknown>> | 'gone' | undefined; readonly at: number };

/** A written resource, and its expected content. */
export interface Expected {
  readonly owner: Owner;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | 'gone';
}

/** Users of all control planes: at a steady rate one of them makes, changes or deletes something at a replica that answers. */
export class Churn {
  answered = 0;
  unanswered = 0;
  /** Refusals by request; each is a fault of the program or of this bench. */
  readonly refusals: string[] = [];
  private readonly told = new Map<string, Told & { readonly kind: ChurnKind }>();
  private readonly versions = new Map<string, number>();
  private readonly underWay = new Set<Promise<void>>();
  private readonly stopped = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private fresh = 0;
  private readonly freshLiving = new Map<Owner, string[]>();

  constructor(
    private readonly mesh: SoakMesh,
    private readonly chance: Prng,
    /** Changes a second. */
    private readonly rate: number,
  ) {}

  start(): void {
    this.running = this.write();
  }

  /** Writes no more; resolves when all writes are answered or given up. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
    await Promise.all(this.underWay);
  }

  /** Returns the resources that must be stored, without those whose last write had no answer. */
  expected(): Expected[] {
    return [...this.told].flatMap(([path, { kind, body }]) =>
      body === undefined ? [] : [{ owner: kind.owner, path, body }],
    );
  }

  private async write(): Promise<void> {
    const start = performance.now();
    for (let n = 0; !this.stopped.signal.aborted; n++) {
      const due = start + (n * 1_000) / this.rate;
      const wait = Math.max(0, due - performance.now());
      await pause(wait, undefined, { signal: this.stopped.signal }).catch(() => undefined);
      if (this.stopped.signal.aborted) return;
      const work = this.once().finally(() => this.underWay.delete(work));
      this.underWay.add(work);
    }
  }

  private once(): Promise<void> {
    const kind = this.chance.weighted(CHURN_KINDS.map((each) => [each.weight, each] as const));
    const [name, remove] = this.draw(kind);
    const path = `${kind.path}/${name}`;
    const before = this.told.get(path);
    if (before && before.body === undefined && Date.now() - before.at < UNKNOWN_FOR) return Promise.resolve();
    const replica = this.mesh.up(kind.owner);
    if (!replica) return Promise.resolve();
    const version = (this.versions.get(path) ?? 0) + 1;
    if (!name.startsWith('once-')) this.versions.set(path, version);
    return this.send(kind, replica.restUrl, path, remove ? undefined : kind.body(name, version));
  }

  /** A name, and whether to delete it. */
  private draw(kind: ChurnKind): readonly [name: string, remove: boolean] {
    if (kind.path.endsWith('/meshservices') && this.chance.chance(FRESH)) {
      const living = this.freshLiving.get(kind.owner) ?? [];
      const oldest = living.length >= FRESH_LIVING ? living.shift() : undefined;
      const name = oldest ?? `once-${kind.owner}-${this.fresh++}`;
      this.freshLiving.set(kind.owner, oldest === undefined ? [...living, name] : living);
      return [name, oldest !== undefined];
    }
    const name = `${kind.owner}-${this.chance.between(0, kind.names - 1)}`;
    const stands = typeof this.told.get(`${kind.path}/${name}`)?.body === 'object';
    return [name, stands && this.chance.chance(0.4)];
  }

  private async send(kind: ChurnKind, restUrl: string, path: string, body: Told['body']): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const how = body === undefined ? { method: 'DELETE' } : { method: 'PUT', headers, body: JSON.stringify(body) };
    this.tell(path, kind, undefined);
    try {
      const answer = await adminFetch(restUrl + path, { ...how, signal: AbortSignal.timeout(PATIENCE) });
      const text = await answer.text();
      // A thing whose making had no answer may not be there.
      if (answer.ok || (body === undefined && answer.status === 404)) {
        this.answered += 1;
        this.tell(path, kind, body ?? 'gone');
      } else if (answer.status >= 500 || answer.status === 429) this.unanswered += 1;
      else if (this.refusals.length < 100)
        this.refusals.push(`${how.method} ${kind.owner} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    } catch {
      this.unanswered += 1;
    }
  }

  /** Deleted resources are forgotten after a while, so that the memory of this program does not grow. */
  private tell(path: string, kind: ChurnKind, body: Told['body']): void {
    this.told.set(path, { body, at: Date.now(), kind });
    if (this.told.size < 5_000) return;
    for (const [old, { body: last }] of this.told) {
      if (last === 'gone' && old.includes('/once-')) return void this.told.delete(old);
    }
  }
}

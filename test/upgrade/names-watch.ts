import { Resolver, TIMEOUT } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { LONGEST } from './answered-writes';
import type { Findings } from './findings';
import { NamesSeen, type ShownNames } from './names-seen';
import type { Replica, ReplicatedPlane } from './replicated-plane';
import { adminFetch } from '../support/admin-credential';

/** Between two looks, ms. */
const PACE = 100;
/** Hostnames that DNS is asked for in one look. */
const ASKED = 20;
/** At once. */
const PARALLEL = 50;
const PAGE = 1_000;

interface ShownService {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly status?: {
    readonly vip?: { readonly ip: string };
    readonly vips?: readonly { readonly ip: string }[];
    readonly addresses?: readonly { readonly hostname: string; readonly status: string }[];
  };
}

/** Reads the names and addresses of a zone all the time, on every replica that is ready: REST, and DNS. */
export class NamesWatch {
  private readonly seen = new NamesSeen();
  private readonly askedAll = new WeakSet<Replica>();
  private readonly running: Promise<void>;
  private isOver = false;
  private looks = 0;

  constructor(
    private readonly zone: ReplicatedPlane,
    private readonly findings: Findings,
  ) {
    this.running = this.run();
  }

  /** Returns how many services and hostnames were shown so far. */
  get size(): number {
    return this.seen.size;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      for (const replica of this.zone.ready) await this.look(replica);
      await pause(PACE);
    }
  }

  private async look(replica: Replica): Promise<void> {
    this.looks += 1;
    try {
      // Names that it showed before this read: DNS may be a moment behind REST.
      const due = [...this.seen.due(replica)].filter(([name]) => !name.includes('@'));
      const shown = await shownNames(replica.plane.restUrl);
      if (!this.zone.serves(replica)) return;
      if (!shown) return this.findings.count('looks_again');
      for (const line of this.seen.take(replica, shown, performance.now())) this.broken(replica, line);
      await this.askDns(replica, due);
      this.findings.count('looks');
    } catch (error) {
      // A replica that is being ended need not answer.
      if (this.zone.serves(replica)) this.broken(replica, `did not answer: ${String(error)}`);
    }
  }

  /** Of a replica that is new all that is due, else some. */
  private async askDns(replica: Replica, due: readonly (readonly [string, string])[]): Promise<void> {
    const from = (this.looks * ASKED) % Math.max(due.length, 1);
    const asked = this.askedAll.has(replica) ? due.slice(from, from + ASKED) : due;
    this.askedAll.add(replica);
    const resolver = new Resolver({ timeout: 5_000, tries: 3 });
    resolver.setServers([replica.plane.dnsAddress]);
    for (let n = 0; n < asked.length; n += PARALLEL)
      await Promise.all(asked.slice(n, n + PARALLEL).map((one) => this.askName(replica, resolver, one)));
  }

  private async askName(
    replica: Replica,
    resolver: Resolver,
    [name, address]: readonly [string, string],
  ): Promise<void> {
    const ask = (): Promise<readonly string[]> =>
      resolver.resolve4(name).catch((error: NodeJS.ErrnoException) => [error.code ?? 'no answer']);
    const deadline = performance.now() + LONGEST;
    let answer = await ask();
    // Silence is a busy machine for a while, a wrong answer never is.
    while (answer[0] === TIMEOUT && performance.now() < deadline && this.zone.serves(replica)) {
      this.findings.count('dns_asked_again');
      answer = await ask();
    }
    if (!this.zone.serves(replica)) return;
    this.findings.count('dns_answers');
    if (answer.length !== 1 || answer[0] !== address)
      this.broken(replica, `DNS answers ${answer.join(', ')} for ${name}, which has ${address}`);
  }

  private broken({ plane, version }: Replica, line: string): void {
    this.findings.broken(`${plane.name}, a replica of the ${version.label} version: ${line}`);
  }
}

/** Undefined if the replica answers that it is behind the database, and to try again. */
async function shownNames(restUrl: string): Promise<ShownNames | undefined> {
  const [services, hostnames] = [new Map<string, string>(), new Map<string, string>()];
  for (let next: string | null = `${restUrl}/meshes/default/meshservices?size=${PAGE}&cursor=`; next !== null;) {
    const answer: Response = await adminFetch(next);
    if (answer.status === 503) return undefined;
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    const page = (await answer.json()) as { items: readonly ShownService[]; next: string | null };
    for (const { name, labels, status } of page.items) {
      const address = status?.vip?.ip ?? status?.vips?.[0]?.ip;
      if (address === undefined) continue;
      services.set(`${name}@${labels?.['kuma.io/zone'] ?? ''}`, address);
      for (const { hostname, status: state } of status?.addresses ?? [])
        if (state === 'Available') hostnames.set(hostname, address);
    }
    next = page.next;
  }
  return { services, hostnames };
}

import { Resolver } from 'node:dns/promises';
import type { ProcessPlane } from '../support/process-plane';

const PAUSE_MS = 20;
const ANSWER_MS = 2_000;
/** The service that is read and resolved all the time. */
export const WATCHED = 'watched';

/** Observations of users of a zone while its store was moved. */
export interface Seen {
  readonly answeredWrites: number;
  /** Answered writes that are not there in the end. */
  readonly lostWrites: number;
  /** The longest time from one answered write to the next, ms. */
  readonly longestWithoutWriteMs: number;
  readonly reads: number;
  /** Reads that no replica answered. */
  readonly failedReads: number;
  readonly resolved: number;
  /** Questions of DNS that no replica answered. */
  readonly failedToResolve: number;
}

/**
 * Writes, reads over REST and queries the DNS of a zone all the time, as clients that know all its replicas do: if one does not answer, the next
 * does.
 */
export class StoreWatch {
  private readonly written: string[] = [];
  private lastWrite = performance.now();
  private longest = 0;
  private next = 0;
  private counts = { reads: 0, failedReads: 0, resolved: 0, failedToResolve: 0 };
  private over = false;
  private readonly running: Promise<unknown>;

  /** `replicas` is those that there are at the time of a call; `hostname` is that of the service `WATCHED`. */
  constructor(
    private readonly replicas: () => readonly ProcessPlane[],
    private readonly hostname: string,
  ) {
    this.running = Promise.all([this.repeat(() => this.write()), this.repeat(() => this.read())]);
  }

  get answeredWrites(): number {
    return this.written.length;
  }

  /** Resolves when a write that began after this call was answered. */
  async writes(): Promise<void> {
    const before = this.next + 1;
    const done = (): boolean => this.written.some((name) => Number(name.split('-')[1]) > before);
    while (!done()) await pause();
  }

  /** Ends it. */
  async stop(): Promise<Seen> {
    this.over = true;
    await this.running;
    const there = await Promise.all(
      this.written.map((name) => this.anyAnswers((one) => one.get(`/meshes/default/dataplanes/${name}`))),
    );
    const lostWrites = there.filter((found) => !found).length;
    const { answeredWrites, longest: longestWithoutWriteMs } = this;
    return { answeredWrites, lostWrites, longestWithoutWriteMs: Math.round(longestWithoutWriteMs), ...this.counts };
  }

  private async repeat(ask: () => Promise<void>): Promise<void> {
    while (!this.over) {
      await ask();
      await pause();
    }
  }

  private async write(): Promise<void> {
    const name = `written-${this.next++}`;
    const networking = { address: '10.1.0.1', inbound: [{ port: 80, tags: { 'kuma.io/service': 'written' } }] };
    const body = { type: 'Dataplane', mesh: 'default', name, spec: { networking } };
    const put = async (one: ProcessPlane): Promise<true | undefined> => {
      const status = await one.put(`/meshes/default/dataplanes/${name}`, body);
      return status >= 200 && status < 300 ? true : undefined;
    };
    if (!(await this.anyAnswers(put))) return;
    const now = performance.now();
    [this.longest, this.lastWrite] = [Math.max(this.longest, now - this.lastWrite), now];
    this.written.push(name);
  }

  private async read(): Promise<void> {
    const found = await this.anyAnswers((one) => one.get(`/meshes/default/meshservices/${WATCHED}`));
    this.counts[found ? 'reads' : 'failedReads']++;
    const address = await this.anyAnswers(async ({ dnsAddress }) => {
      const resolver = new Resolver({ timeout: ANSWER_MS, tries: 1 });
      resolver.setServers([dnsAddress]);
      return (await resolver.resolve4(this.hostname))[0];
    });
    this.counts[address === undefined ? 'failedToResolve' : 'resolved']++;
  }

  /** The first answer of a replica; undefined where each refuses or is away. */
  private async anyAnswers<T>(ask: (replica: ProcessPlane) => Promise<T | undefined>): Promise<T | undefined> {
    for (const one of this.replicas()) {
      const answer = await ask(one).catch(() => undefined);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

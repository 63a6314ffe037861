import { get, type ClientRequest } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { RestWriter } from '../../bench/support/rest-writer';
import type { ProcessPlane } from '../support/process-plane';
import { ADMIN_HEADERS } from '../support/admin-credential';

/** One write of the normal load, and what became of it; times by `performance.now()`. */
export interface Write {
  readonly service: string;
  /** Port of the service: a later write of it has a higher one. */
  readonly port: number;
  readonly due: number;
  answered?: number;
  refused?: string;
  /** When the other zone showed it, or a later one of the same service, with address and hostname. */
  seen?: number;
}

const SERVICES = 20;
const FIRST_PORT = 1_000;

/**
 * Normal work beside an attack: services are changed in one zone, a few a second, and the other zone is watched for
 * them. A write counts from when it was due, whether or not earlier ones were answered.
 */
export class NormalLoad {
  readonly writes: Write[] = [];
  private readonly missing = new Map<string, Write[]>();
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly writer: RestWriter;
  private readonly stop = new AbortController();
  private watching: ClientRequest | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    from: ProcessPlane,
    private readonly to: ProcessPlane,
    /** Writes a second. */
    private readonly rate: number,
  ) {
    this.writer = new RestWriter(from);
  }

  start(): void {
    this.watch();
    this.running = this.write();
  }

  /** Writes no more; resolves when all writes are answered. They may still be on their way to the other zone. */
  async end(): Promise<void> {
    this.stop.abort();
    await this.running;
    await Promise.all(this.underWay.values());
  }

  close(): void {
    this.stop.abort();
    this.watching?.destroy();
    this.writer.close();
  }

  /** The last port that was answered with success, by service. */
  answered(): ReadonlyMap<string, number> {
    const answered = this.writes.flatMap(({ service, port, answered: at }): [string, number][] =>
      at === undefined ? [] : [[service, port]],
    );
    return new Map(answered);
  }

  private async write(): Promise<void> {
    const start = performance.now();
    for (let n = 0; !this.stop.signal.aborted; n++) {
      const due = start + (n * 1_000) / this.rate;
      if (due > performance.now()) await pause(due - performance.now());
      const write = { service: `load-${n % SERVICES}`, port: FIRST_PORT + Math.floor(n / SERVICES), due };
      this.writes.push(write);
      this.missing.set(write.service, [...(this.missing.get(write.service) ?? []), write]);
      // Writes one change of a service after the other: of two concurrent writes the later one would be unknown.
      const before = this.underWay.get(write.service) ?? Promise.resolve();
      this.underWay.set(
        write.service,
        before.then(() => this.put(write)),
      );
    }
  }

  private async put(write: Write): Promise<void> {
    const { service, port } = write;
    const spec = { selector: { dataplaneTags: { 'kuma.io/service': service } }, ports: [{ port }] };
    const body = { type: 'MeshService', mesh: 'default', name: service, spec };
    try {
      await this.writer.put({ path: `/meshes/default/meshservices/${service}`, body, service, port });
      write.answered = performance.now();
    } catch (error) {
      write.refused = error instanceof Error ? error.message : String(error);
    }
  }

  /** Opens a watch again when it ends; it starts with everything. */
  private watch(): void {
    const again = (): void => {
      void pause(100, undefined, { signal: this.stop.signal }).then(
        () => this.watch(),
        () => undefined,
      );
    };
    const url = `${this.to.restUrl}/meshes/default/meshservices?watch=true&name=load-`;
    this.watching = get(url, { headers: ADMIN_HEADERS }, (answer) => {
      let rest = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.hear(line);
      });
      answer.on('close', again);
      answer.on('error', () => undefined);
    }).on('error', again);
  }

  private hear(line: string): void {
    if (!line.startsWith('data:') || !line.includes('"Available"') || !line.includes('"vip"')) return;
    const { name, spec } = JSON.parse(line.slice('data:'.length));
    const port: unknown = spec?.ports?.[0]?.port;
    const writes = this.missing.get(name) ?? [];
    if (typeof port !== 'number' || writes.length === 0) return;
    const now = performance.now();
    for (const write of writes) if (write.port <= port) write.seen ??= now;
    this.missing.set(
      name,
      writes.filter((write) => write.port > port),
    );
  }
}

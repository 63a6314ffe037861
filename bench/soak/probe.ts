import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { question, read } from '../../test/dns/ask';
import type { SoakMesh } from './soak-mesh';
import { adminFetch } from '../../test/support/admin-credential';

/** ms between two questions for a name that is not there yet: the resolution of the figures. */
const EVERY = 2;
/** One question may be lost on its way to a process that ends, ms. */
const LOST = 500;
const PATIENCE = 60_000;
/** Names of probes are used again in turn, later than any cooldown of an address. */
const NAMES = 100;

/** One probe. */
export interface Probed {
  /** ms since the soak began. */
  readonly at: number;
  /** ms from the `PUT` in one zone until the DNS of the other answered with an address; undefined if it took longer than a minute. */
  readonly made?: number;
  /** ms from the `DELETE` until the name was gone there. */
  readonly gone?: number;
  /** ms of one question for a name that exists. */
  readonly dns?: number;
  /** Whether something was broken on purpose meanwhile. */
  readonly disturbed: boolean;
}

/** Makes a service in east, waits for its name in the DNS of west, deletes it and waits until the name is gone; again and again. */
export class Probe {
  /** Those since the last `take`. */
  private probed: Probed[] = [];
  private readonly stopped = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private socket: Socket | undefined;

  constructor(
    private readonly mesh: SoakMesh,
    /** ms between the beginnings of two probes. */
    private readonly every: number,
    /** A name of west that exists all the time. */
    private readonly standing: string,
    private readonly disturbed: () => boolean,
  ) {}

  async start(): Promise<void> {
    this.socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(this.socket, 'listening');
    this.running = this.run(performance.now());
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
    this.socket?.close();
  }

  take(): readonly Probed[] {
    const taken = this.probed;
    this.probed = [];
    return taken;
  }

  private async run(start: number): Promise<void> {
    for (let n = 0; !this.stopped.signal.aborted; n++) {
      const wait = Math.max(0, start + n * this.every - performance.now());
      await pause(wait, undefined, { signal: this.stopped.signal }).catch(() => undefined);
      if (this.stopped.signal.aborted) return;
      const before = this.disturbed();
      const at = Math.round(performance.now() - start);
      const probed = await this.once(n).catch(() => ({}));
      this.probed.push({ at, ...probed, disturbed: before || this.disturbed() });
    }
  }

  private async once(n: number): Promise<Omit<Probed, 'at' | 'disturbed'>> {
    const name = `probe-${n % NAMES}`;
    const path = `/meshes/default/meshservices/${name}`;
    const spec = { selector: { dataplaneTags: { 'kuma.io/service': name } }, ports: [{ port: 80 }] };
    const body = JSON.stringify({ type: 'MeshService', mesh: 'default', name, spec });
    const asked = performance.now();
    const stood = (await this.answers(this.standing)) === true;
    const dns = performance.now() - asked;
    const made = await this.timed(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body }, true);
    const gone = await this.timed(path, { method: 'DELETE' }, false);
    return { ...(stood && { dns }), ...(made !== undefined && { made }), ...(gone !== undefined && { gone }) };
  }

  /** Sends a write and waits until the name is there, or is not. */
  private async timed(path: string, how: RequestInit, there: boolean): Promise<number | undefined> {
    const sent = performance.now();
    const call = adminFetch(`${this.mesh.up('east')?.restUrl}${path}`, { ...how, signal: AbortSignal.timeout(5_000) });
    const answered = call.then((answer) => answer.arrayBuffer()).catch(() => undefined);
    const hostname = `${path.slice(path.lastIndexOf('/') + 1)}.svc.east.mesh.local`;
    while ((await this.answers(hostname)) !== there) {
      if (performance.now() - sent > PATIENCE) return undefined;
      await pause(EVERY);
    }
    const passed = performance.now() - sent;
    await answered;
    return passed;
  }

  /** Whether west's DNS has an address for a name; undefined where no answer came. */
  private async answers(name: string): Promise<boolean | undefined> {
    const port = Number(this.mesh.up('west')?.plane?.dnsAddress.split(':')[1] ?? 0);
    const { socket } = this;
    if (!socket || port === 0) return undefined;
    const reply = once(socket, 'message', { signal: AbortSignal.timeout(LOST) });
    socket.send(question({ name, recursion: false }), port, '127.0.0.1');
    try {
      const arrived: readonly unknown[] = await reply;
      const [bytes] = arrived;
      if (!Buffer.isBuffer(bytes)) return undefined;
      const { answers, rcode, packet } = read(bytes);
      if (packet.questions?.[0]?.name !== name) return undefined;
      return answers.length > 0 ? true : rcode === 'NXDOMAIN' ? false : undefined;
    } catch {
      return undefined;
    }
  }
}

import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { ProcessMesh } from '../../test/support/process-mesh';
import type { Answer, Order } from './crowd-protocol';

/** Options of a crowd of light zones. */
export interface CrowdShape {
  readonly zones: number;
  readonly services: number;
  readonly processes: number;
  readonly tls: boolean;
}

/** Sum of what all zones received since they connected. */
export interface CrowdSum {
  /** Versions of services. */
  readonly got: number;
  readonly got_bytes: number;
  /** Connections that had to be opened anew. */
  readonly retries: number;
}

/** Light zones in a few processes. */
export class LightCrowd {
  private readonly names: string[];

  private constructor(
    private readonly children: readonly ChildProcess[],
    private readonly shape: CrowdShape,
  ) {
    this.names = Array.from({ length: shape.zones }, (_, n) => `zone-${n}`);
  }

  static async create(mesh: ProcessMesh, shape: CrowdShape): Promise<LightCrowd> {
    const execArgv = ['-r', join(__dirname, '..', 'register.cjs')];
    const child = (): ChildProcess => fork(join(__dirname, 'light-zones.ts'), [], { execArgv }).setMaxListeners(0);
    const crowd = new LightCrowd(Array.from({ length: shape.processes }, child), shape);
    const authority = shape.tls ? await mesh.global.text('/kds/ca') : undefined;
    for (const [i, each] of crowd.children.entries()) {
      const own = crowd.names.filter((_, n) => n % shape.processes === i);
      const zones: { zone: string; token: string }[] = [];
      for (const zone of own) zones.push({ zone, token: await mesh.zoneToken(zone) });
      const services = Math.floor(shape.services / shape.zones);
      const { kdsAddress: address } = mesh.global;
      const base = { type: 'zones', zones, address, services, together: 8 } as const;
      await order(each, authority === undefined ? base : { ...base, authority });
    }
    return crowd;
  }

  /** Lets every process do it; resolves with what all zones have got. */
  async all(type: 'join' | 'upload' | 'download' | 'leave'): Promise<CrowdSum> {
    const sums = await Promise.all(this.children.map((child) => order(child, { type })));
    return sums.reduce((a, b) => ({
      got: a.got + b.got,
      got_bytes: a.got_bytes + b.got_bytes,
      retries: a.retries + b.retries,
    }));
  }

  /** Changes a service in one zone; resolves with the ms until the last of all other zones has it. */
  async spread(service: string, origin: number): Promise<number> {
    const zone = this.names[origin % this.names.length] ?? '';
    const child = this.children[(origin % this.names.length) % this.shape.processes];
    if (!child) throw new Error('no zones');
    const busy = this.children.filter((_, i) =>
      this.names.some((name, n) => n % this.shape.processes === i && name !== zone),
    );
    await Promise.all(busy.map((each) => order(each, { type: 'follow', service, except: zone })));
    const everywhere = Promise.all(busy.map((each) => heard(each, service)));
    const at = Number(process.hrtime.bigint()) / 1e6;
    child.send({ type: 'change', zone, service } satisfies Order);
    return Math.max(...(await everywhere)) - at;
  }

  get pids(): readonly number[] {
    return this.children.map(({ pid = 0 }) => pid);
  }

  close(): void {
    for (const child of this.children) if (child.connected) child.disconnect();
  }
}

function order(child: ChildProcess, what: Order): Promise<CrowdSum> {
  const done = answer(child, (message) => (message.type === 'done' && message.of === what.type ? message : undefined));
  child.send(what);
  return done;
}

function heard(child: ChildProcess, service: string): Promise<number> {
  return answer(child, (message) =>
    message.type === 'everywhere' && message.service === service ? message.at : undefined,
  );
}

function answer<T>(child: ChildProcess, pick: (message: Answer) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = (): void => void child.off('message', hear).off('exit', ended);
    const ended = (): void => {
      over();
      reject(new Error('a process of light zones ended'));
    };
    const hear = (message: Answer): void => {
      const picked = pick(message);
      if (picked === undefined && message.type !== 'failed') return;
      over();
      if (message.type === 'failed') reject(new Error(message.error));
      else if (picked !== undefined) resolve(picked);
    };
    child.on('message', hear).on('exit', ended);
  });
}

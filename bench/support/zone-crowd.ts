import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { ProcessMesh } from '../../test/support/process-mesh';
import type { Answer, Order, SimulatedZone } from './simulated-zones-protocol';

type AnswerOf<Type extends Answer['type']> = Extract<Answer, { readonly type: Type }>;

/** Many simulated zones in a few processes, connected to the global of a mesh. */
export class ZoneCrowd {
  private constructor(private readonly children: readonly ChildProcess[]) {}

  /** Connects `count` zones with tokens and TLS; resolves when each holds the default mesh. */
  static async join(mesh: ProcessMesh, count: number, processes: number): Promise<ZoneCrowd> {
    const execArgv = ['-r', join(__dirname, '..', 'register.cjs')];
    const child = (): ChildProcess => fork(join(__dirname, 'simulated-zones.ts'), [], { execArgv });
    const crowd = new ZoneCrowd(Array.from({ length: processes }, child));
    const names = Array.from({ length: count }, (_, i) => `zone-${i}`);
    const caFile = await mesh.authorityFile();
    await Promise.all(
      crowd.children.map(async (each, i) => {
        const own = names.filter((_, n) => n % processes === i);
        const zones: SimulatedZone[] = [];
        for (const zone of own) zones.push({ zone, token: await mesh.zoneToken(zone) });
        await order(each, { type: 'join', zones, address: mesh.global.kdsAddress, caFile }, 'joined');
      }),
    );
    return crowd;
  }

  /** Makes a service in one zone; resolves with the ms until the last of all zones has it. */
  async spread(service: string): Promise<number> {
    const [origin] = this.children;
    if (!origin) throw new Error('no zones');
    await Promise.all(this.children.map((child) => order(child, { type: 'follow', service }, 'following')));
    const everywhere = Promise.all(this.children.map((child) => answer(child, 'everywhere')));
    const { at } = await order(origin, { type: 'write', service }, 'written');
    return Math.max(...(await everywhere).map((last) => last.at)) - at;
  }

  get pids(): readonly number[] {
    return this.children.map(({ pid = 0 }) => pid);
  }

  /** Ends the processes, without farewell. */
  close(): void {
    for (const child of this.children) child.disconnect();
  }
}

function order<Type extends Answer['type']>(child: ChildProcess, what: Order, answered: Type): Promise<AnswerOf<Type>> {
  const promise = answer(child, answered);
  child.send(what);
  return promise;
}

function answer<Type extends Answer['type']>(child: ChildProcess, type: Type): Promise<AnswerOf<Type>> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('a process of simulated zones ended'));
    const hear = (message: AnswerOf<Type>): void => {
      if (message.type !== type) return;
      child.off('message', hear).off('exit', ended);
      resolve(message);
    };
    child.on('message', hear).on('exit', ended);
  });
}

import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { pinned } from './dnsperf';

/** Figures that a server process reports. */
export type Told = Record<string, number>;

/** A server of bench/support on the first core: it sends its port when it is ready, and its costs on request. */
export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async start(file: string, args: readonly string[] = []): Promise<ServerProcess> {
    const [execPath = '', ...before] = pinned('0', [process.execPath]);
    const execArgv = [...before, '--expose-gc', '-r', join(__dirname, '..', 'register.cjs')];
    const child = fork(join(__dirname, file), args, { execPath, execArgv });
    const { port = 0 } = await nextMessage(child);
    return new ServerProcess(child, port);
  }

  tell(): Promise<Told> {
    return this.order('tell');
  }

  /** Tells the server to change one resource, if it can. */
  change(): Promise<Told> {
    return this.order('change');
  }

  private order(order: 'tell' | 'change'): Promise<Told> {
    const told = nextMessage(this.child);
    this.child.send(order);
    return told;
  }

  /** CPU time of all its threads so far, s. */
  async cpuSeconds(): Promise<number> {
    const { user = 0, system = 0 } = await this.tell();
    return (user + system) / 1e6;
  }

  stop(): void {
    this.child.disconnect();
  }
}

function nextMessage(child: ChildProcess): Promise<Told> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the server ended'));
    child.once('exit', ended);
    child.once('message', (message: Told) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}

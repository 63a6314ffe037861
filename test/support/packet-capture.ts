import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { until } from './until';

/** Whether this account may listen to loopback with tcpdump. */
export const canCapture =
  spawnSync('tcpdump', ['-i', 'lo', '-c', '1', '-d', 'tcp'], { stdio: 'ignore' }).status === 0 &&
  process.getuid?.() === 0;

/** The packets of loopback that match an expression of pcap-filter(7), each whole, as tcpdump writes them. */
export class PacketCapture {
  private readonly chunks: Buffer[] = [];

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => this.chunks.push(chunk));
  }

  /** Resolves when it listens. */
  static async start(filter: string): Promise<PacketCapture> {
    const options = ['-i', 'lo', '--immediate-mode', '-U', '-s', '0', '-w', '-'];
    const child = spawn('tcpdump', [...options, filter], { stdio: ['ignore', 'pipe', 'pipe'] });
    const capture = new PacketCapture(child);
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    await until('tcpdump listens', () => {
      if (child.exitCode !== null) throw new Error(`tcpdump ended with ${child.exitCode}: ${said}`);
      return said.includes('listening on');
    });
    return capture;
  }

  /** Everything so far, headers of packets included. */
  get text(): string {
    return Buffer.concat(this.chunks).toString('latin1');
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'close');
    this.child.kill('SIGINT');
    await ended;
  }
}

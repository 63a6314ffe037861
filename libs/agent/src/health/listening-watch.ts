import { underSignals, type Clock } from '@causeway/runtime';
import { LastingProgram, type LastingProgramOptions } from '../programs/lasting-program';
import { isListening, listListeningByPort, type SocketsByPort } from './listening-sockets';
import { probeTcp, type ProbeTarget } from './probes';

/** Source of events of sockets. */
export interface SocketMonitor {
  /** Whether the end of each socket is reported. */
  readonly isRunning: boolean;
  close(): void;
}

export interface ListeningWatchOptions {
  readonly clock: Clock;
  /** Called when a look is due earlier than before. */
  readonly wake: () => void;
  /** Reads listening sockets; default: `listListeningByPort`. */
  readonly listening?: () => SocketsByPort | undefined;
  /** Reports sockets of these ports that end; default: `monitorSockets`. */
  readonly monitor?: (ports: readonly number[], onEvent: () => void) => SocketMonitor;
}

/** Interval at which sockets are looked at that nothing reports, ms. */
const POLL_INTERVAL = 250;
/** Minimum and maximum interval of reads of the table while ends of sockets are reported, ms. */
const [MIN_INTERVAL, MAX_INTERVAL] = [1_000, 10_000];
/** Maximum share of a core that reads of the table take in that interval, as a divisor. */
const MAX_COST = 1_000;
/** Maximum number of connections of one look to addresses at which nothing listened. */
const MAX_PROBES = 8;
const PROBE_TIMEOUT = 200;
/** Time for which an address is not tried again that answers although the table lacks it: a socket of another network namespace, ms. */
const UNSEEN_TIME = 10_000;

/** Runs `ss`, which prints each TCP socket of these ports that ends. It writes whole blocks into a pipe unless `stdbuf` asks for lines. */
function monitorSockets(
  ports: readonly number[],
  { clock, onEvent }: Pick<LastingProgramOptions, 'clock' | 'onEvent'>,
): SocketMonitor {
  const ofPorts = ports.map((port) => `sport = :${port}`).join(' or ');
  // Not of connections, which have a port at their other end.
  const command = ['stdbuf', '-oL', 'ss', '-tnHE', `( ${ofPorts} ) and dport = :0`];
  return new LastingProgram({ command, isEvent: (line) => line !== '', onEvent, clock });
}

/**
 * Watches which addresses of this machine have a listening socket (docs/adr/0038-listening-sockets.md). The kernel reports sockets that end; a socket that
 * begins is found by a connection to the address, tried only while nothing listens there. The table of all sockets is read after such an event, and
 * else at an interval that grows with its size.
 */
export class ListeningWatch {
  private targets: readonly ProbeTarget[] = [];
  /** Addresses at which nothing listened at the last look, the one to try next first. */
  private absent: readonly ProbeTarget[] = [];
  /** Times until which addresses are not tried, by `Clock.elapsed`. */
  private readonly untried = new Map<ProbeTarget, number>();
  private monitor: SocketMonitor | undefined;
  private ports = '';
  /** Time of the next read of the table and of the next tries, by `Clock.elapsed`. */
  private readAt = Infinity;
  private probeAt = Infinity;

  constructor(private readonly options: ListeningWatchOptions) {}

  /** Replaces the watched addresses, all of this machine. The next look is due at once. */
  setTargets(targets: readonly ProbeTarget[]): void {
    this.targets = targets;
    this.untried.clear();
    const ports = [...new Set(targets.map(({ port }) => port))].sort((a, b) => a - b);
    this.readAt = ports.length > 0 ? this.options.clock.elapsed() : Infinity;
    this.probeAt = Infinity;
    if (JSON.stringify(ports) !== this.ports) {
      this.monitor?.close();
      this.monitor = undefined;
      this.ports = JSON.stringify(ports);
      if (ports.length > 0) this.monitor = this.startMonitor(ports);
    }
    this.options.wake();
  }

  /** Time of the next look, by `Clock.elapsed`. */
  get dueAt(): number {
    return Math.min(this.readAt, this.probeAt);
  }

  /** Looks if a look is due. Returns the sockets if the table was read. */
  async look(signal: AbortSignal): Promise<SocketsByPort | undefined> {
    const { clock, listening = listListeningByPort } = this.options;
    if (clock.elapsed() < this.dueAt) return undefined;
    if (clock.elapsed() < this.readAt && !(await this.findsListener(signal))) {
      this.probeAt = clock.elapsed() + POLL_INTERVAL;
      return undefined;
    }
    const isReported = this.monitor?.isRunning === true;
    const began = clock.elapsed();
    const sockets = listening();
    if (this.targets.length === 0) return sockets;
    const now = clock.elapsed();
    const cost = Math.ceil(((now - began) * MAX_COST) / MIN_INTERVAL) * MIN_INTERVAL;
    const interval = Math.max(MIN_INTERVAL, Math.min(MAX_INTERVAL, cost));
    // On a system without the table nothing is known of sockets.
    this.readAt = now + (sockets === undefined || isReported ? interval : POLL_INTERVAL);
    const found = sockets ?? new Map<number, never>();
    const isTried = (target: ProbeTarget): boolean => (this.untried.get(target) ?? 0) <= now;
    const absent = sockets ? this.targets.filter((target) => !isListening(found, target)) : [];
    for (const target of this.targets) if (!absent.includes(target)) this.untried.delete(target);
    this.absent = absent.filter(isTried);
    this.probeAt = isReported && this.absent.length > 0 ? now + POLL_INTERVAL : Infinity;
    return sockets;
  }

  close(): void {
    this.monitor?.close();
  }

  private startMonitor(ports: readonly number[]): SocketMonitor {
    const { clock, wake, monitor } = this.options;
    const onEvent = (): void => {
      this.readAt = clock.elapsed();
      wake();
    };
    return monitor ? monitor(ports, onEvent) : monitorSockets(ports, { clock, onEvent });
  }

  /** Returns whether a connection is accepted at an address at which nothing listened. */
  private async findsListener(signal: AbortSignal): Promise<boolean> {
    const tried = this.absent.slice(0, MAX_PROBES);
    this.absent = [...this.absent.slice(MAX_PROBES), ...tried];
    const results = await Promise.all(
      tried.map((target) =>
        underSignals([signal, AbortSignal.timeout(PROBE_TIMEOUT)], (either) => probeTcp(target, either)),
      ),
    );
    const accepting = tried.filter((_, i) => results[i]?.ok);
    for (const target of accepting) this.untried.set(target, this.options.clock.elapsed() + UNSEEN_TIME);
    return accepting.length > 0;
  }
}

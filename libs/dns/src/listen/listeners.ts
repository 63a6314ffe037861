import type { Clock } from '@causeway/runtime';
import { networkInterfaces } from 'node:os';
import type { DnsMetrics } from '../dns-metrics';
import type { DnsConfig } from '../dns-config';
import { TcpListener } from './tcp-listener';
import { UdpListener, type PacketHandler } from './udp-listener';

/** What doors work with. */
export interface ListenersOptions {
  readonly respond: PacketHandler;
  readonly clock: Clock;
  readonly config: DnsConfig;
  readonly metrics: DnsMetrics;
}

interface DnsListener {
  readonly host: string;
  readonly port: number;
  readonly udp: UdpListener;
  readonly tcp: TcpListener;
}

const WILDCARDS = ['0.0.0.0', '::'];
const TRIES_FOR_A_FREE_PORT = 20;

/** Every address the server is asked at. */
export class Listeners {
  private all: DnsListener[] = [];

  constructor(private readonly options: ListenersOptions) {}

  /** Opens both transports at one port; 0 = one that is free for both. Resolves to the port. */
  async open(host: string, port: number): Promise<number> {
    for (let tries = 1; ; tries++) {
      const tcp = await TcpListener.open({ host, port }, this.tcpOptions());
      try {
        const udp = await UdpListener.open({ host, port: tcp.port }, this.options.respond);
        this.all.push({ host, port: tcp.port, udp, tcp });
        return tcp.port;
      } catch (error) {
        await tcp.close();
        if (port !== 0 || tries === TRIES_FOR_A_FREE_PORT) throw error;
      }
    }
  }

  async close(): Promise<void> {
    const closing = this.all;
    this.all = [];
    await Promise.all(closing.flatMap(({ udp, tcp }) => [udp.close(), tcp.close()]));
  }

  get connections(): number {
    return this.all.reduce((sum, { tcp }) => sum + tcp.connections, 0);
  }

  /** Addresses that lead here from outside this process; those of the machine where a door is open to all. */
  addresses(): string[] {
    return [...new Set(this.all.flatMap(({ host }) => reachableAt(host)))];
  }

  /** True when a resolver at this address and port would be ourselves. */
  isOwnAddress(address: string, port: number): boolean {
    return this.all.some(
      (door) =>
        door.port === port && (door.host === address || (WILDCARDS.includes(door.host) && isOfThisMachine(address))),
    );
  }

  private tcpOptions(): Parameters<typeof TcpListener.open>[1] {
    const { respond, clock, config, metrics: tally } = this.options;
    return { respond, clock, limits: config.limits, onRefused: () => tally.dropped('connections') };
  }
}

function machineAddresses(): { readonly address: string; readonly internal: boolean }[] {
  return Object.values(networkInterfaces()).flatMap((each) => each ?? []);
}

function isOfThisMachine(address: string): boolean {
  return (
    /^127\./.test(address) || WILDCARDS.includes(address) || machineAddresses().some((own) => own.address === address)
  );
}

function reachableAt(host: string): string[] {
  if (!WILDCARDS.includes(host)) return [host];
  return machineAddresses()
    .filter(({ address, internal }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
}

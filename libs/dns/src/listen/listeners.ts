import { networkInterfaces } from 'node:os';
import type { Clock } from '@causeway/runtime';
import type { DnsConfig } from '../dns-config';
import type { DnsMetrics } from '../dns-metrics';
import { TcpListener } from './tcp-listener';
import { UdpListener, type PacketHandler } from './udp-listener';

/** Dependencies of the listeners. */
export interface ListenersOptions {
  readonly respond: PacketHandler;
  readonly clock: Clock;
  readonly config: DnsConfig;
  readonly metrics: DnsMetrics;
}

/** UDP and TCP at one address and port. */
interface DnsListener {
  readonly host: string;
  readonly port: number;
  readonly udp: UdpListener;
  readonly tcp: TcpListener;
}

const WILDCARDS = ['0.0.0.0', '::'];
const TRIES_FOR_A_FREE_PORT = 20;

/** All addresses at which the server listens. */
export class Listeners {
  private all: DnsListener[] = [];

  constructor(private readonly options: ListenersOptions) {}

  /** Opens UDP and TCP at one port; port 0 chooses one that is free for both. Resolves to the port. */
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

  /** Closes every listener and connection. */
  async close(): Promise<void> {
    const closing = this.all;
    this.all = [];
    await Promise.all(closing.flatMap(({ udp, tcp }) => [udp.close(), tcp.close()]));
  }

  /** Number of open TCP connections. */
  get connections(): number {
    return this.all.reduce((sum, { tcp }) => sum + tcp.connections, 0);
  }

  /** Returns the addresses at which other hosts reach this server. A wildcard stands for the addresses of this host. */
  addresses(): string[] {
    return [...new Set(this.all.flatMap(({ host }) => reachableAt(host)))];
  }

  /** True if a resolver at this address and port is this server. */
  isOwnAddress(address: string, port: number): boolean {
    return this.all.some(
      (listener) =>
        listener.port === port &&
        (listener.host === address || (WILDCARDS.includes(listener.host) && isOfThisMachine(address))),
    );
  }

  private tcpOptions(): Parameters<typeof TcpListener.open>[1] {
    const { respond, clock, config, metrics } = this.options;
    return { respond, clock, limits: config.limits, onRefused: () => metrics.dropped('connections') };
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

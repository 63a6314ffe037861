import type { Clock } from '@causeway/runtime';
import { networkInterfaces } from 'node:os';
import type { Tally } from '../answer/tally';
import type { DnsConfig } from '../dns-config';
import { TcpDoor } from './tcp-door';
import { UdpDoor, type Respond } from './udp-door';

/** What doors work with. */
export interface DoorsOptions {
  readonly respond: Respond;
  readonly clock: Clock;
  readonly config: DnsConfig;
  readonly tally: Tally;
}

interface Door {
  readonly host: string;
  readonly port: number;
  readonly udp: UdpDoor;
  readonly tcp: TcpDoor;
}

const WILDCARDS = ['0.0.0.0', '::'];
const TRIES_FOR_A_FREE_PORT = 20;

/** Every address the server is asked at. */
export class Doors {
  private all: Door[] = [];

  constructor(private readonly options: DoorsOptions) {}

  /** Opens both transports at one port; 0 = one that is free for both. Resolves to the port. */
  async open(host: string, port: number): Promise<number> {
    for (let tries = 1; ; tries++) {
      const tcp = await TcpDoor.open({ host, port }, this.tcpOptions());
      try {
        const udp = await UdpDoor.open({ host, port: tcp.port }, this.options.respond);
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
  leadsHere(address: string, port: number): boolean {
    return this.all.some(
      (door) =>
        door.port === port && (door.host === address || (WILDCARDS.includes(door.host) && isOfThisMachine(address))),
    );
  }

  private tcpOptions(): Parameters<typeof TcpDoor.open>[1] {
    const { respond, clock, config, tally } = this.options;
    return { respond, clock, limits: config.limits, refused: () => tally.dropped('connections') };
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

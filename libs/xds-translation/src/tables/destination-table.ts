import { compareText, identityKey } from '@causeway/resources';
import { hasOtherConfig } from '../model/compare-destinations';
import type { Destination, DestinationConfig } from '../model/destination';
import type { DestinationChange } from '../model/model-change';
import { NO_READS, type Reads } from '../reads/recorded-reads';
import { hostPort } from '../names/resource-names';

/**
 * Indexes destinations by the keys of connections: an address in a mesh, and a server name at this zone's ingress. If two services claim one key, the
 * older gets it, so no service can take over the name of an existing one.
 */
export class DestinationTable {
  private readonly byVip: Claims;
  private readonly bySni: Claims;
  private readonly byTarget: Claims;
  private readonly byEgress = new Map<string, Destination>();
  /** The number of destinations of a mesh that are reached through the egress. */
  private readonly leaving = new Map<string, number>();

  constructor(private readonly reads: Reads = NO_READS) {
    this.byVip = new Claims('address', byAge, reads);
    this.bySni = new Claims('server-name', byAge, reads);
    this.byTarget = new Claims('target', grpcFirst, reads);
  }

  replace({ before, after }: DestinationChange): void {
    const claim = (
      keysOf: (of: Destination) => readonly string[],
    ): [DestinationClaim | undefined, DestinationClaim | undefined] => {
      const [was, is] = [before, after].map((by) => by && { by, keys: keysOf(by) });
      return [was, is];
    };
    this.byVip.replace(...claim((of) => (of.vip === '' ? [] : [formatKey(of)])));
    this.bySni.replace(...claim(serverNames));
    this.byTarget.replace(...claim((of) => listTargets(of).map((target) => meshKey(of.service.mesh, target))));
    this.replaceLeaving(before, after);
  }

  private replaceLeaving(before: Destination | undefined, after: Destination | undefined): void {
    for (const [each, change] of [
      [before, -1],
      [after, 1],
    ] as const) {
      if (!each?.egress) continue;
      const { mesh } = each.service;
      const known = this.leaving.get(mesh) ?? 0;
      const count = known + change;
      if (count > 0) this.leaving.set(mesh, count);
      else this.leaving.delete(mesh);
      if (known > 0 !== count > 0) this.reads.changed('leaving');
    }
    if (before?.egress) this.byEgress.delete(before.egress.serverName);
    if (after?.egress) this.byEgress.set(after.egress.serverName, after);
    for (const each of [before, after])
      if (each?.egress) this.reads.changed(`through-egress ${each.egress.serverName}`);
    if (before?.egress ?? after?.egress) this.reads.changed('through-egress');
  }

  /** Returns the destination at `address:port` of a mesh. */
  atVip(mesh: string, vip: string): Destination | undefined {
    return this.byVip.holder(meshKey(mesh, vip));
  }

  /** Returns the destination that this zone's ingress serves under a server name. */
  withSni(sni: string): Destination | undefined {
    return this.bySni.holder(sni);
  }

  /** Returns the destination that this zone's egress serves under a server name. */
  throughEgress(serverName: string): Destination | undefined {
    this.reads.read(`through-egress ${serverName}`);
    return this.byEgress.get(serverName);
  }

  /** Returns all destinations that are reached through this zone's egress. */
  throughEgresses(): Iterable<Destination> {
    this.reads.read('through-egress');
    return this.byEgress.values();
  }

  leaves(mesh: string): boolean {
    this.reads.read('leaving');
    return this.leaving.has(mesh);
  }

  /** Returns the meshes with destinations that are reached through the egress; sorted. */
  leavingMeshes(): readonly string[] {
    this.reads.read('leaving');
    return [...this.leaving.keys()].sort(compareText);
  }

  /** Returns the destination of a gRPC channel to `xds:///<target>`, in a mesh. */
  ofTarget(mesh: string, target: string): Destination | undefined {
    return this.byTarget.holder(meshKey(mesh, target));
  }

  /** Returns a destination of the service that has a hostname, in a mesh. */
  withHostname(mesh: string, hostname: string): DestinationConfig | undefined {
    const found = this.byTarget.config(meshKey(mesh, hostname));
    return found?.hostnames.includes(hostname) ? found : undefined;
  }

  /** Returns the destination at `address:port` of a mesh, without its endpoints. */
  configAtVip(mesh: string, vip: string): DestinationConfig | undefined {
    return this.byVip.config(meshKey(mesh, vip));
  }

  /** Returns the destination of the target of a gRPC channel, without its endpoints. */
  configOfTarget(mesh: string, target: string): DestinationConfig | undefined {
    return this.byTarget.config(meshKey(mesh, target));
  }

  /** Returns the destination that this zone's ingress serves under a server name, without its endpoints. */
  configWithSni(sni: string): DestinationConfig | undefined {
    return this.bySni.config(sni);
  }
}

/** Returns the `address:port` of a destination that has an address. */
export function formatVip({ vip, port }: Pick<Destination, 'vip' | 'port'>): string {
  return hostPort({ address: vip, port });
}

/** Returns the server names under which this zone's ingress serves a destination. */
export function serverNames({ servedHere, sni }: Pick<Destination, 'servedHere' | 'sni'>): readonly string[] {
  return servedHere ? [sni.kri, sni.hash].filter((each) => each !== '') : [];
}

/**
 * Returns the targets by which gRPC channels name a destination: a hostname, with or without the port, or a server name, which the ingresses of other
 * zones know too.
 */
export function listTargets({ hostnames, port, sni }: Destination): readonly string[] {
  return [
    ...hostnames.flatMap((name) => [name, `${name}:${port}`]),
    ...[sni.kri, sni.hash].filter((each) => each !== ''),
  ];
}

function formatKey(destination: Destination): string {
  return meshKey(destination.service.mesh, formatVip(destination));
}

function meshKey(mesh: string, name: string): string {
  return `${mesh} ${name}`;
}

interface DestinationClaim {
  readonly by: Destination;
  readonly keys: readonly string[];
}

class Claims {
  private readonly byKey = new Map<string, readonly Destination[]>();

  /** `what`: a word for the keys, used in the names of recorded reads. */
  constructor(
    private readonly what: string,
    private readonly order: (a: Destination, b: Destination) => number,
    private readonly reads: Reads,
  ) {}

  holder(key: string): Destination | undefined {
    this.reads.read(`${this.what} ${key}`);
    return this.byKey.get(key)?.[0];
  }

  config(key: string): DestinationConfig | undefined {
    this.reads.read(`${this.what}-config ${key}`);
    return this.byKey.get(key)?.[0];
  }

  /** `before` and `after`: the claim of one destination before and after a change. */
  replace(before: DestinationClaim | undefined, after: DestinationClaim | undefined): void {
    const keys = new Set([...(before?.keys ?? []), ...(after?.keys ?? [])]);
    for (const key of keys) {
      const known = this.byKey.get(key) ?? [];
      const others = known.filter((each) => each.name !== before?.by.name);
      const now = after?.keys.includes(key) === true ? [...others, after.by].sort(this.order) : others;
      if (now.length > 0) this.byKey.set(key, now);
      else this.byKey.delete(key);
      if (known[0] === now[0]) continue;
      this.reads.changed(`${this.what} ${key}`, now.length === 0);
      if (known[0]?.name !== now[0]?.name || hasOtherConfig({ before: known[0], after: now[0] }))
        this.reads.changed(`${this.what}-config ${key}`, now.length === 0);
    }
  }
}

function byAge(a: Destination, b: Destination): number {
  return byServiceAge(a, b) || compareText(a.name, b.name);
}

/** Orders by the age of the service; within a service, ports that speak gRPC first. */
function grpcFirst(a: Destination, b: Destination): number {
  const rank = ({ protocol }: Destination): number => (protocol === 'grpc' ? 0 : 1);
  const sameService = rank(a) - rank(b) || a.port - b.port;
  return byServiceAge(a, b) || compareText(identityKey(a.service), identityKey(b.service)) || sameService;
}

/** An unknown creation time ranks last. */
function byServiceAge(a: Destination, b: Destination): number {
  return (a.createdAt || Number.MAX_VALUE) - (b.createdAt || Number.MAX_VALUE);
}

import { compareText, identityKey } from '@causeway/resources';
import type { Destination } from '../model/destination';
import type { DestinationChange } from '../model/model-change';
import { isHttp } from './messages/clusters';
import { hostPort } from './names';

/**
 * The destinations by what connections name: an address of a mesh, and a server name at this zone's ingress. While two services
 * claim one, the older has it, so nobody can take over the name of a service that exists.
 */
export class DestinationTable {
  private readonly byVip = new Claims(byAge);
  private readonly bySni = new Claims(byAge);
  private readonly byTarget = new Claims(grpcFirst);
  private readonly byEgress = new Map<string, Destination>();
  /** How many destinations of a mesh are reached through the egress. */
  private readonly leaving = new Map<string, number>();
  /** Grows when an address of an HTTP service comes or goes. */
  httpVersion = 0;

  replace({ before, after }: DestinationChange): void {
    const keys = new Set([before, after].flatMap((one) => (one && one.vip !== '' ? [keyOf(one)] : [])));
    const served = [...keys].map((key) => this.isHttpAt(key));
    if (before) {
      this.byVip.remove(keyOf(before), before);
      for (const sni of serverNames(before)) this.bySni.remove(sni, before);
      for (const target of targetsOf(before)) this.byTarget.remove(meshKey(before.service.mesh, target), before);
    }
    if (after) {
      if (after.vip !== '') this.byVip.add(keyOf(after), after);
      for (const sni of serverNames(after)) this.bySni.add(sni, after);
      for (const target of targetsOf(after)) this.byTarget.add(meshKey(after.service.mesh, target), after);
    }
    this.replaceLeaving(before, after);
    // Who lists a destination lists its address, whichever service has it.
    const isMoved = keys.size > 1 || before?.vip !== after?.vip || before?.protocol !== after?.protocol;
    [...keys].forEach((key, i) => {
      const now = this.isHttpAt(key);
      if (now !== served[i] || (isMoved && now)) this.httpVersion += 1;
    });
  }

  private replaceLeaving(before: Destination | undefined, after: Destination | undefined): void {
    for (const [each, change] of [
      [before, -1],
      [after, 1],
    ] as const) {
      if (!each?.egress) continue;
      const { mesh } = each.service;
      const count = (this.leaving.get(mesh) ?? 0) + change;
      if (count > 0) this.leaving.set(mesh, count);
      else this.leaving.delete(mesh);
    }
    if (before?.egress) this.byEgress.delete(before.egress.serverName);
    if (after?.egress) this.byEgress.set(after.egress.serverName, after);
  }

  private isHttpAt(key: string): boolean {
    const holder = this.byVip.holder(key);
    return holder !== undefined && isHttp(holder);
  }

  /** The destination at `address:port` of a mesh. */
  atVip(mesh: string, vip: string): Destination | undefined {
    return this.byVip.holder(meshKey(mesh, vip));
  }

  /** The destination that this zone's ingress serves under a server name. */
  withSni(sni: string): Destination | undefined {
    return this.bySni.holder(sni);
  }

  /** The destination that this zone's egress reaches under a server name. */
  throughEgress(serverName: string): Destination | undefined {
    return this.byEgress.get(serverName);
  }

  /** All destinations that are reached through this zone's egress. */
  throughEgresses(): Iterable<Destination> {
    return this.byEgress.values();
  }

  leaves(mesh: string): boolean {
    return this.leaving.has(mesh);
  }

  /** The meshes with destinations that are reached through the egress; sorted. */
  leavingMeshes(): readonly string[] {
    return [...this.leaving.keys()].sort(compareText);
  }

  /** The destination of a gRPC channel to `xds:///<target>`, in a mesh. */
  ofTarget(mesh: string, target: string): Destination | undefined {
    return this.byTarget.holder(meshKey(mesh, target));
  }

  /** A destination of the service that has a hostname, in a mesh. */
  withHostname(mesh: string, hostname: string): Destination | undefined {
    const found = this.ofTarget(mesh, hostname);
    return found?.hostnames.includes(hostname) ? found : undefined;
  }

  /** All server names that this zone's ingress serves. */
  serverNames(): Iterable<string> {
    return this.bySni.keys();
  }
}

/** `address:port` of a destination with an address. */
export function vipOf({ vip, port }: Destination): string {
  return hostPort({ address: vip, port });
}

/** The server names under which this zone's ingress serves a destination. */
export function serverNames({ servedHere, sni }: Destination): readonly string[] {
  return servedHere ? [sni.kri, sni.hash].filter((each) => each !== '') : [];
}

/**
 * What gRPC channels name a destination by: a hostname, alone or with the port, or a server name, which the ingresses of
 * other zones know too.
 */
export function targetsOf({ hostnames, port, sni }: Destination): readonly string[] {
  return [
    ...hostnames.flatMap((name) => [name, `${name}:${port}`]),
    ...[sni.kri, sni.hash].filter((each) => each !== ''),
  ];
}

function keyOf(destination: Destination): string {
  return meshKey(destination.service.mesh, vipOf(destination));
}

function meshKey(mesh: string, name: string): string {
  return `${mesh} ${name}`;
}

class Claims {
  private readonly byKey = new Map<string, readonly Destination[]>();

  constructor(private readonly order: (a: Destination, b: Destination) => number) {}

  keys(): Iterable<string> {
    return this.byKey.keys();
  }

  holder(key: string): Destination | undefined {
    return this.byKey.get(key)?.[0];
  }

  add(key: string, destination: Destination): void {
    this.byKey.set(key, [...(this.byKey.get(key) ?? []), destination].sort(this.order));
  }

  remove(key: string, { name }: Destination): void {
    const left = (this.byKey.get(key) ?? []).filter((each) => each.name !== name);
    if (left.length > 0) this.byKey.set(key, left);
    else this.byKey.delete(key);
  }
}

function byAge(a: Destination, b: Destination): number {
  return byServiceAge(a, b) || compareText(a.name, b.name);
}

/** The older service, and of its ports the first that speaks gRPC, else the first. */
function grpcFirst(a: Destination, b: Destination): number {
  const rank = ({ protocol }: Destination): number => (protocol === 'grpc' ? 0 : 1);
  const sameService = rank(a) - rank(b) || a.port - b.port;
  return byServiceAge(a, b) || compareText(identityKey(a.service), identityKey(b.service)) || sameService;
}

/** An unknown time of creation ranks last. */
function byServiceAge(a: Destination, b: Destination): number {
  return (a.createdAt || Number.MAX_VALUE) - (b.createdAt || Number.MAX_VALUE);
}

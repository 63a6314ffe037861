import { HostnameReconciler } from '@causeway/controllers/testing';
import { globalIdentity, type Identity, type JsonObject, type Labels } from '@causeway/resources';
import { ResourceIndex, type Change, type PutChange } from '@causeway/store';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';

/** Zone east, as the hostname loop is configured with it. */
export const east = { role: 'zone', zone: 'east', federated: true } as const;

/** The identity of a service; of a MeshService in east, namespace default, unless given. */
export function service(
  name: string,
  rest: { kind?: string; mesh?: string; zone?: string; namespace?: string } = {},
): Identity {
  const { kind = 'MeshService', mesh = 'default', zone = kind === 'MeshService' ? 'east' : '' } = rest;
  return { kind, mesh, zone, namespace: kind === 'MeshService' ? (rest.namespace ?? 'default') : '', name };
}

export function put(id: Identity, labels: Labels = {}, spec: JsonObject = {}): PutChange {
  return { type: 'put', id, expect: 'any', labels, spec };
}

/** A HostnameGenerator of the global (`zone` empty) or of a zone. */
export function generator(
  name: string,
  template: string,
  { zone = '', selector = { meshService: {} } }: { zone?: string; selector?: JsonObject } = {},
): PutChange {
  const id = { kind: 'HostnameGenerator', mesh: '', zone, namespace: '', name };
  return put(id, { 'kuma.io/origin': zone === '' ? 'global' : 'zone' }, { selector, template });
}

export function mesh(name: string): PutChange {
  return put(globalIdentity('Mesh', name));
}

/** One entry of `status.addresses` as it is stored. */
export interface ShownAddress {
  readonly hostname?: string;
  readonly status: string;
  readonly reason?: string;
  readonly origin: { readonly name: string };
}

/** A zone in one thread: the store, the index, and the hostname loop driven by hand as the runner does it. */
export class NamingZone {
  readonly store = new MemoryStore(new MemoryDisk());
  readonly index = new ResourceIndex();
  loop = new HostnameReconciler(east);
  /** Writes of the loop so far. */
  writes = 0;

  async start(...changes: Change[]): Promise<this> {
    await this.store.write({ changes, onRefusal: 'abort' });
    this.index.load(await this.store.snapshot());
    this.loop.reset(this.index);
    this.index.subscribe((event) => this.loop.observe(event));
    return this;
  }

  /** A write by another client, applied to the index. */
  async user(...changes: Change[]): Promise<void> {
    await this.store.write({ changes, onRefusal: 'abort' });
    this.follow();
  }

  /** One turn of the runner; `between` gets the plan and runs before its write. */
  async turn(between?: (planned: readonly Change[]) => Promise<unknown>): Promise<readonly Change[]> {
    const changes = this.loop.plan()?.changes ?? [];
    await between?.(changes);
    if (changes.length === 0) return [];
    const result = await this.store.write({ changes, onRefusal: 'skip' });
    this.writes += 1;
    this.follow();
    this.loop.onWritten(changes, result);
    return changes;
  }

  /** Turns until there is nothing to write. */
  async settle(): Promise<void> {
    for (let turns = 0; (await this.turn()).length > 0; turns++) if (turns > 50) throw new Error('it never settles');
  }

  /** Another replica leads from now on. */
  takeOver(): void {
    this.loop = new HostnameReconciler(east);
    this.loop.reset(this.index);
  }

  follow(): void {
    const batch = this.store.disk.changesSince(this.index.point?.revision ?? 0);
    if (batch) this.index.apply(batch);
  }

  async addresses(id: Identity): Promise<readonly ShownAddress[]> {
    const addresses = (await this.store.get(id))?.status?.['addresses'] ?? [];
    return JSON.parse(JSON.stringify(addresses)) as readonly ShownAddress[];
  }

  /** The addresses of a service, one line each: `hostname status reason`. */
  async shown(id: Identity): Promise<string[]> {
    const line = ({ hostname = '-', status, reason }: ShownAddress): string =>
      [hostname, status, ...(reason === undefined ? [] : [reason])].join(' ');
    return (await this.addresses(id)).map(line);
  }
}

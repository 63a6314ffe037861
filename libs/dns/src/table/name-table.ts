import { compareText } from '@causeway/resources';
import { parentName, reverseName, parseDnsName, type DnsName } from '../wire/dns-name';
import { HostEntry, type MeshOrder } from './host-entry';
import { ReverseEntry } from './reverse-entry';
import type { NamedService, DnsService } from './named-service';

/** All hostnames that services hold, by name and by address. One service's change costs what it touches. */
export class NameTable {
  private hosts = new Map<DnsName, HostEntry>();
  private reverses = new Map<DnsName, ReverseEntry>();
  /** How many hostnames and addresses stand under a name: such names exist, though nothing is said of them. */
  private under = new Map<DnsName, number>();
  private disputed = new Set<HostEntry>();
  private readonly order: MeshOrder;

  /** `meshOrder`: meshes asked first, in this order; all others follow by name. */
  constructor(private readonly meshOrder: readonly string[]) {
    const places = new Map(meshOrder.map((mesh, i) => [mesh, i]));
    const place = (mesh: string): number => places.get(mesh) ?? meshOrder.length;
    this.order = (a, b) => place(a) - place(b) || compareText(a, b);
  }

  get size(): number {
    return this.hosts.size;
  }

  /** Hostnames that several meshes have. */
  conflicts(): ReadonlySet<HostEntry> {
    return this.disputed;
  }

  host(name: DnsName): HostEntry | undefined {
    return this.hosts.get(name);
  }

  reverse(name: DnsName): ReverseEntry | undefined {
    return this.reverses.get(name);
  }

  /** True for names that have names under them. */
  hasNamesBelow(name: DnsName): boolean {
    return this.under.has(name);
  }

  /** An empty table of the same order. */
  emptyCopy(): NameTable {
    return new NameTable(this.meshOrder);
  }

  /** Holds from now on what `other` holds, which is not used any more. */
  replaceWith(other: NameTable): void {
    this.hosts = other.hosts;
    this.reverses = other.reverses;
    this.under = other.under;
    this.disputed = other.disputed;
  }

  /** Adding a service again, as it is then, changes nothing. */
  add(named: NamedService): void {
    const { service, hostnames } = named;
    for (const { hostname, generators } of hostnames) {
      const name = parseDnsName(hostname);
      if (name === undefined || name === '') continue;
      const entry = this.hosts.get(name) ?? this.create(hostname, name);
      entry.add({ service, generators }, this.order);
      this.noteConflict(entry);
    }
    if (service.ip !== '' && hostnames.length > 0) this.addReverse(named);
  }

  remove({ service, hostnames }: NamedService): void {
    for (const { hostname } of hostnames) {
      const name = parseDnsName(hostname);
      const entry = name === undefined ? undefined : this.hosts.get(name);
      if (!entry) continue;
      entry.remove(service);
      this.noteConflict(entry);
      if (entry.holders.length > 0) continue;
      this.hosts.delete(entry.name);
      this.count(entry.name, -1);
    }
    if (service.ip !== '') this.removeReverse(service);
  }

  private create(hostname: string, name: DnsName): HostEntry {
    const entry = new HostEntry(hostname, name);
    this.hosts.set(name, entry);
    this.count(name, 1);
    return entry;
  }

  private addReverse(named: NamedService): void {
    const { ip } = named.service;
    const name = reverseName(ip);
    const entry = this.reverses.get(name) ?? new ReverseEntry(ip, name);
    if (entry.named.length === 0) {
      this.reverses.set(name, entry);
      this.count(name, 1);
    }
    entry.add(named);
  }

  private removeReverse(service: DnsService): void {
    const entry = this.reverses.get(reverseName(service.ip));
    if (!entry) return;
    entry.remove(service);
    if (entry.named.length > 0) return;
    this.reverses.delete(entry.name);
    this.count(entry.name, -1);
  }

  private noteConflict(entry: HostEntry): void {
    if (entry.contested) this.disputed.add(entry);
    else this.disputed.delete(entry);
  }

  private count(name: DnsName, step: 1 | -1): void {
    for (let at = parentName(name); at !== ''; at = parentName(at)) {
      const left = (this.under.get(at) ?? 0) + step;
      if (left > 0) this.under.set(at, left);
      else this.under.delete(at);
    }
  }
}

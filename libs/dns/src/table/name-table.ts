import { compareText } from '@causeway/resources';
import { parentName, parseDnsName, reverseName, type DnsName } from '../wire/dns-name';
import type { DnsService, NamedService } from './named-service';
import { HostEntry, ReverseEntry, type MeshOrder } from './table-entries';

/** All hostnames that services hold, by name and by address. A change of one service costs O(its hostnames). */
export class NameTable {
  private readonly hosts = new Map<DnsName, HostEntry>();
  private readonly reverses = new Map<DnsName, ReverseEntry>();
  /** Empty non-terminals: the number of hostnames and reverse names below a name. */
  private readonly under = new Map<DnsName, number>();
  private readonly disputed = new Set<HostEntry>();
  private readonly order: MeshOrder;

  /** `meshOrder`: the order of precedence of meshes; unlisted meshes follow by name. */
  constructor(meshOrder: readonly string[]) {
    const ranks = new Map(meshOrder.map((mesh, i) => [mesh, i]));
    const computeRank = (mesh: string): number => ranks.get(mesh) ?? meshOrder.length;
    this.order = (a, b) => computeRank(a) - computeRank(b) || compareText(a, b);
  }

  /** Number of hostnames. */
  get size(): number {
    return this.hosts.size;
  }

  /** Returns hostnames that services of several meshes hold. */
  conflicts(): ReadonlySet<HostEntry> {
    return this.disputed;
  }

  host(name: DnsName): HostEntry | undefined {
    return this.hosts.get(name);
  }

  reverse(name: DnsName): ReverseEntry | undefined {
    return this.reverses.get(name);
  }

  /** True if the table has names below `name`. */
  hasNamesBelow(name: DnsName): boolean {
    return this.under.has(name);
  }

  /** Adds a service. Idempotent: adding it again unchanged has no effect. */
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

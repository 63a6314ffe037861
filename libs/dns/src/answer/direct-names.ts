import { isIP } from 'node:net';
import { describeIdentity, type Identity } from '@causeway/resources';
import type { Answer } from 'dns-packet';
import type { Names } from '../table/followed-names';
import type { HostEntry } from '../table/table-entries';
import { Rcode, Type } from '../wire/codes';
import { firstLabel, formatDnsName, parentName, type DnsName } from '../wire/dns-name';
import { codeOnly, encodeAboutQuestion, encodeRecord, joinSections, type EncodedAnswer } from '../wire/encoded-answer';
import { findHostAbove, portLabel } from './port-names';

/** An instance of a service at its own address. */
export interface DirectEndpoint {
  /** An IP address, or an external host name. */
  readonly address: string;
  readonly port: number;
  readonly ready: boolean;
  /** Whether it accepts plaintext; otherwise it accepts the mesh's mTLS only. */
  readonly plaintext: boolean;
}

/** The instances behind one port of a service. */
export interface DirectPort {
  readonly port: number;
  readonly name: string;
  readonly instances: readonly DirectEndpoint[];
}

/** Source of the instances of services. */
export interface EndpointSource {
  /** Changes whenever the result of `findPorts` may have changed. */
  version(): number;
  /** Returns the instances that clients in this zone can reach without a proxy, port by port; undefined while they are not loaded. */
  findPorts(service: Identity): readonly DirectPort[] | undefined;
}

/** Maximum number of endpoints in one answer: with their names they fill half a TCP packet. */
const MAX_ENDPOINTS = 256;
/** Maximum number of cached answers between two changes. */
const MAX_REMEMBERED = 4_096;

/** Encoded records of an answer; their order rotates from client to client. */
interface Records {
  readonly answers: readonly Buffer[];
  readonly additionals: readonly Buffer[];
}

/** Name under the direct suffix: a service by its hostname, one of its ports, or one of its instances. */
type DirectName =
  | { readonly type: 'service' | 'tcp'; readonly host: HostEntry }
  | { readonly type: 'port' | 'instance'; readonly host: HostEntry; readonly label: string };

/**
 * Resolves names that bypass the proxies (docs/guides/without-proxy.md): `<hostname>.<suffix>` has the addresses of the
 * ready instances of the service that holds the hostname, `_port._tcp.<hostname>.<suffix>` also their ports. Hostnames
 * that services claim under the suffix are never answered, so that no service can impersonate another one.
 */
export class DirectNames {
  private readonly unknown = codeOnly(Rcode.SERVFAIL);
  private remembered = new Map<string, Records>();
  private version = -1;
  private turn = 0;

  /** An empty `suffix` disables direct names. `ttl` in s. */
  constructor(
    private readonly suffix: DnsName,
    private readonly sources: {
      readonly endpoints: EndpointSource;
      readonly names: Pick<Names, 'table'>;
      readonly ttl: number;
    },
  ) {}

  /** Whether a name equals the suffix or is below it. */
  covers(name: DnsName): boolean {
    if (this.suffix === '' || !name.endsWith(this.suffix)) return false;
    let at = name;
    while (at.length > this.suffix.length) at = parentName(at);
    return at === this.suffix;
  }

  /** Returns the answer to a covered name; `empty`: the name has no such record; `missing`: the name does not exist. */
  find(name: DnsName, type: number): EncodedAnswer | 'empty' | 'missing' {
    const inner = this.inner(name);
    const found = this.read(inner);
    if (!found) return inner === '' || this.sources.names.table.hasNamesBelow(inner) ? 'empty' : 'missing';
    if (found.type === 'tcp') return 'empty';
    const ports = this.findPorts(found.host);
    if (!ports) return this.unknown;
    if (found.type === 'port' && !findPort(ports, found.label)) return 'missing';
    if (found.type === 'instance' && listAddresses(ports, found.label).length === 0) return 'missing';
    const { answers, additionals } = this.recordsFor(name, type, () => this.records(found, ports, type));
    if (answers.length === 0) return 'empty';
    this.turn = (this.turn + 1) % MAX_ENDPOINTS;
    return joinSections(Rcode.NOERROR, { answers: rotate(answers, this.turn), additionals });
  }

  /** Explains the answer for a name under its suffix. */
  explain(name: DnsName): string {
    const found = this.read(this.inner(name));
    const holder = found?.host.holders[0];
    if (!found || !holder) return `no service holds the name before the direct suffix ${formatDnsName(this.suffix)}`;
    const ports = this.findPorts(found.host);
    const service = `${found.host.hostname} without a proxy: ${describeIdentity(holder.service.id)}`;
    if (!ports) return `it is ${service}, whose instances are not known yet`;
    const instances = ports.flatMap((port) => port.instances);
    const ready = instances.filter((one) => one.ready);
    const counted = `${ready.length} of ${instances.length} ports of instances that this zone reaches are ready`;
    const tls = ready.filter(({ plaintext }) => !plaintext).length;
    return `it is ${service}; ${counted}${tls === 0 ? '' : `; ${tls} of them take TLS of the mesh only: plain text is refused`}`;
  }

  /** Returns the service whose hostname is part of a covered name. */
  findHost(name: DnsName): HostEntry | undefined {
    return this.read(this.inner(name))?.host;
  }

  private inner(name: DnsName): DnsName {
    return name.slice(0, name.length - this.suffix.length);
  }

  private read(inner: DnsName): DirectName | undefined {
    const { table } = this.sources.names;
    const host = table.host(inner);
    if (host) return { type: 'service', host };
    const above = findHostAbove(inner, table);
    if (!above) return undefined;
    const label = portLabel(inner, above);
    if (label !== undefined) return { type: 'port', host: above, label };
    if (parentName(inner) !== above.name) return undefined;
    const first = firstLabel(inner);
    return first === '_tcp' ? { type: 'tcp', host: above } : { type: 'instance', host: above, label: first };
  }

  private findPorts({ holders: [holder] }: HostEntry): readonly DirectPort[] | undefined {
    return holder ? this.sources.endpoints.findPorts(holder.service.id) : [];
  }

  private recordsFor(name: DnsName, type: number, make: () => Records): Records {
    const version = this.sources.endpoints.version();
    if (version !== this.version || this.remembered.size >= MAX_REMEMBERED) this.remembered = new Map();
    this.version = version;
    const key = `${type} ${name}`;
    const known = this.remembered.get(key);
    if (known) return known;
    const made = make();
    this.remembered.set(key, made);
    return made;
  }

  private records(found: DirectName, ports: readonly DirectPort[], type: number): Records {
    if (found.type === 'port') {
      const port = type === Type.SRV || type === Type.ANY ? findPort(ports, found.label) : undefined;
      return port ? this.services(found.host, port) : NO_RECORDS;
    }
    const addresses = found.type === 'instance' ? listAddresses(ports, found.label) : readyAddresses(ports);
    return { answers: this.addresses(addresses, type).map(encodeAboutQuestion), additionals: [] };
  }

  private addresses(ips: readonly string[], type: number): Answer[] {
    const family = type === Type.A ? [4] : type === Type.AAAA ? [6] : type === Type.ANY ? [4, 6] : [];
    return ips.filter((ip) => family.includes(isIP(ip))).map((ip) => this.address('.', ip));
  }

  private services(host: HostEntry, { instances }: DirectPort): Records {
    const { ttl } = this.sources;
    const targets = new Map<string, { readonly target: string; readonly at: DirectEndpoint }>();
    for (const at of filterReady(instances)) {
      const target = isIP(at.address) === 0 ? at.address : this.instanceName(host, at.address);
      if (target !== undefined) targets.set(`${target} ${at.port}`, { target, at });
    }
    const chosen = [...targets.values()].slice(0, MAX_ENDPOINTS);
    return {
      answers: chosen.map(({ target, at: { port } }) =>
        encodeAboutQuestion({ type: 'SRV', name: '.', ttl, data: { priority: 0, weight: 1, port, target } }),
      ),
      additionals: chosen
        .filter(({ at }) => isIP(at.address) !== 0)
        .map(({ target, at }) => encodeRecord(this.address(target, at.address))),
    };
  }

  /** Returns the name of an instance; undefined if it would exceed the maximum length of a name. */
  private instanceName({ hostname }: HostEntry, ip: string): string | undefined {
    const name = `${instanceLabel(ip)}.${hostname}.${formatDnsName(this.suffix)}`;
    return name.length > MAX_NAME_LENGTH ? undefined : name;
  }

  private address(name: string, data: string): Answer {
    return { type: isIP(data) === 6 ? 'AAAA' : 'A', name, ttl: this.sources.ttl, data };
  }
}

const MAX_NAME_LENGTH = 253;
const NO_RECORDS: Records = { answers: [], additionals: [] };

/** Returns the label of an instance, which precedes the hostname of its service: `ip-10-0-0-7`. */
function instanceLabel(ip: string): string {
  return `ip-${ip.toLowerCase().replace(/[.:]/g, '-')}`;
}

function filterReady(instances: readonly DirectEndpoint[]): readonly DirectEndpoint[] {
  return instances.filter((instance) => instance.ready);
}

function readyAddresses(ports: readonly DirectPort[]): readonly string[] {
  const ips = ports.flatMap(({ instances }) => filterReady(instances)).map(({ address }) => address);
  return [...new Set(ips)].filter((ip) => isIP(ip) !== 0).slice(0, MAX_ENDPOINTS);
}

/** Returns the addresses of the instance with this label, ready or not: a client may still use the name from an earlier answer. */
function listAddresses(ports: readonly DirectPort[], label: string): readonly string[] {
  const found = ports.flatMap(({ instances }) => instances.filter(({ address }) => instanceLabel(address) === label));
  return [...new Set(found.map(({ address }) => address))].filter((ip) => isIP(ip) !== 0);
}

function findPort(ports: readonly DirectPort[], label: string): DirectPort | undefined {
  return ports.find(({ port, name }) => String(port) === label || name.toLowerCase() === label);
}

/** Rotates records: many clients use the first one. */
function rotate(records: readonly Buffer[], by: number): readonly Buffer[] {
  const first = by % records.length;
  return first === 0 ? records : [...records.slice(first), ...records.slice(0, first)];
}

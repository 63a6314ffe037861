import type { DnsServer, DnsSettings, EndpointSource } from '@causeway/dns';
import { createDnsServer } from '@causeway/dns/testing';
import { globalIdentity, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import { silentLogger, systemClock, type Clock, type Logger } from '@causeway/runtime';
import { ResourceIndex } from '@causeway/store';

/** Fields of a service that matter to DNS. */
export interface ServiceSketch {
  readonly kind?: string;
  readonly mesh?: string;
  readonly zone?: string;
  readonly ip?: string;
  readonly hostnames?: readonly string[];
  /** Hostnames that it claims and another service holds. */
  readonly lost?: readonly string[];
  readonly spec?: JsonObject;
}

/** A service as a zone's controllers leave it. */
export function service(name: string, sketch: ServiceSketch = {}): Resource {
  const { kind = 'MeshService', mesh = 'default', zone = 'east', ip, hostnames = [], lost = [] } = sketch;
  const origin = { kind: 'HostnameGenerator', name: 'local' };
  const addresses = [
    ...hostnames.map((hostname) => ({ hostname, status: 'Available', origin })),
    ...lost.map((hostname) => ({ hostname, status: 'NotAvailable', origin, reason: 'clash' })),
  ];
  const namespace = kind === 'MeshService' ? 'default' : '';
  const spec = sketch.spec ?? { ports: [{ port: 6379, name: 'redis', appProtocol: 'tcp' }, { port: 9121 }] };
  const vip = ip === undefined ? {} : { vip: { ip, type: 'Kuma' } };
  return resource({ kind, mesh, zone, namespace, name }, spec, { ...vip, addresses });
}

/** A HostnameGenerator with a template. */
export function generator(name: string, template: string): Resource {
  const id = globalIdentity('HostnameGenerator', name);
  return resource(id, { selector: { meshService: {} }, template }, {});
}

function resource(id: Identity, spec: JsonObject, status: JsonObject): Resource {
  return {
    id,
    uid: `uid-of-${id.name}`,
    labels: {},
    spec,
    status,
    generation: 1,
    creationOrder: 1,
    createdAt: 0,
    modifiedAt: 0,
    revision: 1,
    origin: { incarnation: 'test', revision: 1, committedAt: 0 },
    freed: [],
  };
}

/** A zone that answers on 127.0.0.1 from an index that the test writes. */
export class DnsZone {
  readonly index = new ResourceIndex();
  private revision = 0;
  private server: DnsServer | undefined;
  port = 0;

  constructor(...resources: Resource[]) {
    this.index.load({ point: { incarnation: 'test', revision: this.revision }, resources, tombstones: [] });
  }

  async start(
    config: DnsSettings = {},
    parts: {
      readonly clock?: Clock;
      readonly logger?: Logger;
      readonly port?: number;
      readonly endpoints?: EndpointSource;
    } = {},
  ): Promise<this> {
    const { clock = systemClock, logger = silentLogger, port = 0, endpoints } = parts;
    // Nothing of a test may depend on the resolvers of its machine.
    const forward = { resolverFile: '/nonexistent', ...config.forward };
    this.server = createDnsServer({
      index: this.index,
      zone: 'east',
      clock,
      logger,
      config: { ...config, forward },
      ...(endpoints && { endpoints }),
    });
    this.port = await this.server.bind('127.0.0.1', port);
    return this;
  }

  get dns(): DnsServer {
    if (!this.server) throw new Error('the zone was not started');
    return this.server;
  }

  /** Writes resources, as the watch would deliver them. */
  put(...resources: Resource[]): void {
    this.revision += 1;
    this.index.apply({
      revision: this.revision,
      changes: resources.map((each) => ({ type: 'put', resource: each })),
    });
  }

  delete(...gone: Resource[]): void {
    this.revision += 1;
    const { revision } = this;
    this.index.apply({
      revision,
      changes: gone.map(({ id }) => ({ type: 'delete', tombstone: { id, revision, deletedAt: 0, freed: [] } })),
    });
  }

  /** The value of a metric, summed over the label sets that have these labels. */
  metric(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const found = this.dns.metrics().find((metric) => metric.name === name);
    if (!found) throw new Error(`there is no metric ${name}`);
    return [...found.read()]
      .filter((each) => Object.entries(labels).every(([key, value]) => each.labels?.[key] === value))
      .reduce((sum, { value }) => sum + value, 0);
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}

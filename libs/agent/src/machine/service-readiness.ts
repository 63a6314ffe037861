import { shortened } from '@causeway/resources';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { inboundListenerName } from '@causeway/xds-translation';
import { RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import { decodeListener, reliesOnClientCertHeader, takesPlaintext } from '../builtin/decode/listeners';
import { describePlaintextAccess } from '../capture/plaintext-reachable';
import type { LocalAddress } from '../capture/local-address';
import { formatQualifiedName } from '../config/qualified-name';
import type { DataplaneConfig, ServiceConfig } from '../config/schema';
import { HealthChecks } from '../health/health-checks';
import { listListeningByPort, type SocketsByPort } from '../health/listening-sockets';
import type { InboundReadiness } from '../lease/inbound-readiness';
import type { Plane } from '../plane';
import type { ServiceStatus } from './status';

export interface ServiceReadinessOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a resource that the zone sent to the proxy of a Dataplane, by `mesh/name`, or `mesh/name.namespace`. */
  readonly resource: (dataplane: string, type: string, name: string) => EncodedResource | 'pending' | undefined;
  /** Returns whether a proxy of this machine listens at an address. */
  readonly isProxy: (at: LocalAddress) => boolean;
  /** Returns whether a rule in force admits only the proxy to a port. */
  readonly isGuarded: (port: number) => boolean;
  /** Called when the readiness of a Dataplane's services has changed. */
  readonly changed: (dataplane: string, health: readonly InboundReadiness[]) => void;
}

interface ServedInbound {
  /** `mesh/name`. */
  readonly dataplane: string;
  readonly inbound: number;
  readonly proxy: LocalAddress;
  readonly service: ServiceConfig;
}

/** Requirements of a received listener. */
interface ListenerRequirements {
  readonly takesPlaintext: boolean;
  readonly needsClientCertHeader: boolean;
}

/** Why a service is not ready although its checks pass, and since when, ms since 1970. */
interface Exposure {
  readonly reason: string;
  /** Its process can be reached without its proxy. */
  readonly isPlaintext: boolean;
  readonly since: number;
}

/** Why a dataplane without HTTP cannot serve a process that reads the caller's identity from a header. */
const LACKS_CLIENT_CERT =
  'ClientCertHeader: the mesh relies on x-forwarded-client-cert (clientCertHeader: Required), which only the plane envoy sets';

/** Maximum length of a reason that a zone accepts, characters. */
const MAX_REASON_LENGTH = 512;

/**
 * Decides whether the services of a machine are ready: their checks pass, no process behind an inbound for mesh clients
 * only can be reached without its proxy (`PlaintextReachable`), and no process that relies on `x-forwarded-client-cert`
 * gets a header written by the caller.
 */
export class ServiceReadiness {
  private readonly health: HealthChecks;
  private readonly wanted = new WeakMap<EncodedResource, ListenerRequirements | undefined>();
  private services: readonly ServedInbound[] = [];
  private isDirect = false;
  private setsClientCert = true;
  private exposed = new Map<string, Exposure>();
  /** Ports of processes: the machine may have thousands of other listening sockets. */
  private ports: ReadonlySet<number> = new Set();
  private sockets: SocketsByPort = new Map();

  constructor(private readonly options: ServiceReadinessOptions) {
    const { clock, logger } = options;
    this.health = new HealthChecks({
      clock,
      changed: (dataplane) => this.reportReadiness(dataplane),
      failed: (error) => logger.error('a health check has failed', { error: errorText(error) }),
      sockets: { listening: () => this.readSockets() },
    });
  }

  /** Replaces the checked services and the dataplane mode. */
  set(mesh: string, dataplanes: readonly DataplaneConfig[], plane: Plane['type'] | undefined): void {
    const all = dataplanes.flatMap(({ name, namespace, address, services }) =>
      services.map((service, inbound): ServedInbound => {
        const proxy = { address, port: service.port };
        return { dataplane: `${mesh}/${formatQualifiedName({ name, namespace })}`, inbound, proxy, service };
      }),
    );
    // gRPC programs verify their callers themselves.
    this.services = plane === undefined || plane === 'grpc' ? [] : all;
    this.isDirect = plane === 'direct';
    this.setsClientCert = plane === 'envoy';
    this.ports = new Set(all.map(({ service: { servicePort, port } }) => servicePort ?? port));
    if (all.length > 0) this.readSockets();
    else this.checkExposure();
    this.health.set(
      all.map(({ dataplane, inbound, service: { serviceAddress: address, servicePort, port, health: check } }) => ({
        dataplane,
        inbound,
        check,
        target: { address, port: servicePort ?? port },
      })),
    );
  }

  /** Checks again which processes can be reached without a proxy; call after rules have changed. */
  checkExposure(): void {
    const { clock } = this.options;
    const before = this.exposed;
    this.exposed = new Map();
    const changed = new Set<string>();
    for (const served of this.services) {
      const key = formatKey(served);
      const [found, known] = [this.findExposure(served), before.get(key)];
      if (found) this.exposed.set(key, known?.reason === found.reason ? known : { ...found, since: clock.now() });
      if (found?.reason !== known?.reason) changed.add(served.dataplane);
    }
    for (const dataplane of changed) this.reportReadiness(dataplane);
  }

  /** Returns the readiness of the services of a Dataplane, by `mesh/name`. */
  readiness(dataplane: string): readonly InboundReadiness[] {
    return this.health.readiness(dataplane).map((one) => {
      const exposure = this.exposed.get(formatKey({ dataplane, inbound: one.inbound }));
      if (!exposure) return one;
      const reason = shortened(
        one.ready ? exposure.reason : `${exposure.reason}; ${one.reason}`,
        MAX_REASON_LENGTH,
        '…',
      );
      const { since, isPlaintext } = exposure;
      return { ...one, ready: false, reason, since, ...(isPlaintext && { plaintextReachable: true }) };
    });
  }

  /** Returns the readiness for `causeway-agent status`. */
  statuses(dataplane: string, services: readonly ServiceConfig[]): readonly ServiceStatus[] {
    const known = new Map(this.readiness(dataplane).map((one) => [one.inbound, one]));
    return services.map(({ name, port, health: check }, inbound): ServiceStatus => {
      const found = known.get(inbound);
      if (!found) return { name, port, health: 'unchecked' };
      const { ready, reason, since } = found;
      const health = ready ? (check === undefined ? 'unchecked' : 'ready') : 'not ready';
      return { name, port, health, check: found.check, since, ...(reason !== '' && { reason }) };
    });
  }

  /** Checks until `signal` aborts; resolves when the last check has ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.health.run(signal);
  }

  private findExposure(served: ServedInbound): Omit<Exposure, 'since'> | undefined {
    const open = this.findPlaintextReason(served);
    if (open !== undefined) return { reason: open, isPlaintext: true };
    const isCallersWord = !this.setsClientCert && this.findRequirements(served)?.needsClientCertHeader === true;
    return isCallersWord ? { reason: LACKS_CLIENT_CERT, isPlaintext: false } : undefined;
  }

  private findPlaintextReason({ dataplane, proxy, service }: ServedInbound): string | undefined {
    const { port, serviceAddress, servicePort = port, guardInbound } = service;
    const { isGuarded, isProxy } = this.options;
    return describePlaintextAccess(
      {
        servicePort,
        isProxy,
        isDirect: this.isDirect,
        takesPlaintext: this.findRequirements({ dataplane, proxy })?.takesPlaintext,
        // Without a proxy, clients reach the process at the inbound's address.
        serviceAddress: this.isDirect ? proxy.address : serviceAddress,
        // A rule that the configuration no longer asks for will be removed.
        isGuarded: guardInbound && isGuarded(servicePort),
      },
      this.sockets.get(servicePort) ?? [],
    );
  }

  private findRequirements({
    dataplane,
    proxy,
  }: Pick<ServedInbound, 'dataplane' | 'proxy'>): ListenerRequirements | undefined {
    const found = this.options.resource(dataplane, RESOURCE_TYPES.listener, inboundListenerName(proxy));
    if (found === undefined || found === 'pending') return undefined;
    if (!this.wanted.has(found)) this.wanted.set(found, readRequirements(found.bytes));
    return this.wanted.get(found);
  }

  private readSockets(): SocketsByPort | undefined {
    const sockets = listListeningByPort(this.ports);
    if (!sockets) return undefined;
    this.sockets = sockets;
    this.checkExposure();
    return sockets;
  }

  private reportReadiness(dataplane: string): void {
    this.options.changed(dataplane, this.readiness(dataplane));
  }
}

function formatKey({ dataplane, inbound }: Pick<ServedInbound, 'dataplane' | 'inbound'>): string {
  return `${dataplane}#${inbound}`;
}

/** Undefined if the listener cannot be decoded: it is then treated like one of a mesh with mTLS Strict. */
function readRequirements(listener: Uint8Array): ListenerRequirements | undefined {
  try {
    const plan = decodeListener(listener);
    return { takesPlaintext: takesPlaintext(plan), needsClientCertHeader: reliesOnClientCertHeader(plan) };
  } catch {
    return undefined;
  }
}

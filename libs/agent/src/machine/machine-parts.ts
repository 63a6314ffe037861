import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { durationMs } from '@causeway/resources';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { explicitListenerName, inboundListenerName, outboundListenerName } from '@causeway/xds-translation';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { PlaneProcesses } from '../builtin/processes/plane-processes';
import { MachineNetwork, type NetworkStatus } from '../capture/machine-network';
import { describeRefusedClients, describeUnansweredNames, planNetwork } from '../capture/plan-network';
import type { LocalAddress } from '../capture/local-address';
import { formatQualifiedName, type QualifiedName } from '../config/qualified-name';
import type { AgentConfig } from '../config/schema';
import type { EnvoyPlaces } from '../envoy/envoy-program';
import type { LocalXdsServer } from '../envoy/local-xds-server';
import type { ZoneClientAccess } from '../identity/zone-access';
import type { LeasedDataplane } from '../lease/lease-holder';
import { choosePlane, createPlane, countProcesses, type ChosenPlane } from './chosen-plane';
import { DataplaneLease } from './dataplane-lease';
import { MachineListeners } from './machine-listeners';
import { MachineProxy, formatNodeId } from './machine-proxy';
import { planProxies, type PlannedProxy } from './planned-proxies';
import { ServiceReadiness } from './service-readiness';
import { readProxyStatus, type ProxyStatusHere } from './status';
import type { KnownZone, ZoneFacts } from './zone-facts';

/** Facts of the machine. */
export interface MachineFacts {
  readonly version: string;
  /** Name of the machine, for operators. */
  readonly machine: string;
  /** Further places where Envoy may be, besides the configuration. */
  readonly envoy: Omit<EnvoyPlaces, 'path'>;
  /** File of the authorities that the machine trusts; undefined if it has none. */
  readonly authoritiesFile?: string;
}

export interface MachinePartsOptions extends MachineFacts {
  readonly folder: string;
  readonly instance: string;
  /** See `readLeaseSecret`. */
  readonly secret: string;
  /** Facts that the zone has sent. */
  readonly zone: KnownZone;
  readonly xds: LocalXdsServer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** File that contains 1 if programs may listen at IPv6 addresses that no interface has. */
const NONLOCAL_BIND = '/proc/sys/net/ipv6/ip_nonlocal_bind';
const isOn = (text: string): boolean => text.trim() === '1';
/** Formatters of a proxy's listener names. */
const LISTENER_NAMES = [inboundListenerName, outboundListenerName, explicitListenerName];

interface RunningProxy {
  readonly wanted: PlannedProxy;
  readonly proxy: MachineProxy;
  readonly lease?: DataplaneLease;
}

/**
 * Applies configurations to the proxies of a machine and their leases. An unchanged proxy keeps running; a changed
 * registration is sent again; a proxy whose other settings changed ends gracefully and is started anew.
 */
export class MachineParts {
  /** Parts of the configuration that failed, one line each. */
  failures: readonly string[] = [];
  private readonly running = new Map<string, RunningProxy>();
  private readonly network: MachineNetwork;
  private readonly processes: PlaneProcesses;
  private readonly ending = new AbortController();
  private readonly readiness: ServiceReadiness;
  private readonly listeners: MachineListeners;
  private readonly watching: Promise<unknown>;
  private applied: { readonly config: AgentConfig; readonly access: ZoneClientAccess } | undefined;
  /** Configurations are applied one after the other. */
  private last: Promise<unknown> = Promise.resolve();
  private isClosing = false;

  constructor(private readonly options: MachinePartsOptions) {
    const { clock, logger } = options;
    this.network = new MachineNetwork({ ...options, onUnboundAddress: (at) => this.dialled(at) });
    this.processes = PlaneProcesses.start({ processes: 0, clock, logger });
    const { signal } = this.ending;
    this.readiness = new ServiceReadiness({
      clock,
      logger,
      resource: (dataplane, type, name) => this.findRunning(dataplane)?.proxy.cache.get(type, name),
      isProxy: (at) => this.isProxy(at),
      isGuarded: (port) => this.network.guards(port),
      changed: (dataplane, health) => this.findRunning(dataplane)?.lease?.report(health),
    });
    const changed = (): void => this.readiness.checkExposure();
    this.watching = Promise.all([this.readiness.run(signal), this.network.watch(clock, logger, changed, signal)]);
    const network = (): NetworkStatus => this.network.status;
    const suffixes = (): readonly string[] => options.zone.suffixes;
    this.listeners = new MachineListeners({ clock, logger, proxies: () => this.proxies(), network, suffixes });
  }

  get networkStatus(): NetworkStatus {
    return this.network.status;
  }

  /** Address of the DNS server; undefined if it does not run. */
  get dnsAddress(): string | undefined {
    return this.listeners.dnsAddress;
  }

  statuses(): readonly ProxyStatusHere[] {
    return [...this.running.values()].map(({ wanted: { registered }, proxy, lease }) => ({
      ...readProxyStatus(proxy, this.options.clock),
      ...(lease && { lease: lease.status }),
      ...(registered?.clientDataplane !== undefined && { clientDataplane: registered.clientDataplane }),
      ...this.configuredParts(proxy.plan),
    }));
  }

  private configuredParts({ mesh, ...named }: PlannedProxy['plan']): Pick<ProxyStatusHere, 'services' | 'clientUsers'> {
    const qualified = formatQualifiedName(named);
    const isOwn = (one: QualifiedName): boolean => formatQualifiedName(one) === qualified;
    const { services = [], clients } = this.applied?.config.dataplanes.find(isOwn) ?? {};
    return {
      services: this.readiness.statuses(`${mesh}/${qualified}`, services),
      ...(clients && { clientUsers: clients.users }),
    };
  }

  /** Listens at an address that a program dialled. */
  private dialled(at: LocalAddress): void {
    for (const { onDemand } of this.proxies()) onDemand?.dial(at);
  }

  private proxies(): readonly MachineProxy[] {
    return [...this.running.values()].map(({ proxy }) => proxy);
  }

  /** `dataplane`: `mesh/name`, or `mesh/name.namespace`. */
  private findRunning(dataplane: string): RunningProxy | undefined {
    return this.running.get(dataplane.replace('/', '.'));
  }

  /** Returns whether a proxy of this machine listens at an address; in mode `direct` processes listen themselves. */
  private isProxy(at: LocalAddress): boolean {
    const proxies = this.proxies().filter(({ plane }) => plane.type !== 'direct');
    return LISTENER_NAMES.some((formatName) =>
      proxies.some(({ cache }) => cache.names(RESOURCE_TYPES.listener).has(formatName(at))),
    );
  }

  /** Applies a configuration after the former one. Resolves when all parts are started, not when they serve. */
  apply(config: AgentConfig, access: ZoneClientAccess): Promise<void> {
    this.applied = { config, access };
    const done = this.last.then(() => this.applyConfig(config, access));
    this.last = done.catch(() => undefined);
    return done;
  }

  /** Applies facts that the zone has sent. */
  private async applyZoneFacts(facts: ZoneFacts): Promise<void> {
    const { zone, logger } = this.options;
    try {
      if (!(await zone.update(facts)) || !this.applied || this.isClosing) return;
      logger.info('the zone has sent its ranges and suffixes', { ...facts });
      await this.apply(this.applied.config, this.applied.access);
    } catch (error) {
      logger.error('the settings that the zone sent are refused', { error: errorText(error) });
    }
  }

  private async applyConfig(config: AgentConfig, access: ZoneClientAccess): Promise<void> {
    if (this.isClosing) return;
    const failures: string[] = [];
    const { mesh, dataplanes, ingress } = config;
    const chosen = await choosePlane(config, this.options.envoy);
    const plane = chosen.type === 'none' ? undefined : chosen;
    if (chosen.type === 'none') failures.push(`plane: ${chosen.reason}`);
    // Before registration: a checked service is not ready until its check succeeds.
    this.readiness.set(mesh, ingress ? [] : dataplanes, plane?.type);
    const { folder, authoritiesFile } = this.options;
    const planned = plane ? planProxies(config, { plane, folder, authoritiesFile }) : [];
    const wanted = new Map(planned.map((one) => [formatNodeId(one.plan), one]));
    const gone = [...this.running].filter(([id, { wanted: now }]) => {
      const next = wanted.get(id);
      return !next || !isDeepStrictEqual(next.facts, now.facts);
    });
    await Promise.all(gone.map(([id]) => this.endProxy(id, 0)));
    await this.processes.resize(plane?.type === 'builtin' ? countProcesses(config) : 0);
    // A service's port is guarded before the service is announced.
    const facts = { uid: process.getuid?.() ?? 0, ranges: this.options.zone.facts?.virtualRanges };
    const bindsAnyIpv6 = await readFile(NONLOCAL_BIND, 'utf8').then(isOn, () => false);
    const plan = plane ? planNetwork(config, { ...facts, bindsAnyIpv6, plane: plane.type }) : {};
    if (plan.uncaught) failures.push(`capture of ${plan.uncaught.ranges.join(', ')}: ${plan.uncaught.reason}`);
    if (plane) failures.push(...describeRefusedClients(config, plane.type));
    failures.push(...describeUnansweredNames(config));
    await this.network.apply(plan).catch((error: unknown) =>
      this.options.logger.error('the rules and routes of the machine cannot be installed', {
        error: errorText(error),
      }),
    );
    this.readiness.checkExposure();
    for (const [id, next] of wanted) {
      const known = this.running.get(id);
      if (known) await this.updateProxy(id, known, next, config);
      else if (plane)
        await this.startProxy(next, { access, plane, config }).catch((error: unknown) => {
          failures.push(`${next.plan.type} ${next.plan.name}: ${errorText(error)}`);
        });
    }
    const { zone = '' } = access.current();
    await this.listeners.apply(config, zone).catch((error: unknown) => void failures.push(errorText(error)));
    this.failures = failures;
    for (const failure of failures)
      this.options.logger.error('a part of the configuration cannot be applied', { failure });
  }

  /** Ends everything: services become not ready, connections end within `drainMs`, Dataplanes are withdrawn. */
  async close(drainMs: number): Promise<void> {
    this.isClosing = true;
    await this.last;
    await Promise.all([...this.running.keys()].map((id) => this.endProxy(id, drainMs)));
    this.ending.abort();
    await this.watching;
    await this.listeners.close();
    await this.processes.close();
    await this.network.remove();
  }

  private async startProxy(
    wanted: PlannedProxy,
    {
      access,
      plane,
      config,
    }: { readonly access: ZoneClientAccess; readonly plane: ChosenPlane; readonly config: AgentConfig },
  ): Promise<void> {
    const { version, clock, logger, instance, secret, machine } = this.options;
    const { network, processes } = this;
    const { plan, registered, dial } = wanted;
    const named = logger.child({ proxy: formatNodeId(plan) });
    const { zone } = access.current();
    const proxy = await MachineProxy.start({
      plan,
      dial,
      access,
      version,
      clock,
      logger: named,
      refuseAbsent: (at) => void network.refuseAbsent([at]),
      createPlane: (resources, keyFile) =>
        createPlane(plane, { plan, config, resources, keyFile, zone }, { ...this.options, network, processes }),
    });
    // Whether a process can be reached without its proxy depends on the resources that its proxy received.
    this.running.set(formatNodeId(plan), { wanted, proxy });
    this.readiness.checkExposure();
    const onZoneFacts = (facts: ZoneFacts): void => void this.applyZoneFacts(facts);
    const lease =
      registered &&
      new DataplaneLease({ proxy, instance, secret, machine, version, clock, logger: named, onZoneFacts });
    if (lease && registered) {
      this.register(lease, registered);
      lease.start();
    }
    this.running.set(formatNodeId(plan), { wanted, proxy, ...(lease && { lease }) });
  }

  private async updateProxy(
    id: string,
    running: RunningProxy,
    wanted: PlannedProxy,
    { drainTime }: AgentConfig,
  ): Promise<void> {
    this.running.set(id, { ...running, wanted });
    const { lease, proxy } = running;
    // Before the registration, after which the zone sends resources that need the new facts.
    await proxy.updateDialFacts(wanted.dial, durationMs(drainTime) ?? 0);
    if (lease && wanted.registered && !isDeepStrictEqual(wanted.registered, running.wanted.registered))
      this.register(lease, wanted.registered);
  }

  private register(lease: DataplaneLease, dataplane: LeasedDataplane): void {
    lease.register(dataplane);
    lease.report(this.readiness.readiness(`${dataplane.mesh}/${formatQualifiedName(dataplane)}`));
  }

  private async endProxy(id: string, drainMs: number): Promise<void> {
    const { logger } = this.options;
    const running = this.running.get(id);
    if (!running) return;
    try {
      await running.lease?.stopServing('the agent ends');
      await running.proxy.stop(drainMs);
      await running.lease?.withdraw();
    } catch (error) {
      logger.error('a proxy could not be stopped cleanly', { proxy: id, error: errorText(error) });
    }
    this.running.delete(id);
  }
}

import type { DataplaneTokens, ServerCertificates, ZoneProxyTokens } from '@causeway/access';
import type { DataplaneResource } from '@causeway/dataplanes';
import {
  findEgressIdentity,
  type Enrolments,
  identityFor,
  findMeshAuthority,
  readPresetPath,
  revokedIdsIn,
  listSpiffeIds,
  type WorkloadCertificates,
} from '@causeway/identity';
import { Dataplane, MeshIdentity } from '@causeway/kinds';
import type { FollowedRoutes } from '@causeway/meshes';
import { type Clock, type Logger } from '@causeway/runtime';
import { fillInSlices, type AgentLeaseStore, type IndexReader, type ProxySessionStore } from '@causeway/store';
import { AgentServer } from './agents/attach-service';
import { BootstrapEndpoint } from './bootstrap/bootstrap-endpoint';
import {
  type AccessSource,
  type Destination,
  EnvoyResources,
  type EnvoyView,
  type HostSource,
  type PolicySource,
} from '@causeway/xds-translation';
import { xdsMetrics, type XdsMetric } from './metric-definitions';
import { DataplaneRegistrar, type DataplaneRegistrarOptions } from './proxies/dataplane-registrar';
import { PeerCertificates } from './proxies/peer-certificates';
import { dataplaneProxyId } from './proxies/proxy-views';
import { CertificateSigner, type CertificateOwner } from './proxies/certificate-signer';
import { ProxyCertificates, type CertificateStatus } from './proxies/proxy-certificates';
import { WorkloadCertificateServer } from './proxies/workload-certificate-service';
import { ZoneProxyAuthenticator } from './proxies/zone-proxy-authenticator';
import {
  DEFAULT_XDS_LIMITS,
  type ProxyAuthenticator,
  type ProxyStatus,
  type XdsLimits,
  XdsServer,
  type XdsServerOptions,
} from '@causeway/xds-server';
import { ProxyReporter, type ObservedProxies } from './status/proxy-reporter';

/** Inputs of the port, and how it listens. */
export interface XdsPortOptions {
  readonly zone: string;
  readonly replica: ServingReplica;
  readonly index: IndexReader;
  readonly access: AccessSource;
  readonly tables: ServedTables;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The tokens by which Dataplanes, and ingresses and egresses of the zone authenticate. */
  readonly tokens: {
    readonly dataplane: Pick<DataplaneTokens, 'verify' | 'onChange'>;
    readonly zone: Pick<ZoneProxyTokens, 'verify' | 'onChange'>;
  };
  /** The enrolments of machines. */
  readonly enrolments: Enrolments;
  readonly workloads: WorkloadIssuer;
  /** What proxies are sent: what they use, or every service of their mesh (CAUSEWAY_XDS_SCOPE). */
  readonly scope: 'used' | 'all';
  /** The leases of agents, and how long one lives without a heartbeat, ms (CAUSEWAY_AGENT_LEASE). */
  readonly leases: { readonly store: AgentLeaseStore; readonly length: number };
  /** The facts of the zone that machines with Dataplanes of a mesh are sent. */
  readonly zoneFacts: (mesh: string) => { readonly virtualRanges: string[]; readonly dnsSuffixes: string[] };
  /** The way in for the Dataplanes that proxies and agents bring along, with these rights. */
  readonly admission: DataplaneRegistrarOptions['admission'];
  readonly limits?: Partial<XdsLimits>;
  readonly listen: ListenOptions;
}

/** The replica that serves, as the others know it. */
interface ServingReplica {
  /** Another one after each start. */
  readonly instance: string;
  /** Says, before its first proxy, that this replica knows enrolments. Rejects with Unavailable. */
  readonly announce: () => Promise<unknown>;
  /** The store in which replicas report their proxies. */
  readonly store: Pick<ProxySessionStore, 'report'>;
}

/** Tables that are filled before what reads them. */
interface ServedTables {
  readonly routes: FollowedRoutes;
  readonly policies: PolicySource;
  /** The addresses of external services and host names, for proxies that do not resolve names themselves. */
  readonly hosts: HostSource;
}

/** Issuer of certificates of workloads. */
interface WorkloadIssuer {
  readonly certificates: Pick<WorkloadCertificates, 'issue' | 'issueToEgress'>;
  /** The certificate in PEM of the authority that signs workloads now. */
  readonly authority: () => Promise<string | undefined>;
}

interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Asked once, when the port is opened; plain text where it gives none. */
  readonly certificates: () => ServerCertificates | undefined;
}

/** A connected proxy, with what is known of its certificate where this control plane keeps it. */
export interface ConnectedProxy extends ProxyStatus {
  readonly certificate?: CertificateStatus;
}

/** The port at which the proxies of a zone are served, by every replica. */
export class XdsPort implements ObservedProxies {
  readonly server: XdsServer<EnvoyView>;
  readonly resources: EnvoyResources;
  private readonly auth: ZoneProxyAuthenticator;
  private readonly registrar: DataplaneRegistrar;
  private readonly agents: AgentServer;
  private readonly signer: CertificateSigner;
  private readonly proxyCertificates: ProxyCertificates;
  private readonly unfollow: () => void;
  private readonly reporter: ProxyReporter;
  private readonly ending = new AbortController();
  private reporting: Promise<void> = Promise.resolve();
  private bound = 0;
  /** Are called with a proxy whose certificate is another. */
  private readonly certified = new Set<(proxy: string) => void>();

  constructor(private readonly options: XdsPortOptions) {
    const { zone, replica, index, access, clock, logger, tables, workloads, enrolments, admission } = options;
    const failure = 'the resources of proxies cannot be read';
    const run = fillInSlices({ clock, logger, failure, signal: this.ending.signal });
    this.resources = new EnvoyResources(index, zone, access, { run, ...tables });
    this.unfollow = this.resources.follow();
    this.signer = new CertificateSigner({ clock, issuer: workloads.certificates });
    this.proxyCertificates = this.createCertificates();
    this.registrar = new DataplaneRegistrar({ zone, index, clock, logger, admission, enrolments });
    const peers = this.createPeers();
    this.auth = this.createAuthenticator(peers);
    this.agents = this.createAgents(peers);
    this.server = this.createServer();
    const { store, instance } = replica;
    this.reporter = new ProxyReporter({ observed: this, store, instance, clock, logger });
  }

  /** Listens and resolves with the port. Rejects where it cannot listen. */
  async listen(): Promise<number> {
    await this.options.replica.announce();
    // What a replica tells proxies counts from the first of them (docs/reference/proxies.md).
    await this.reporter.report();
    this.reporting = this.reporter.run(this.ending.signal);
    this.agents.start();
    const { clock, logger, listen } = this.options;
    const { host, port, certificates } = listen;
    const { handle } = new BootstrapEndpoint({
      clock,
      logger,
      certificates,
      authorise: (request) => this.auth.authoriseStart(request),
    });
    this.bound = await this.server.listenShared(host, port, { certificates: certificates(), http: handle });
    return this.bound;
  }

  /** The address at which it listens; port 0 before. */
  get address(): { readonly host: string; readonly port: number } {
    return { host: this.options.listen.host, port: this.bound };
  }

  /** The server certificates that proxies are shown; undefined if they are served in plain text, and before the start. */
  get certificates(): ServerCertificates | undefined {
    return this.options.listen.certificates();
  }

  /** Why the certificate that proxies are shown is not the configured one. */
  warnings(): readonly string[] {
    const fault = this.certificates?.fault();
    return fault === undefined ? [] : [`xDS: ${fault}`];
  }

  /** Every stream of every connected proxy of this replica. */
  proxies(): readonly ConnectedProxy[] {
    return this.server.proxies().map((proxy) => this.withCertificate(proxy));
  }

  ids(): Iterable<string> {
    return this.server.ids();
  }

  listStreams(proxy: string): readonly ConnectedProxy[] {
    return this.server.listStreams(proxy).map((stream) => this.withCertificate(stream));
  }

  onMoved(listener: (proxy: string) => void): () => void {
    const stop = this.server.onMoved(listener);
    this.certified.add(listener);
    return () => {
      this.certified.delete(listener);
      stop();
    };
  }

  onLeaving(listener: (proxy: ConnectedProxy) => void): () => void {
    return this.server.onLeaving((proxy) => listener(this.withCertificate(proxy)));
  }

  get position(): ObservedProxies['position'] {
    const { revision, point } = this.resources;
    return point && { revision, point };
  }

  get generation(): number {
    return this.resources.generation;
  }

  findAuthorities(version: string): readonly string[] | undefined {
    return this.resources.findAuthorities(version);
  }

  /** The values at the moment of the scrape. */
  metrics(): readonly XdsMetric[] {
    const { server, resources, signer, proxyCertificates: certificates, agents } = this;
    const { enrolments } = this.options;
    return xdsMetrics({ server, resources, signer, certificates, agents, enrolments });
  }

  /** Ends all streams, so that proxies turn to another replica. */
  async close(): Promise<void> {
    this.registrar.close();
    this.proxyCertificates.close();
    this.ending.abort();
    await this.agents.close();
    await this.server.close();
    await this.reporting;
    await this.reporter.end();
    this.unfollow();
    this.options.tables.hosts.keep([]);
  }

  private renewed(view: EnvoyView, mesh: string | undefined): void {
    this.resources.viewChanged(view, mesh);
    if (view.dataplane) for (const listener of this.certified) listener(dataplaneProxyId(view.dataplane));
  }

  private createCertificates(): ProxyCertificates {
    const { index, clock, logger, workloads } = this.options;
    return new ProxyCertificates({
      clock,
      logger,
      signer: this.signer,
      authority: workloads.authority,
      meshAuthority: (mesh) => findMeshAuthority(index, mesh)?.certificate,
      listIds: (owner) => spiffeIdsIn(index, owner),
    });
  }

  private createAuthenticator(peers: PeerCertificates): ZoneProxyAuthenticator {
    const { zone, index, clock, scope, tokens, enrolments } = this.options;
    return new ZoneProxyAuthenticator({
      zone,
      index,
      dataplaneTokens: tokens.dataplane,
      zoneTokens: tokens.zone,
      scope,
      enrolments,
      clock,
      certificates: this.proxyCertificates,
      registrar: this.registrar,
      listIds: (dataplane) => spiffeIdsIn(index, { type: 'dataplane', dataplane }),
      peers,
      renewed: (view, mesh) => this.renewed(view, mesh),
      destinations: (mesh) => countDestinations(this.resources.model.destinations(), mesh),
    });
  }

  private createServer(): XdsServer<EnvoyView> {
    const { clock, logger, limits } = this.options;
    const { auth, resources, agents, signer } = this;
    const certificates = new WorkloadCertificateServer({
      clock,
      logger,
      signer,
      authorise: (caller) => auth.dataplanes.authoriseWorkload(caller),
      trust: (mesh) => resources.model.trust(mesh),
    });
    const admitting: ProxyAuthenticator<EnvoyView> = {
      admit: async (caller) => {
        await resources.whenLoaded();
        return auth.admit(caller);
      },
      onChange: (changed) => auth.onChange(changed),
    };
    const addServices: XdsServerOptions<EnvoyView>['addServices'] = (server, streams) => {
      certificates.addTo(server, streams);
      agents.addTo(server, streams);
    };
    return new XdsServer({
      source: resources,
      auth: admitting,
      clock,
      logger,
      addServices,
      ...(limits && { limits }),
    });
  }

  private createPeers(): PeerCertificates {
    const { access, clock, index, zone } = this.options;
    return new PeerCertificates({
      clock,
      trust: (mesh) => this.resources.model.trust(mesh),
      isRevoked: (mesh, uri) =>
        revokedIdsIn(index, { mesh, zone }, access.meshes.state(mesh)?.access?.revoked ?? []).includes(uri),
    });
  }

  private createAgents(peers: PeerCertificates): AgentServer {
    const { zone, index, clock, logger, tokens, admission, leases, zoneFacts, enrolments } = this.options;
    return new AgentServer({
      zone,
      index,
      clock,
      logger,
      dataplaneTokens: tokens.dataplane,
      peers,
      admission,
      leases: leases.store,
      leaseLength: leases.length,
      zoneFacts,
      enrolments,
      listIds: (dataplane) => spiffeIdsToBe(index, dataplane),
      streams: this.options.limits?.streams ?? DEFAULT_XDS_LIMITS.streams,
    });
  }

  private withCertificate(proxy: ProxyStatus): ConnectedProxy {
    const certificate = this.auth.findCertificate(proxy.id);
    return { ...proxy, ...(certificate && { certificate }) };
  }
}

function countDestinations(destinations: Iterable<Destination>, mesh: string): number {
  let count = 0;
  for (const { service } of destinations) if (service.mesh === mesh) count += 1;
  return count;
}

type IdentityOwner =
  | Pick<Extract<CertificateOwner, { type: 'dataplane' }>, 'type' | 'dataplane'>
  | Extract<CertificateOwner, { type: 'egress' }>;

/** The SPIFFE ids by which a stored Dataplane, or the egress in a mesh, is known: that of its next certificate first. */
function spiffeIdsIn(index: IndexReader, owner: IdentityOwner): readonly string[] {
  if (owner.type === 'egress') {
    const uri = findEgressIdentity(index, owner)?.uri;
    return uri === undefined ? [] : [uri];
  }
  const dataplane = index.get(owner.dataplane);
  return dataplane && Dataplane.is(dataplane) ? spiffeIdsToBe(index, dataplane) : [];
}

/** The same of a Dataplane that need not be stored. */
function spiffeIdsToBe(index: IndexReader, dataplane: DataplaneResource): readonly string[] {
  const identities = [...index.ofKind(MeshIdentity.name)].filter((one) => MeshIdentity.is(one));
  const identity = identityFor(dataplane, identities);
  return identity ? listSpiffeIds(dataplane, identity, readPresetPath(index, dataplane.id)) : [];
}

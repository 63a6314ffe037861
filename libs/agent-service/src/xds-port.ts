import type { DataplaneTokens, ServerCertificates, ZoneProxyTokens } from '@causeway/access';
import type { DataplaneResource } from '@causeway/dataplanes';
import {
  findEgressIdentity,
  type Enrolments,
  selectIdentity,
  findMeshAuthority,
  readPresetPath,
  listRevokedIds,
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

/** Dependencies and listen options of the port. */
export interface XdsPortOptions {
  readonly zone: string;
  readonly replica: ServingReplica;
  readonly index: IndexReader;
  readonly access: AccessSource;
  readonly tables: ServedTables;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Tokens by which Dataplanes authenticate, and ingresses and egresses of the zone. */
  readonly tokens: {
    readonly dataplane: Pick<DataplaneTokens, 'verify' | 'onChange'>;
    readonly zone: Pick<ZoneProxyTokens, 'verify' | 'onChange'>;
  };
  /** Enrolments of machines. */
  readonly enrolments: Enrolments;
  readonly workloads: WorkloadIssuer;
  /** Resources that proxies are sent: those they use, or every service of their mesh (CAUSEWAY_XDS_SCOPE). */
  readonly scope: 'used' | 'all';
  /** Leases of agents, and their validity without a heartbeat, ms (CAUSEWAY_AGENT_LEASE). */
  readonly leases: { readonly store: AgentLeaseStore; readonly length: number };
  /** Returns the facts of the zone that are sent to machines with Dataplanes of a mesh. */
  readonly zoneFacts: (mesh: string) => { readonly virtualRanges: string[]; readonly dnsSuffixes: string[] };
  /** Returns the admission for Dataplanes that proxies and agents register, with these rights. */
  readonly admission: DataplaneRegistrarOptions['admission'];
  readonly limits?: Partial<XdsLimits>;
  readonly listen: ListenOptions;
}

/** This replica, as other replicas know it. */
interface ServingReplica {
  /** Id of this replica, new after each start. */
  readonly instance: string;
  /** Announces, before the first proxy connects, that this replica supports enrolments. Rejects with Unavailable. */
  readonly announce: () => Promise<unknown>;
  /** Store in which replicas report their proxies. */
  readonly store: Pick<ProxySessionStore, 'report'>;
}

/** Tables, created before their readers. */
interface ServedTables {
  readonly routes: FollowedRoutes;
  readonly policies: PolicySource;
  /** Addresses of external services and host names, for proxies that do not resolve names themselves. */
  readonly hosts: HostSource;
}

/** Issuer of certificates of workloads. */
interface WorkloadIssuer {
  readonly certificates: Pick<WorkloadCertificates, 'issue' | 'issueToEgress'>;
  /** Returns the certificate (PEM) of the authority that signs workloads. */
  readonly authority: () => Promise<string | undefined>;
}

interface ListenOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Called once, when the port is opened; undefined: plaintext. */
  readonly certificates: () => ServerCertificates | undefined;
}

/** Connected proxy, with the status of a certificate that this control plane renews. */
export interface ConnectedProxy extends ProxyStatus {
  readonly certificate?: CertificateStatus;
}

/** Port at which every replica serves the proxies of a zone. */
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
  /** Called with a proxy whose certificate has changed. */
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

  /** Listens and resolves with the port. Rejects if it cannot listen. */
  async listen(): Promise<number> {
    await this.options.replica.announce();
    // Announces before the first proxy connects (docs/reference/proxies.md).
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

  /** Address at which it listens; port 0 before. */
  get address(): { readonly host: string; readonly port: number } {
    return { host: this.options.listen.host, port: this.bound };
  }

  /** Server certificates; undefined if proxies are served in plaintext, and before the start. */
  get certificates(): ServerCertificates | undefined {
    return this.options.listen.certificates();
  }

  /** Returns why the certificate in use is not the configured one. */
  warnings(): readonly string[] {
    const fault = this.certificates?.fault();
    return fault === undefined ? [] : [`xDS: ${fault}`];
  }

  /** Returns every stream of every connected proxy of this replica. */
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

  /** Returns the current metric values. */
  metrics(): readonly XdsMetric[] {
    const { server, resources, signer, proxyCertificates: certificates, agents, auth } = this;
    const { enrolments } = this.options;
    const listViews = (): Iterable<EnvoyView> => auth.listViews();
    return xdsMetrics({ server, resources, listViews, signer, certificates, agents, enrolments });
  }

  /** Ends all streams, so that proxies connect to another replica. */
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
      listIds: (owner) => listStoredSpiffeIds(index, owner),
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
      listIds: (dataplane) => listStoredSpiffeIds(index, { type: 'dataplane', dataplane }),
      peers,
      renewed: (view, mesh) => this.renewed(view, mesh),
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
        listRevokedIds(index, { mesh, zone }, access.meshes.state(mesh)?.access?.revoked ?? []).includes(uri),
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
      listIds: (dataplane) => listFutureSpiffeIds(index, dataplane),
      streams: this.options.limits?.streams ?? DEFAULT_XDS_LIMITS.streams,
    });
  }

  private withCertificate(proxy: ProxyStatus): ConnectedProxy {
    const certificate = this.auth.findCertificate(proxy.id);
    return { ...proxy, ...(certificate && { certificate }) };
  }
}

type IdentityOwner =
  | Pick<Extract<CertificateOwner, { type: 'dataplane' }>, 'type' | 'dataplane'>
  | Extract<CertificateOwner, { type: 'egress' }>;

/** Returns the SPIFFE ids of a stored Dataplane, or of the egress in a mesh, that of its next certificate first. */
function listStoredSpiffeIds(index: IndexReader, owner: IdentityOwner): readonly string[] {
  if (owner.type === 'egress') {
    const uri = findEgressIdentity(index, owner)?.uri;
    return uri === undefined ? [] : [uri];
  }
  const dataplane = index.get(owner.dataplane);
  return dataplane && Dataplane.is(dataplane) ? listFutureSpiffeIds(index, dataplane) : [];
}

/** Returns the SPIFFE ids of a Dataplane that need not be stored. */
function listFutureSpiffeIds(index: IndexReader, dataplane: DataplaneResource): readonly string[] {
  const identities = [...index.ofKind(MeshIdentity.name)].filter((one) => MeshIdentity.is(one));
  const identity = selectIdentity(dataplane, identities);
  return identity ? listSpiffeIds(dataplane, identity, readPresetPath(index, dataplane.id)) : [];
}

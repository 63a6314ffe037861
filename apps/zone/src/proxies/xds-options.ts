import { Module, type DynamicModule } from '@nestjs/common';
import { Admission } from '@causeway/admission';
import {
  INDEX,
  MESHES,
  POLICIES,
  PortCertificates,
  retryWhileUnavailable,
  ROUTES,
  sourceForUsers,
  streamRates,
  type CertificateSource,
  type ControlPlaneCore,
  type ModuleImports,
} from '@causeway/control-plane';
import { ENROLMENT_REPLICAS, IDENTITY_PATH_REPLICAS, ProxyDirectory, UpgradedSecrets } from '@causeway/controllers';
import { FirstState } from '@causeway/kds';
import { Enrolments, isEnrolmentInForce, WorkloadCertificates, ZoneAuthority } from '@causeway/identity';
import { injectFrom, provideFrom, type Provided } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { DialledHosts } from '@causeway/xds-translation';
import { XdsModule, type XdsPortOptions } from '@causeway/agent-service';
import { listVirtualRanges } from '../address-ranges';
import type { ZoneSettings } from '../config';
import { UpgradedSecretsModule } from '../identity/upgraded-secrets.module';
import { AgentRivals } from './agent-rivals';
import { ZONE_TOKEN_REPLICAS } from '../global/kept-zone-token';
import { DATAPLANE_TOKENS, ZONE_PROXY_TOKENS } from '../identity/workload-identity.module';

/** Returns the bind address of the xDS port: that of REST by default. */
function xdsBindAddress(settings: ZoneSettings): string {
  return settings.CAUSEWAY_XDS_BIND_ADDRESS ?? settings.CAUSEWAY_BIND_ADDRESS;
}

/**
 * Returns the source of the certificate of the xDS port; ends the program with one line if settings contradict each
 * other.
 */
function xdsCertificateSource(settings: ZoneSettings): CertificateSource {
  return sourceForUsers(settings, {
    prefix: 'CAUSEWAY_XDS_TLS',
    tls: settings.CAUSEWAY_XDS_TLS,
    certificateFile: settings.CAUSEWAY_XDS_TLS_CERT_FILE,
    keyFile: settings.CAUSEWAY_XDS_TLS_KEY_FILE,
    bindAddress: xdsBindAddress(settings),
  });
}

/** Certificates of the xDS port. */
export class XdsCertificates extends PortCertificates {}

type CoreOption = { readonly core: ControlPlaneCore<ZoneSettings> };

/** Provides the certificate by which proxies verify a zone's control plane. */
@Module({})
class XdsCertificatesModule {
  static forRoot({ imports, core }: ModuleImports & CoreOption): DynamicModule {
    const bindAddress = xdsBindAddress(core.settings);
    const source = xdsCertificateSource(core.settings);
    const provider = provideFrom(
      XdsCertificates,
      { backend: POSTGRES_BACKEND, index: INDEX },
      ({ backend: { store }, index }) => new XdsCertificates(core, store, index, { name: 'xDS', source, bindAddress }),
    );
    return { module: XdsCertificatesModule, imports, providers: [provider], exports: [XdsCertificates] };
  }
}

const SOURCES = {
  backend: POSTGRES_BACKEND,
  index: INDEX,
  meshes: MESHES,
  routes: ROUTES,
  policies: POLICIES,
  firstState: FirstState,
  proxies: ProxyDirectory,
  hosts: DialledHosts,
  secrets: UpgradedSecrets,
  dataplaneTokens: DATAPLANE_TOKENS,
  zoneTokens: ZONE_PROXY_TOKENS,
  workloadCertificates: WorkloadCertificates,
  authority: ZoneAuthority,
  certificates: XdsCertificates,
  enrolments: Enrolments,
};

/** Creates the module that serves the zone's proxies; `imports` are the modules of its dependencies. */
export function xdsModule({ imports, core }: ModuleImports & CoreOption): DynamicModule {
  return XdsModule.forRootAsync({
    imports: [
      ...imports,
      XdsCertificatesModule.forRoot({ imports, core }),
      UpgradedSecretsModule.forRoot({ imports, core }),
    ],
    ...injectFrom(SOURCES, (sources) => xdsOptions(core, sources)),
  });
}

function xdsOptions(
  core: ControlPlaneCore<ZoneSettings>,
  { backend, index, meshes, firstState, proxies, secrets, enrolments, ...sources }: Provided<typeof SOURCES>,
): XdsPortOptions {
  const { routes, policies, hosts, dataplaneTokens, zoneTokens, workloadCertificates, authority, certificates } =
    sources;
  const { clock, logger, settings, instance } = core;
  const length = settings.CAUSEWAY_AGENT_LEASE;
  const rivals = new AgentRivals({ store: backend.store, clock, logger, length });
  return {
    zone: settings.CAUSEWAY_ZONE_NAME,
    replica: { instance, announce: () => announce(core, backend, index), store: backend.proxies },
    index,
    tables: { routes, policies, hosts },
    clock,
    logger,
    tokens: { dataplane: dataplaneTokens, zone: zoneTokens },
    enrolments,
    workloads: { certificates: workloadCertificates, authority: () => signingCertificate(authority) },
    leases: { store: backend.agentLeases, length, onHeld: (claim, by) => rivals.record(claim, by) },
    zoneFacts: (mesh) => ({
      virtualRanges: listVirtualRanges(settings, meshes.state(mesh)?.parameters),
      dnsSuffixes: [...settings.CAUSEWAY_DNS_SUFFIXES],
    }),
    access: {
      meshes,
      isReady: () => firstState.isReady(),
      onReady: (listener) => firstState.onReady(listener),
      // A proxy that has accepted the trust has the inbounds that take TLS, because these refer to the trust.
      takesTls: (dataplane) => (proxies.ofOwner(dataplane)?.facts.authorities?.length ?? 0) > 0,
      onTls: (listener) => proxies.subscribe(listener),
      areSecretsUpgraded: () => secrets.isDone(),
    },
    admission: (access) => toAdmission(core, backend, { index, meshes, access }),
    scope: settings.CAUSEWAY_XDS_SCOPE,
    limits: readLimits(settings),
    listen: {
      host: xdsBindAddress(settings),
      port: settings.CAUSEWAY_XDS_PORT,
      certificates: () => certificates.certificates(),
    },
  };
}

/** Returns the certificate in PEM of the authority that signs now. */
async function signingCertificate(authority: ZoneAuthority): Promise<string | undefined> {
  const state = await authority.state();
  return state?.authorities.find(({ id }) => id === state.signing)?.certificate;
}

/** Returns the admission of writes by agents: `access` decides what each may write. */
function toAdmission(
  core: ControlPlaneCore<ZoneSettings>,
  { store, agentLeases }: PostgresBackend,
  sources: Pick<ConstructorParameters<typeof Admission>[0], 'index' | 'meshes' | 'access'>,
): Admission {
  return new Admission({ ...core, ...sources, controlPlane: core.cp, store, leases: agentLeases });
}

function readLimits(settings: ZoneSettings): NonNullable<XdsPortOptions['limits']> {
  return {
    connections: {
      all: settings.CAUSEWAY_XDS_CONNECTIONS,
      address: settings.CAUSEWAY_XDS_CONNECTIONS_PER_CLIENT,
      streams: streamRates(settings),
    },
    streams: settings.CAUSEWAY_XDS_STREAMS,
    sharedNames: settings.CAUSEWAY_XDS_NAMES,
    unackedBytes: settings.CAUSEWAY_XDS_UNACKED_MIB * 1024 * 1024,
  };
}

/** Records that this replica supports enrolments, forms of SPIFFE ids and kept zone tokens: the zone uses them once all replicas do. */
async function announce(
  core: ControlPlaneCore<ZoneSettings>,
  { store }: PostgresBackend,
  index: IndexReader,
): Promise<void> {
  const { shutdown: signal, clock, logger, instance, settings } = core;
  const value = { since: clock.now() };
  const areas = isEnrolmentInForce(index, settings.CAUSEWAY_ZONE_NAME) ? [] : [ENROLMENT_REPLICAS];
  const entries = [...areas, IDENTITY_PATH_REPLICAS, ZONE_TOKEN_REPLICAS].map((area) => ({
    area,
    key: instance,
    value,
  }));
  const write = (): Promise<unknown> => store.write({ changes: [], onRefusal: 'abort', metadata: entries });
  await retryWhileUnavailable(write, { clock, logger, signal });
}

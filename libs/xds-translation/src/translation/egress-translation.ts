import { Cluster, Listener, TlsSecret } from '@causeway/proto-gen';
import type { SocketAddress } from '../model/ingress-endpoint';
import type { DestinationConfig } from '../model/destination';
import { encodeResource, type RefusedResource, RESOURCE_TYPES } from '@causeway/xds-server';
import { unservedMeshes } from '../dataplane/zone-listeners';
import type { EnvoyView } from '../views/envoy-view';
import { leavingCluster } from '../messages/clusters';
import { egressListener, type LeavingMesh } from '../messages/egress-listener';
import { findExternalProblem } from '../messages/external-sockets';
import { identitySecret, trustSecret } from '../messages/tls';
import * as names from '../names/resource-names';
import { kept, type ResourceBuild, type TranslationOptions } from './resource-build';

/** The view of proxies that are the zone's egress. */
export type EgressView = EnvoyView & Required<Pick<EnvoyView, 'egress'>>;

const ABSENT = undefined;

/** Translates the resources of an egress of the zone, for all meshes (docs/reference/xds-translation.md, The zone egress). */
export class EgressTranslation {
  constructor(private readonly options: Pick<TranslationOptions, 'tables'>) {}

  /** Like `Translation.plan`. */
  plan(view: EgressView, type: string, name: string): ResourceBuild | 'pending' | undefined {
    switch (type) {
      case RESOURCE_TYPES.cluster:
        return this.cluster(view, name);
      case RESOURCE_TYPES.listener:
        return this.listener(view, name);
      case RESOURCE_TYPES.secret:
        return this.secret(view, name);
      default:
        return ABSENT;
    }
  }

  /** Yields the cluster of a destination, if the destination is reached through the egress. */
  *clusterNames(destination: DestinationConfig): Iterable<string> {
    if (!destination.egress) return;
    const isRuled = this.options.tables().model.egressRules.of(destination) !== undefined;
    yield names.egressClusterName(destination.egress.serverName, isRuled);
  }

  /** Returns the meshes that the egress serves: those with services outside the mesh, where it has an identity and access is known. */
  leavingMeshes(): readonly Omit<LeavingMesh, 'ruled'>[] {
    return this.options
      .tables()
      .table.leavingMeshes()
      .flatMap((mesh) => this.leavingMesh(mesh) ?? []);
  }

  /** Returns the meshes whose traffic the egress blocks, with the reason. */
  unserved(at: SocketAddress): readonly RefusedResource[] {
    const { table, model } = this.options.tables();
    const meshes = table.leavingMeshes().filter((mesh) => model.egress.getIdentity(mesh) === '');
    return unservedMeshes(at, meshes);
  }

  private leavingMesh(mesh: string): Omit<LeavingMesh, 'ruled'> | undefined {
    const { table, model } = this.options.tables();
    if (!table.leaves(mesh) || model.egress.getIdentity(mesh) === '') return ABSENT;
    const access = model.access.ofEgress(mesh);
    return access && { mesh, ...access };
  }

  private cluster(view: EgressView, name: string): ResourceBuild | undefined {
    const { table, model } = this.options.tables();
    const named = names.egressCluster(name);
    const destination = named && table.throughEgress(named.serverName);
    if (!destination?.external) return ABSENT;
    if ((model.egressRules.of(destination) !== undefined) !== named?.isRuled) return ABSENT;
    const problem = findExternalProblem(destination.external, view.systemAuthorities);
    const plan = kept('view', (last) => encodeResource(Cluster, leavingCluster(name, destination, view), last));
    return problem === undefined ? plan : { ...plan, problem };
  }

  private listener({ egress: { at }, sourceLimits }: EgressView, name: string): ResourceBuild | undefined {
    if (names.egressListenerName(at) !== name) return ABSENT;
    const { table, model } = this.options.tables();
    const ruled = model.egressRules.group(table.throughEgresses());
    const meshes = this.leavingMeshes().map((each) => ({ ...each, ruled: ruled.get(each.mesh) ?? [] }));
    const fields = egressListener(at, meshes, sourceLimits);
    return kept('view', (last) => encodeResource(Listener, fields, last));
  }

  /** Plans the egress's certificate in a mesh, or the authorities of that mesh. */
  private secret({ egress: { identity } }: EgressView, name: string): ResourceBuild | 'pending' | undefined {
    const wanted = names.parseEgressSecret(name);
    if (!wanted || !this.leavingMesh(wanted.mesh)) return ABSENT;
    if (wanted.type === names.TRUST_SECRET) {
      const domains = this.options.tables().model.trust(wanted.mesh);
      if (domains.length === 0) return ABSENT;
      return kept('view', (last) => encodeResource(TlsSecret, trustSecret(domains, name), last));
    }
    const certificate = identity(wanted.mesh);
    if (!certificate) return 'pending';
    return kept('view', (last) => encodeResource(TlsSecret, identitySecret(certificate, name), last));
  }
}

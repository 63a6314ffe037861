import {
  Cluster,
  ClusterLoadAssignment,
  FilterChain,
  HostName,
  Listener,
  RouteConfiguration,
  TlsSecret,
} from '@causeway/proto-gen';
import { identityKey } from '@causeway/resources';
import { hasNames, type DestinationConfig, type DestinationUpstream, type LocalEndpoint } from '../model/destination';
import { GrpcTranslation } from './grpc-translation';
import { encodeResource, type RefusedResource, RESOURCE_TYPES } from '@causeway/xds-server';
import { destinationCluster, emptyCluster, reentryCluster } from '../messages/clusters';
import { formatVip } from '../tables/destination-table';
import { destinationEndpoints, egressEndpoints, ingressEndpoints, noEndpoints } from '../messages/endpoints';
import { EgressTranslation } from './egress-translation';
import { hasChains, type EnvoyView } from '../views/envoy-view';
import { toHostName } from '../messages/host-name';
import { type ingressListener } from '../messages/ingress-listener';
import * as names from '../names/resource-names';
import { DataplaneTranslation } from './dataplane-translation';
import { externalEndpoints, needsSystemAuthorities, findExternalProblem } from '../messages/external-sockets';
import { kept, type ResourceBuild, type TranslationOptions } from './resource-build';
import * as outbound from '../messages/outbound-listeners';
import { identitySecret, trustSecret } from '../messages/tls';
import { firstProblem, type TrafficMode } from '../tables/service-bindings';

const ABSENT = undefined;

/** Translates Envoy's resources by type and name: pure functions of the model and the view (docs/reference/xds-translation.md, Names). */
export class Translation {
  private readonly grpc: GrpcTranslation;
  readonly egress: EgressTranslation;
  readonly own: DataplaneTranslation;

  constructor(private readonly options: TranslationOptions) {
    this.grpc = new GrpcTranslation(options);
    this.egress = new EgressTranslation(options);
    this.own = new DataplaneTranslation({
      tables: options.tables,
      filterTo: (view, name) => this.filterToName(view, name),
    });
  }

  /** Plans a resource; undefined if there is none of this name, `pending` until a later change. The cost is linear in its content. */
  plan(view: EnvoyView, type: string, name: string): ResourceBuild | 'pending' | undefined {
    if (type === RESOURCE_TYPES.hostName) return this.hostName(view, name);
    // Secrets of gRPC are planned like Envoy's: an agent writes them into the files of its programs.
    if (view.wire === 'grpc' && type !== RESOURCE_TYPES.secret) return this.grpc.plan(view, type, name);
    if (view.egress) return this.egress.plan({ ...view, egress: view.egress }, type, name);
    switch (type) {
      case RESOURCE_TYPES.cluster:
        return this.cluster(view, name);
      case RESOURCE_TYPES.endpoints:
        return this.endpoints(view, name);
      case RESOURCE_TYPES.listener:
        return this.listener(view, name);
      case RESOURCE_TYPES.filterChain:
        return this.chain(view, name);
      case RESOURCE_TYPES.routes:
        return this.routes(view, name);
      case RESOURCE_TYPES.secret:
        return this.secret(view, name);
      default:
        return ABSENT;
    }
  }

  /** Lists the listeners of a view's own Dataplane, or the meshes of its egress, that are not served, with the reason. */
  unserved(view: EnvoyView): readonly RefusedResource[] {
    return view.egress ? this.egress.unserved(view.egress.at) : this.own.unserved(view);
  }

  /** Returns a destination of the view's mesh without its names. */
  private upstream({ mesh }: EnvoyView, name: string): DestinationUpstream | undefined {
    const found = this.options.tables().model.upstream(name);
    return found?.service.mesh === mesh ? found : undefined;
  }

  /** Returns a destination without its endpoints. */
  config({ mesh }: EnvoyView, name: string): DestinationConfig | undefined {
    const found = this.options.tables().model.config(name);
    return found?.service.mesh === mesh ? found : undefined;
  }

  /** A kernel that forwards connections itself has no identity: it uses plaintext wherever that is accepted, and no other endpoints. */
  private asSeenBy({ capture }: EnvoyView, destination: DestinationUpstream): DestinationUpstream {
    if (capture?.type !== 'translate') return destination;
    const seen = (each: LocalEndpoint): LocalEndpoint => ({ ...each, plaintext: each.takesPlaintext });
    const { local, localNames } = destination;
    return { ...destination, local: local.map(seen), localNames: localNames.map(seen) };
  }

  private cluster(view: EnvoyView, name: string): ResourceBuild | undefined {
    const vip = names.vipOfCluster(name);
    if (vip !== undefined) return this.vipCluster(view, name, vip);
    const sni = names.sniOfCluster(name);
    if (sni !== undefined) return this.alone(() => this.own.ingressCluster(view, name, sni));
    if (names.isProcessCluster(name)) return this.alone(() => this.own.processCluster(view, name));
    const destination = this.upstream(view, name);
    return destination && this.towards(view, name, destination, 'mesh');
  }

  /** Builds something that only a Dataplane's proxies have; its reads are recorded as theirs. */
  private alone<R>(make: () => R): R {
    return this.options.tables().reads.recordOwn(make);
  }

  /** Never returns undefined: Envoy would let connections hang. An HTTP address leads back to its filter chain, so that routes apply. */
  private vipCluster(view: EnvoyView, name: string, vip: string): ResourceBuild {
    const destination = this.options.tables().table.atVip(view.mesh, vip);
    if (!destination)
      return { ...kept('mesh', (last) => encodeResource(Cluster, emptyCluster(name), last)), isKept: false };
    const { capture } = view;
    if (this.hasChain(view, destination) && capture?.type === 'redirect')
      return kept('view', (last) => encodeResource(Cluster, reentryCluster(name, capture.reentry), last));
    const scope = this.trafficMode(view, destination) === 'bytes' ? 'mesh' : 'bytes';
    return this.towards(view, name, destination, scope);
  }

  /** Plans the cluster of a destination; parts that cannot be translated are shown at the Dataplanes that use it. */
  private towards(
    view: EnvoyView,
    name: string,
    destination: DestinationUpstream,
    scope: ResourceBuild['scope'],
  ): ResourceBuild {
    const { systemAuthorities } = view;
    const { model, backendPolicies } = this.options.tables();
    const rules = backendPolicies.getRules(destination);
    const options = { zone: model.zone, systemAuthorities, rules, withNames: view.resolvesNames === true };
    const isDirect = destination.external !== undefined && !destination.egress;
    const problem =
      isDirect && destination.external ? findExternalProblem(destination.external, systemAuthorities) : undefined;
    const isOwn = isDirect && needsSystemAuthorities(destination);
    const plan = kept(isOwn ? 'view' : scope, (last) =>
      encodeResource(Cluster, destinationCluster(name, this.asSeenBy(view, destination), options), last),
    );
    return { ...plan, isByNames: isDirect || hasNames(destination), ...(problem && { problem }) };
  }

  /** Never returns undefined: a cluster would wait for its endpoints. */
  private endpoints(view: EnvoyView, name: string): ResourceBuild {
    const { model, backendPolicies } = this.options.tables();
    const none: ResourceBuild = {
      ...kept('mesh', (previous) => encodeResource(ClusterLoadAssignment, noEndpoints(name), previous)),
      isKept: false,
    };
    if (name === names.EGRESS_ENDPOINTS)
      return kept('mesh', (last) =>
        encodeResource(ClusterLoadAssignment, egressEndpoints(model.egress.addresses), last),
      );
    const entered = names.parseIngressEndpoints(name);
    if (entered) {
      const { mesh, zone } = entered;
      const ingressEndpoint = mesh === view.mesh ? model.ingressEndpoint(mesh, zone) : undefined;
      if (!ingressEndpoint) return none;
      return kept('mesh', (last) =>
        encodeResource(ClusterLoadAssignment, ingressEndpoints(mesh, zone, ingressEndpoint), last),
      );
    }
    const local = names.destinationOfLocalEndpoints(name);
    if (local !== undefined) return this.alone(() => this.own.localEndpoints(view, name, local)) ?? none;
    const destination = this.upstream(view, name);
    // The addresses of a service outside the mesh are known to the egress, not to its clients.
    if (!destination || destination.egress) return none;
    if (destination.external)
      return kept('mesh', (last) => encodeResource(ClusterLoadAssignment, externalEndpoints(name, destination), last));
    const findIngressEndpoint = (mesh: string, zone: string) => model.ingressEndpoint(mesh, zone);
    return kept('mesh', (last) =>
      encodeResource(
        ClusterLoadAssignment,
        destinationEndpoints(
          this.asSeenBy(view, destination),
          model.zone,
          findIngressEndpoint,
          backendPolicies.getRules(destination).balancing?.locality,
        ),
        last,
      ),
    );
  }

  private listener(view: EnvoyView, name: string): ResourceBuild | 'pending' | undefined {
    const { capture } = view;
    const made = (fields: ReturnType<typeof ingressListener>): ResourceBuild =>
      kept('view', (previous) => encodeResource(Listener, fields, previous));
    const { prefix, rest: vip } = names.parseXdsName(name) ?? {};
    if (prefix === 'ingress' || prefix === 'inbound' || prefix === 'explicit')
      return this.alone(() => this.own.listener(view, name));
    if (capture?.type === 'redirect') {
      const http = this.options.listHttpAddresses(view);
      if (name === names.OUTBOUND_LISTENER) return made(outbound.redirectListener(capture, http));
      return name === names.REENTRY_LISTENER ? made(outbound.reentryListener(capture.reentry, http)) : ABSENT;
    }
    const isBound = prefix === 'outbound' && vip !== undefined && capture?.type === 'bind';
    const destination = isBound ? this.options.tables().table.configAtVip(view.mesh, vip) : ABSENT;
    if (!destination) return ABSENT;
    const filter = this.filterTo(view, destination);
    return kept('mesh', (last) => encodeResource(Listener, outbound.boundListener(destination, filter), last));
  }

  /** Never returns undefined for a requested chain: the listener refers to it and would not become ready. */
  private chain(view: EnvoyView, name: string): ResourceBuild {
    const vip = names.restOfXdsName(name, 'fc');
    const destination = vip === undefined ? ABSENT : this.options.tables().table.configAtVip(view.mesh, vip);
    if (!destination || this.trafficMode(view, destination) === 'bytes') {
      const closed = outbound.closedChain(name);
      return { ...kept('mesh', (previous) => encodeResource(FilterChain, closed, previous)), isKept: false };
    }
    const fields = outbound.destinationChain(name, this.filterTo(view, destination));
    return kept('mesh', (last) => encodeResource(FilterChain, fields, last));
  }

  private routes(view: EnvoyView, name: string): ResourceBuild | undefined {
    const destination = this.config(view, name);
    if (!destination || this.trafficMode(view, destination) !== 'requests') return ABSENT;
    const { routes } = this.options.tables();
    const { routes: made, problems } = routes.requests(view, destination);
    const fields = outbound.toRouteConfiguration(destination, made);
    return { ...kept('mesh', (last) => encodeResource(RouteConfiguration, fields, last)), ...firstProblem(problems) };
  }

  private trafficMode(view: EnvoyView, destination: DestinationConfig): TrafficMode {
    return this.options.tables().routes.trafficMode(view, destination);
  }

  /** Reports whether a destination has a filter chain of its own in the view's redirect listener: if it is more than TCP. */
  hasChain(view: EnvoyView, destination: DestinationConfig): boolean {
    return hasChains(view) && this.trafficMode(view, destination) !== 'bytes';
  }

  private filterToName(view: EnvoyView, name: string): ReturnType<Translation['filterTo']> | undefined {
    const destination = this.config(view, name);
    return destination && this.filterTo(view, destination);
  }

  /** Plans the filter that takes connections to a destination. */
  private filterTo(view: EnvoyView, destination: DestinationConfig) {
    const { routes } = this.options.tables();
    const binding = routes.findBinding(view, destination);
    switch (this.trafficMode(view, destination)) {
      case 'requests':
        return outbound.httpFilter(destination);
      case 'shares':
        return outbound.sharingProxy(destination, binding ? routes.shares(binding) : []);
      case 'bytes':
        return outbound.tcpProxy(destination.name);
    }
  }

  /** Returns the namespace whose own routes or policies apply to a resource of a view; undefined if the producer's apply. */
  findConsumer(view: EnvoyView, type: string, name: string): string | undefined {
    if (!view.dataplane || view.capture?.type === 'translate') return ABSENT;
    const of = this.routed(view, type, name);
    const rules = type === RESOURCE_TYPES.routes || view.wire === 'grpc';
    return of && this.options.tables().routes.findConsumer(view, { of, rules });
  }

  /** Returns the destination whose routes a resource contains. */
  private routed(view: EnvoyView, type: string, name: string): DestinationConfig | undefined {
    const { table } = this.options.tables();
    if (view.wire === 'grpc') return type === RESOURCE_TYPES.listener ? table.configOfTarget(view.mesh, name) : ABSENT;
    if (type === RESOURCE_TYPES.routes) return this.config(view, name);
    const vip = names.vipIn(type, name);
    return vip === undefined ? ABSENT : table.configAtVip(view.mesh, vip);
  }

  private secret(view: EnvoyView, name: string): ResourceBuild | 'pending' | undefined {
    if (name === names.TRUST_SECRET) {
      const domains = this.options.tables().model.trust(view.mesh);
      return domains.length === 0
        ? ABSENT
        : kept('mesh', (last) => encodeResource(TlsSecret, trustSecret(domains), last));
    }
    const certificate = name === names.IDENTITY_SECRET ? view.identity?.() : ABSENT;
    return certificate && kept('view', (last) => encodeResource(TlsSecret, identitySecret(certificate), last));
  }

  private hostName({ mesh, ingress, egress }: EnvoyView, name: string): ResourceBuild | undefined {
    const { table, model } = this.options.tables();
    const found = ingress || egress ? ABSENT : table.withHostname(mesh, name);
    if (!found) return ABSENT;
    const ports = model.namesOfService(identityKey(found.service)).flatMap((each) => model.config(each) ?? []);
    return kept('mesh', (last) => encodeResource(HostName, toHostName(name, found, ports), last));
  }

  /** Returns the address of a destination if it is more than TCP to a view. */
  chainAt(view: EnvoyView, { vip, port }: DestinationConfig): string | undefined {
    if (vip === '') return undefined;
    const at = formatVip({ vip, port });
    const holder = this.options.tables().table.configAtVip(view.mesh, at);
    return holder && this.hasChain(view, holder) ? at : undefined;
  }
}

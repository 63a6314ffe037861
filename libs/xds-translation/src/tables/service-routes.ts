import {
  connectionAction,
  looksIntoRequests,
  ruleAction,
  type ChangeSet,
  type Binding,
  type Destination as Backend,
  type RouteTable,
  type RuleAction,
  consumerGroup,
  PRODUCER,
  type FrontendGroup,
} from '@causeway/routing';
import { identityKey, type Violation } from '@causeway/resources';
import type { Destination, DestinationConfig } from '../model/destination';
import type { TrafficModel } from './traffic-model';
import { backendShares, type BackendShare, type ClusterPart } from '../routes/backend-shares';
import { grpcClusterOf } from '../grpc/grpc-backends';
import { grpcRoutes, type GrpcCluster, type GrpcRoutes } from '../grpc/grpc-routes';
import { implicitCalls } from '../grpc/grpc-resources';
import { BackendPolicies } from '../policies/backend-policies';
import { policiesAt } from '../policies/effective-rules';
import { hashPolicies, type HashOf } from '../policies/hash-policies';
import type { EffectivePolicies } from './policy-source';
import type { PoliciesOf } from '../policies/rule-policies';
import { httpRoutes, type HttpRoutes } from '../routes/http-routes';
import { NO_READS, type Reads } from '../reads/recorded-reads';
import type { EnvoyView } from '../views/envoy-view';
import { isHttp } from '../messages/clusters';
import { destinationOfLocalEndpoints } from '../names/resource-names';
import { implicitRoute, retryPolicy } from '../messages/outbound-listeners';

/**
 * How a proxy carries what is sent to a port of a service: requests by routes, connections by shares, or bytes as they are.
 */
export type Carriage = 'requests' | 'shares' | 'bytes';

/** The key by which bindings are looked up. */
type Frontend = Pick<Destination, 'service' | 'port'>;

const NONE: ReadonlySet<string> = new Set();

/**
 * The bindings of routes as the proxies of a zone obey them: which decides for a view, how it carries traffic, and to which clusters.
 * All is made of the route table and the model when it is asked for.
 */
export class ServiceRoutes {
  private readonly backendPolicies: BackendPolicies;

  constructor(
    private readonly table: RouteTable,
    private readonly model: Pick<TrafficModel, 'zone' | 'namesOfService' | 'destination' | 'config'>,
    private readonly policies: EffectivePolicies,
    private readonly reads: Reads = NO_READS,
  ) {
    this.backendPolicies = new BackendPolicies(policies);
  }

  /** Returns the binding that decides for the clients of a view; undefined if the implicit route holds. */
  bindingOf({ dataplane }: EnvoyView, { service, port }: Frontend): Binding | undefined {
    const { table } = this;
    this.reads.read(`routes ${identityKey(service)}`);
    const frontend = table.frontend(service);
    return frontend && table.bindingFor({ namespace: dataplane?.namespace ?? '' }, frontend, port, 'tcp');
  }

  carriage(view: EnvoyView, destination: Frontend & Pick<Destination, 'protocol'>): Carriage {
    return carriageOf(this.bindingOf(view, destination), destination);
  }

  /** The clusters that the routes of a view lead to, besides the destination's own. */
  backends(view: EnvoyView, destination: Frontend): ReadonlySet<string> {
    const binding = this.bindingOf(view, destination);
    if (!binding) return NONE;
    const { table } = this;
    const actions: readonly RuleAction[] = looksIntoRequests(binding.kind)
      ? binding.routes.flatMap((route) => route.rules.map((rule) => ruleAction(table, binding, route, rule)))
      : [connectionAction(table, binding)];
    const found = actions.flatMap((action) => {
      if (action.type !== 'forward') return [];
      return [...action.backends, ...action.mirrors].flatMap(({ to }) => (to.ok ? this.namesOf(to.destination) : []));
    });
    return new Set(found);
  }

  /** Notes that what is bound to a frontend is another. */
  changed({ groups }: Pick<ChangeSet, 'groups'>): void {
    for (const { frontend } of groups) this.reads.changed(`routes ${frontend}`);
  }

  /** The routes of a destination by what is bound of HTTPRoutes or GRPCRoutes; without any, the implicit route. */
  requests(view: EnvoyView, destination: Destination): HttpRoutes {
    const binding = this.bindingOf(view, destination);
    const policiesOf = this.policiesOf(view, destination);
    const { hashOf } = this;
    if (!binding)
      return { routes: [implicitRoute(destination, policiesOf(), hashOf([destination.name]))], problems: [] };
    return httpRoutes(binding, {
      table: this.table,
      clustersOf: (of) => this.clustersOf(of),
      retryPolicy,
      policiesOf,
      hashOf,
    });
  }

  /** The shares of connections by a binding of TCPRoutes or TLSRoutes; none where all are refused. */
  shares(binding: Binding): readonly BackendShare[] {
    const action = connectionAction(this.table, binding);
    return action.type === 'forward' ? backendShares(action.backends, (of) => this.clustersOf(of)) : [];
  }

  /** The routes of calls to a destination by what is bound of any kind, or without, for the gRPC clients of this zone. */
  calls(view: EnvoyView, frontend: Destination): GrpcRoutes {
    const binding = this.bindingOf(view, frontend);
    const policiesOf = this.policiesOf(view, frontend);
    const { hashOf } = this;
    if (!binding) return implicitCalls(frontend, policiesOf(), hashOf);
    const { table, model } = this;
    const { zone } = model;
    const destinationOf = (service: Destination['service'], port: number): DestinationConfig | undefined =>
      this.destinationsOf(service, port)[0];
    const clusterOf = (backend: Backend): GrpcCluster => grpcClusterOf(backend, { zone, frontend, destinationOf });
    return grpcRoutes(binding, { table, clusterOf, policiesOf, hashOf });
  }

  /** The namespace of a view where routes of its own decide, or where it has a view of its own of the policies of `rules`. */
  consumersOf(view: EnvoyView, { of, rules }: { readonly of: Frontend; readonly rules: boolean }): string | undefined {
    const namespace = view.dataplane?.namespace;
    if (namespace === undefined) return undefined;
    const isBound = this.bindingOf(view, of)?.group === consumerGroup(namespace);
    const isOwn = isBound || (rules && this.policies.consumersOf(of.service).includes(namespace));
    return isOwn && this.groupOf(view, of) !== PRODUCER ? namespace : undefined;
  }

  /** The group of a view's clients; without routes and policies of their own, what is the producer's holds for them. */
  private groupOf({ dataplane }: EnvoyView, { service }: Frontend): FrontendGroup {
    const producers = this.table.frontend(service)?.namespace;
    const { namespace = producers } = dataplane ?? {};
    return namespace === undefined || namespace === producers ? PRODUCER : consumerGroup(namespace);
  }

  /** The policies of the rules at a port of a service for the clients of a view. */
  private policiesOf(view: EnvoyView, destination: Frontend): PoliciesOf {
    const { service: frontend, port } = destination;
    const at = { frontend, port, group: this.groupOf(view, destination) };
    return (of) => policiesAt(this.policies, of ? { ...at, route: of.route.id, rule: of.rule.name } : at);
  }

  /** Of several clusters the first that chooses by a hash says of what. */
  private readonly hashOf: HashOf = (clusters) => {
    for (const cluster of clusters) {
      const destination = this.model.config(destinationOfLocalEndpoints(cluster) ?? cluster);
      const found = destination ? hashPolicies(this.backendPolicies.rulesOf(destination).balancing) : [];
      if (found.length > 0) return found;
    }
    return [];
  };

  private destinationsOf(service: Destination['service'], port: number): readonly DestinationConfig[] {
    return this.model.namesOfService(identityKey(service)).flatMap((name) => {
      const destination = this.model.config(name);
      return destination?.port === port ? [destination] : [];
    });
  }

  /** The ports of the services of a backend, by name. */
  private namesOf({ services, port }: Backend): readonly string[] {
    return services
      .flatMap((service) => this.model.namesOfService(identityKey(service)))
      .filter((name) => this.model.config(name)?.port === port);
  }

  /** The clusters of a backend; several share by their instances. */
  private clustersOf(backend: Backend): readonly ClusterPart[] {
    const names = this.namesOf(backend);
    if (names.length === 1) return names.map((cluster) => ({ cluster, instances: 1 }));
    return names.flatMap((name) => {
      const destination = this.model.destination(name);
      return destination ? [partOf(destination)] : [];
    });
  }
}

function carriageOf(binding: Binding | undefined, destination: Pick<Destination, 'protocol'>): Carriage {
  if (!binding) return isHttp(destination) ? 'requests' : 'bytes';
  return looksIntoRequests(binding.kind) ? 'requests' : 'shares';
}

function partOf({ name, local, localNames, remote }: Destination): ClusterPart {
  const here = [...local, ...localNames].filter(({ ready }) => ready).length;
  return { cluster: name, instances: remote.reduce((sum, { instances }) => sum + instances, here) };
}

/** Returns the first part of a view's routes that cannot be translated, as a field of a plan. */
export function firstProblem(problems: readonly Violation[]): { readonly problem?: Violation } {
  const [problem] = problems;
  return problem ? { problem } : {};
}

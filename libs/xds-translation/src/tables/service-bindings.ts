import {
  connectionAction,
  looksIntoRequests,
  ruleAction,
  type ChangeSet,
  type Binding,
  type RouteDestination as Backend,
  type BindingTable,
  type RuleAction,
  consumerGroup,
  PRODUCER,
  type FrontendGroup,
} from '@causeway/routing';
import { identityKey, type Violation } from '@causeway/resources';
import type { Destination, DestinationConfig } from '../model/destination';
import type { TrafficModel } from './traffic-model';
import { backendShares, type BackendShare, type ClusterPart } from '../routes/backend-shares';
import { toGrpcCluster } from '../grpc/grpc-backends';
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

/** The way in which a proxy handles traffic to a port of a service: requests by routes, connections by shares, or bytes without routing. */
export type TrafficMode = 'requests' | 'shares' | 'bytes';

/** The key by which bindings are looked up. */
type FrontendKey = Pick<Destination, 'service' | 'port'>;

const NONE: ReadonlySet<string> = new Set();

/**
 * Resolves the bindings of routes for the proxies of a zone: the binding that applies to a view, its traffic mode, and its clusters. Everything is
 * read from the route table and the model on demand.
 */
export class ServiceBindings {
  private readonly backendPolicies: BackendPolicies;

  constructor(
    private readonly table: BindingTable,
    private readonly model: Pick<TrafficModel, 'zone' | 'namesOfService' | 'destination' | 'config'>,
    private readonly policies: EffectivePolicies,
    private readonly reads: Reads = NO_READS,
  ) {
    this.backendPolicies = new BackendPolicies(policies);
  }

  /** Returns the binding that decides for the clients of a view; undefined if the implicit route holds. */
  findBinding({ dataplane }: EnvoyView, { service, port }: FrontendKey): Binding | undefined {
    const { table } = this;
    this.reads.read(`routes ${identityKey(service)}`);
    const frontend = table.frontend(service);
    return frontend && table.bindingFor({ namespace: dataplane?.namespace ?? '' }, frontend, port, 'tcp');
  }

  trafficMode(view: EnvoyView, destination: FrontendKey & Pick<Destination, 'protocol'>): TrafficMode {
    return getTrafficMode(this.findBinding(view, destination), destination);
  }

  /** Returns the clusters that the routes of a view lead to, besides the destination's own. */
  backends(view: EnvoyView, destination: FrontendKey): ReadonlySet<string> {
    const binding = this.findBinding(view, destination);
    if (!binding) return NONE;
    const { table } = this;
    const actions: readonly RuleAction[] = looksIntoRequests(binding.kind)
      ? binding.routes.flatMap((route) => route.rules.map((rule) => ruleAction(table, binding, route, rule)))
      : [connectionAction(table, binding)];
    const found = actions.flatMap((action) => {
      if (action.type !== 'forward') return [];
      return [...action.backends, ...action.mirrors].flatMap(({ to }) => (to.ok ? this.listNames(to.destination) : []));
    });
    return new Set(found);
  }

  /** Announces that the bindings of frontends changed. */
  changed({ groups }: Pick<ChangeSet, 'groups'>): void {
    for (const { frontend } of groups) this.reads.changed(`routes ${frontend}`);
  }

  /** Returns the routes of a destination from the binding of HTTPRoutes or GRPCRoutes; without one, the implicit route. */
  requests(view: EnvoyView, destination: DestinationConfig): HttpRoutes {
    const binding = this.findBinding(view, destination);
    const selectPolicies = this.selectPolicies(view, destination);
    const { toHashPolicies } = this;
    if (!binding)
      return {
        routes: [implicitRoute(destination, selectPolicies(), toHashPolicies([destination.name]))],
        problems: [],
      };
    return httpRoutes(binding, {
      table: this.table,
      listClusters: (of) => this.listClusters(of),
      retryPolicy,
      selectPolicies,
      toHashPolicies,
    });
  }

  /** Returns the shares of connections from a binding of TCPRoutes or TLSRoutes; empty if all are refused. */
  shares(binding: Binding): readonly BackendShare[] {
    const action = connectionAction(this.table, binding);
    return action.type === 'forward' ? backendShares(action.backends, (of) => this.listClusters(of)) : [];
  }

  /** Returns the routes of calls to a destination for the gRPC clients of this zone, from a binding of any kind; without one, the implicit route. */
  calls(view: EnvoyView, frontend: Destination): GrpcRoutes {
    const binding = this.findBinding(view, frontend);
    const selectPolicies = this.selectPolicies(view, frontend);
    const { toHashPolicies } = this;
    if (!binding) return implicitCalls(frontend, selectPolicies(), toHashPolicies);
    const { table, model } = this;
    const { zone } = model;
    const findDestination = (service: Destination['service'], port: number): DestinationConfig | undefined =>
      this.listDestinations(service, port)[0];
    const toCluster = (backend: Backend): GrpcCluster => toGrpcCluster(backend, { zone, frontend, findDestination });
    return grpcRoutes(binding, { table, toCluster, selectPolicies, toHashPolicies });
  }

  /** Returns the namespace of a view if routes of that namespace apply, or if its policies for `rules` differ from the producer's. */
  findConsumer(
    view: EnvoyView,
    { of, rules }: { readonly of: FrontendKey; readonly rules: boolean },
  ): string | undefined {
    const namespace = view.dataplane?.namespace;
    if (namespace === undefined) return undefined;
    const isBound = this.findBinding(view, of)?.group === consumerGroup(namespace);
    const isOwn = isBound || (rules && this.policies.listConsumers(of.service).includes(namespace));
    return isOwn && this.getGroup(view, of) !== PRODUCER ? namespace : undefined;
  }

  /** Returns the group of a view's clients; the producer's group if their namespace has no routes or policies of its own. */
  private getGroup({ dataplane }: EnvoyView, { service }: FrontendKey): FrontendGroup {
    const producers = this.table.frontend(service)?.namespace;
    const { namespace = producers } = dataplane ?? {};
    return namespace === undefined || namespace === producers ? PRODUCER : consumerGroup(namespace);
  }

  /** Returns the policies of the rules at a port of a service for the clients of a view. */
  private selectPolicies(view: EnvoyView, destination: FrontendKey): PoliciesOf {
    const { service: frontend, port } = destination;
    const at = { frontend, port, group: this.getGroup(view, destination) };
    return (of) => policiesAt(this.policies, of ? { ...at, route: of.route.id, rule: of.rule.name } : at);
  }

  /** The first cluster that balances by hash sets the hash inputs. */
  private readonly toHashPolicies: HashOf = (clusters) => {
    for (const cluster of clusters) {
      const destination = this.model.config(destinationOfLocalEndpoints(cluster) ?? cluster);
      const found = destination ? hashPolicies(this.backendPolicies.getRules(destination).balancing) : [];
      if (found.length > 0) return found;
    }
    return [];
  };

  private listDestinations(service: Destination['service'], port: number): readonly DestinationConfig[] {
    return this.model.namesOfService(identityKey(service)).flatMap((name) => {
      const destination = this.model.config(name);
      return destination?.port === port ? [destination] : [];
    });
  }

  /** Returns the names of the destinations of a backend. */
  private listNames({ services, port }: Backend): readonly string[] {
    return services
      .flatMap((service) => this.model.namesOfService(identityKey(service)))
      .filter((name) => this.model.config(name)?.port === port);
  }

  /** Returns the clusters of a backend, weighted by their instances. */
  private listClusters(backend: Backend): readonly ClusterPart[] {
    const names = this.listNames(backend);
    if (names.length === 1) return names.map((cluster) => ({ cluster, instances: 1 }));
    return names.flatMap((name) => {
      const destination = this.model.destination(name);
      return destination ? [toClusterPart(destination)] : [];
    });
  }
}

function getTrafficMode(binding: Binding | undefined, destination: Pick<Destination, 'protocol'>): TrafficMode {
  if (!binding) return isHttp(destination) ? 'requests' : 'bytes';
  return looksIntoRequests(binding.kind) ? 'requests' : 'shares';
}

function toClusterPart({ name, local, localNames, remote }: Destination): ClusterPart {
  const here = [...local, ...localNames].filter(({ ready }) => ready).length;
  return { cluster: name, instances: remote.reduce((sum, { instances }) => sum + instances, here) };
}

/** Returns the first part of a view's routes that cannot be translated, as a field of a plan. */
export function firstProblem(problems: readonly Violation[]): { readonly problem?: Violation } {
  const [problem] = problems;
  return problem ? { problem } : {};
}

import {
  connectionAction,
  looksIntoRequests,
  ruleAction,
  type Affected,
  type Binding,
  type Destination as Backend,
  type RouteTable,
  type RuleAction,
} from '@causeway/routing';
import { identityKey, type Violation } from '@causeway/resources';
import type { Destination } from '../model/destination';
import type { TrafficModel } from '../model/traffic-model';
import { backendShares, type BackendShare, type ClusterPart } from '../routes/backend-shares';
import { grpcClusterOf } from '../grpc/grpc-backends';
import { grpcRoutes, type GrpcCluster, type GrpcRoutes } from '../grpc/grpc-routes';
import { implicitCalls } from '../grpc/grpc-resources';
import { BackendPolicies } from '../policies/backend-policies';
import { policiesAt } from '../policies/effective-rules';
import { hashPolicies, type HashOf } from '../policies/hash-policies';
import type { EffectivePolicies } from '../policies/policy-source';
import type { PoliciesOf } from '../policies/rule-policies';
import { httpRoutes, type HttpRoutes } from '../routes/http-routes';
import type { EnvoyView } from './envoy-view';
import { isHttp } from './messages/clusters';
import { destinationOfLocalEndpoints } from './names';
import { implicitRoute, retryPolicy } from './messages/outbound-listeners';

/**
 * How a proxy carries what is sent to a port of a service: requests by routes, connections by shares, or bytes as they are.
 */
export type Carriage = 'requests' | 'shares' | 'bytes';

/** What of a binding other resources depend on. */
interface Told {
  readonly carriage: Carriage;
  readonly backends: ReadonlySet<string>;
}

/** What changed of one port of a service for the clients of one group. */
export interface RouteChange {
  readonly name: string;
  /** Clusters that routes named before or name now, where they differ; all of them where the carriage does. */
  readonly clusters: readonly string[];
  readonly isCarriedOtherwise: boolean;
  /** Connections are shared: the shares stand in the listener. */
  readonly isShared: boolean;
}

const PRODUCER = 'producer';
const consumerGroup = (namespace: string): string => `consumer:${namespace}`;
const NONE: ReadonlySet<string> = new Set();

/**
 * The bindings of routes as the proxies of a zone obey them: which decides for a view, how it carries traffic, and to which clusters.
 * All is made of the route table and the model when it is asked for.
 */
export class ServiceRoutes {
  /** By destination and group, as proxies were told last. */
  private readonly told = new Map<string, Map<string, Told>>();
  /** By destination: those whose routes share weights by its instances. */
  private readonly weighing = new Map<string, Set<string>>();
  /** By destination: those whose routes, as they were made last or before, say what of a request is hashed on its way there. */
  private readonly hashing = new Map<string, Set<string>>();
  private readonly backendPolicies: BackendPolicies;

  constructor(
    private readonly table: RouteTable,
    private readonly model: Pick<TrafficModel, 'zone' | 'namesOfService' | 'destination'>,
    private readonly policies: EffectivePolicies,
  ) {
    this.backendPolicies = new BackendPolicies(policies);
  }

  /** What decides for the clients of a view; undefined where the implicit route holds. */
  bindingOf({ dataplane }: EnvoyView, { service, port }: Destination): Binding | undefined {
    const { table } = this;
    const frontend = table.frontend(service);
    return frontend && table.bindingFor({ namespace: dataplane?.namespace ?? '' }, frontend, port, 'tcp');
  }

  carriage(view: EnvoyView, destination: Destination): Carriage {
    return carriageOf(this.bindingOf(view, destination), destination);
  }

  /** The clusters that the routes of a view lead to, besides the destination's own. */
  backends(view: EnvoyView, destination: Destination): ReadonlySet<string> {
    const binding = this.bindingOf(view, destination);
    const now = this.toldOf(binding, destination);
    if (!binding && !this.told.has(destination.name)) return now.backends;
    const groups = this.told.get(destination.name) ?? new Map<string, Told>();
    this.told.set(destination.name, groups.set(binding?.group ?? PRODUCER, now));
    return now.backends;
  }

  /** What a change of routes means for the ports of services; each port once a group. */
  *changes({ groups }: Affected): Iterable<RouteChange> {
    for (const { frontend, group } of groups)
      for (const name of this.model.namesOfService(frontend)) {
        const destination = this.model.destination(name);
        if (destination) yield this.changeOf(destination, group);
      }
  }

  private changeOf(destination: Destination, group: string): RouteChange {
    const { table } = this;
    const { name, service, port } = destination;
    const frontend = table.frontend(service);
    const bindingIn = (each: string): Binding | undefined =>
      frontend && table.group(frontend, each).bindings.get(`tcp/${port}`);
    // Consumers without routes of their own follow the producer's.
    const now = this.toldOf(bindingIn(group) ?? bindingIn(PRODUCER), destination);
    const told = this.told.get(name);
    const before = told?.get(group) ?? told?.get(PRODUCER) ?? this.toldOf(undefined, destination);
    const isCarriedOtherwise = before.carriage !== now.carriage;
    const differ = [...new Set([...before.backends, ...now.backends])].filter(
      (each) => isCarriedOtherwise || before.backends.has(each) !== now.backends.has(each),
    );
    return { name, clusters: differ, isCarriedOtherwise, isShared: now.carriage === 'shares' };
  }

  /** The clusters that routes of a destination that is gone led to. */
  forget(name: string): readonly string[] {
    const groups = [...(this.told.get(name)?.values() ?? [])];
    this.told.delete(name);
    this.weighing.delete(name);
    this.hashing.delete(name);
    return groups.flatMap(({ backends }) => [...backends]);
  }

  /** The destinations whose routes share weights by the instances of this one. */
  weighedBy(name: string): Iterable<string> {
    return this.weighing.get(name) ?? NONE;
  }

  /** The destinations whose routes say what of a request is hashed on its way to this one. */
  hashedFor(name: string): Iterable<string> {
    return this.hashing.get(name) ?? NONE;
  }

  /** The routes of a destination by what is bound of HTTPRoutes or GRPCRoutes; without any, the implicit route. */
  requests(view: EnvoyView, destination: Destination): HttpRoutes {
    const binding = this.bindingOf(view, destination);
    const policiesOf = this.policiesOf(view, destination);
    const hashOf = this.hashFor(destination.name);
    if (!binding)
      return { routes: [implicitRoute(destination, policiesOf(), hashOf([destination.name]))], problems: [] };
    return httpRoutes(binding, {
      table: this.table,
      clustersOf: this.clustersFor(destination.name),
      retryPolicy,
      policiesOf,
      hashOf,
    });
  }

  /** The shares of connections by a binding of TCPRoutes or TLSRoutes; none where all are refused. */
  shares(binding: Binding, { name }: Destination): readonly BackendShare[] {
    const action = connectionAction(this.table, binding);
    return action.type === 'forward' ? backendShares(action.backends, this.clustersFor(name)) : [];
  }

  /** The routes of calls to a destination by what is bound of any kind, or without, for the gRPC clients of this zone. */
  calls(view: EnvoyView, frontend: Destination): GrpcRoutes {
    const binding = this.bindingOf(view, frontend);
    const policiesOf = this.policiesOf(view, frontend);
    const hashOf = this.hashFor(frontend.name);
    if (!binding) return implicitCalls(frontend, policiesOf(), hashOf);
    const { table, model } = this;
    const { zone } = model;
    const destinationOf = (service: Destination['service'], port: number): Destination | undefined =>
      this.destinationsOf(service, port)[0];
    const clusterOf = (backend: Backend): GrpcCluster => grpcClusterOf(backend, { zone, frontend, destinationOf });
    return grpcRoutes(binding, { table, clusterOf, policiesOf, hashOf });
  }

  /** The namespace of a view where routes of its own decide, or where it has a view of its own of the policies of `rules`. */
  consumersOf(
    view: EnvoyView,
    { of, rules }: { readonly of: Destination; readonly rules: boolean },
  ): string | undefined {
    const namespace = view.dataplane?.namespace;
    if (namespace === undefined) return undefined;
    const isBound = this.bindingOf(view, of)?.group === consumerGroup(namespace);
    const isOwn = isBound || (rules && this.policies.consumersOf(of.service).includes(namespace));
    return isOwn && this.groupOf(view, of) !== PRODUCER ? namespace : undefined;
  }

  /** The group of a view's clients; without routes and policies of their own, what is the producer's holds for them. */
  private groupOf({ dataplane }: EnvoyView, { service }: Destination): string {
    const producers = this.table.frontend(service)?.namespace;
    const { namespace = producers } = dataplane ?? {};
    return namespace === undefined || namespace === producers ? PRODUCER : consumerGroup(namespace);
  }

  /** The policies of the rules at a port of a service for the clients of a view. */
  private policiesOf(view: EnvoyView, destination: Destination): PoliciesOf {
    const { service: frontend, port } = destination;
    const at = { frontend, port, group: this.groupOf(view, destination) };
    return (of) => policiesAt(this.policies, of ? { ...at, route: of.route.id, rule: of.rule.name } : at);
  }

  /** Of several clusters the first that chooses by a hash says of what; `of`: the destination whose routes ask. */
  private hashFor(of: string): HashOf {
    return (clusters) => {
      const found = clusters.map((cluster) => {
        const name = destinationOfLocalEndpoints(cluster) ?? cluster;
        const destination = this.model.destination(name);
        if (!destination) return [];
        if (name !== of) this.hashing.set(name, (this.hashing.get(name) ?? new Set()).add(of));
        return hashPolicies(this.backendPolicies.rulesOf(destination).balancing);
      });
      return found.find(({ length }) => length > 0) ?? [];
    };
  }

  private destinationsOf(service: Destination['service'], port: number): readonly Destination[] {
    return this.model.namesOfService(identityKey(service)).flatMap((name) => {
      const destination = this.model.destination(name);
      return destination?.port === port ? [destination] : [];
    });
  }

  private toldOf(binding: Binding | undefined, destination: Destination): Told {
    return {
      carriage: carriageOf(binding, destination),
      backends: binding ? this.backendsOf(binding, destination.name) : NONE,
    };
  }

  private backendsOf(binding: Binding, name: string): ReadonlySet<string> {
    const known = backendsOf.get(binding);
    if (known) return known;
    const { table } = this;
    const clustersOf = this.clustersFor(name);
    const actions: readonly RuleAction[] = looksIntoRequests(binding.kind)
      ? binding.routes.flatMap((route) => route.rules.map((rule) => ruleAction(table, binding, route, rule)))
      : [connectionAction(table, binding)];
    const found = actions.flatMap((action) => {
      if (action.type !== 'forward') return [];
      return [...action.backends, ...action.mirrors].flatMap(({ to }) => (to.ok ? clustersOf(to.destination) : []));
    });
    const names = new Set(found.map(({ cluster }) => cluster));
    backendsOf.set(binding, names);
    return names;
  }

  /** The clusters of a backend; `of`: the destination whose routes ask. */
  private clustersFor(of: string) {
    return ({ services, port }: { readonly services: readonly Destination['service'][]; readonly port: number }) => {
      const found = services.flatMap((service) => this.destinationsOf(service, port));
      if (found.length > 1)
        for (const { name } of found) this.weighing.set(name, (this.weighing.get(name) ?? new Set()).add(of));
      return found.map(partOf);
    };
  }
}

/** Bindings are made anew with each change that touches them. */
const backendsOf = new WeakMap<Binding, ReadonlySet<string>>();

function carriageOf(binding: Binding | undefined, destination: Destination): Carriage {
  if (!binding) return isHttp(destination) ? 'requests' : 'bytes';
  return looksIntoRequests(binding.kind) ? 'requests' : 'shares';
}

function partOf({ name, local, localNames, remote }: Destination): ClusterPart {
  const here = [...local, ...localNames].filter(({ ready }) => ready).length;
  return { cluster: name, instances: remote.reduce((sum, { instances }) => sum + instances, here) };
}

/** What of a view's routes cannot be done. */
export function firstProblem(problems: readonly Violation[]): { readonly problem?: Violation } {
  const [problem] = problems;
  return problem ? { problem } : {};
}

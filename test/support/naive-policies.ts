import type { DefinitionSpec } from '@causeway/policies/testing';
import type { Identity, JsonObject, JsonValue } from '@causeway/resources';
import { folded, object, type NaivePath, type NaivePolicy } from './naive-fold';
import { trialKinds, type Stored } from './random-policies';

type Of<T extends Stored['type']> = Extract<Stored, { type: T }>;
type Service = Of<'service'>;
type Route = Of<'route'>;
/** A step of a path: its name, its namespace, and the namespaces whose policies may attach to it. */
interface Step {
  readonly name: string;
  readonly level: string;
  readonly namespace: string;
}
/** A policy whose spec breaks no rule. */
interface Valid extends NaivePolicy {
  readonly of: Of<'policy'>;
  readonly on: ReadonlySet<string>;
}
type Ref = Readonly<Record<'kind' | 'namespace' | 'name' | 'sectionName', string | undefined>> & {
  readonly selector: JsonObject;
};

const MESH = 'default';
export const nameOf = ({ kind, mesh, zone, namespace, name }: Identity): string =>
  [kind, mesh, zone, namespace, name].join('/');
export const stepName = (level: string, ...of: readonly (string | number)[]): string => [level, ...of].join(' ');
const text = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/** Older first; a policy without an age is the youngest. */
const byAge = (
  a: { readonly id: Identity; readonly order: number },
  b: { readonly id: Identity; readonly order: number },
): number => {
  const age = (order: number): number => (order === 0 ? Infinity : order);
  if (age(a.order) !== age(b.order)) return age(a.order) < age(b.order) ? -1 : 1;
  const [one, other] = [`${a.id.namespace}/${a.id.name}`, `${b.id.namespace}/${b.id.name}`];
  return one < other ? -1 : one > other ? 1 : 0;
};

/**
 * Computes effective policies from the stored resources alone, as the specification has it: the paths, the policies that stand on them, and their
 * fold from the leaf to the root. It keeps nothing and is slow; nothing of the engine is in it.
 */
export class NaivePolicies {
  private readonly services: readonly Service[];
  private readonly gateways: readonly Of<'gateway'>[];
  private readonly routes: readonly Route[];
  private readonly granting: ReadonlySet<string>;

  /** `zone` is where names are resolved: resources of that zone shadow those of the same name elsewhere. */
  constructor(
    private readonly all: readonly Stored[],
    private readonly zone: string,
  ) {
    const of = <T extends Stored['type']>(type: T): Of<T>[] => all.filter((one): one is Of<T> => one.type === type);
    this.services = of('service');
    this.gateways = of('gateway');
    this.routes = of('route');
    this.granting = new Set(of('grant').map(({ id }) => id.namespace));
  }

  /** All paths with at least one policy, by kind, group and steps. */
  effective(): Map<string, NaivePath> {
    const found = new Map<string, NaivePath>();
    for (const one of this.all) {
      const definition = one.type === 'definition' ? trialKinds[one.id.name] : undefined;
      if (definition) this.ofKind(definition, found);
    }
    return found;
  }

  private ofKind(definition: DefinitionSpec, found: Map<string, NaivePath>): void {
    const { hierarchy } = definition;
    const levels: readonly string[] = typeof hierarchy === 'string' ? [] : hierarchy;
    const policies = this.all.flatMap((one) =>
      one.type === 'policy' && one.id.kind === definition.kind ? this.read(one, definition, levels) : [],
    );
    const has = (level: string): boolean => levels.includes(level);
    const frontends = has('Route') ? [...this.services, ...this.gateways] : this.services;
    for (const frontend of frontends) {
      const isGateway = frontend.type === 'gateway';
      if (has('Route') && !has(isGateway ? 'Gateway' : 'Service')) continue;
      for (const group of this.groups(frontend, definition, policies, has('Route'))) {
        const consumer = group.startsWith('consumer:') ? group.slice('consumer:'.length) : undefined;
        const namespace = consumer ?? frontend.id.namespace;
        const above: Step[] = [
          { level: 'Mesh', name: stepName('Mesh', MESH), namespace: '' },
          { level: 'Namespace', name: stepName('Namespace', namespace), namespace },
        ];
        const isMade =
          consumer !== undefined && this.makers(frontend, definition, policies, has('Route')).has(consumer);
        const lower = has('Route') ? this.throughRoutes(frontend, group, isMade) : this.ownBackend(frontend);
        for (const path of lower) {
          const steps = [...above, ...path].filter(({ level }) => has(level));
          const on = steps.flatMap((step) => this.standing(step, consumer, definition, policies));
          if (on.length === 0) continue;
          found.set([definition.kind, group, namespace, ...steps.map(({ name }) => name)].join('\n'), folded(on));
        }
      }
    }
  }

  /**
   * Lists the groups of clients with requests of their own: all; clients of a namespace with routes, or with policies for themselves; of a Gateway.
   */
  private groups(
    frontend: Service | Of<'gateway'>,
    definition: DefinitionSpec,
    policies: readonly Valid[],
    throughRoutes: boolean,
  ): ReadonlySet<string> {
    const { namespace, name } = frontend.id;
    if (frontend.type === 'gateway') return new Set([`gateway:${namespace}/${name}`]);
    const others = [...this.makers(frontend, definition, policies, throughRoutes)].map((one) => `consumer:${one}`);
    if (!throughRoutes) return new Set(['backend', ...others]);
    const routed = this.boundTo(frontend).flatMap(({ id }) =>
      id.namespace === namespace ? [] : [`consumer:${id.namespace}`],
    );
    return new Set(['producer', ...routed, ...others]);
  }

  /** Returns the namespaces whose policies, for their own clients alone, attach to a service of another namespace or to a route of its producer. */
  private makers(
    frontend: Service | Of<'gateway'>,
    { crossNamespace }: DefinitionSpec,
    policies: readonly Valid[],
    throughRoutes: boolean,
  ): ReadonlySet<string> {
    if (crossNamespace !== 'ClientSide' || frontend.type === 'gateway') return new Set();
    const paths = throughRoutes ? this.throughRoutes(frontend, 'producer', false) : this.ownBackend(frontend);
    const steps = paths.flat().filter(({ level }) => !throughRoutes || !level.startsWith('Backend'));
    return new Set(
      steps.flatMap(({ name, namespace }) =>
        policies.filter(({ on, of }) => on.has(name) && of.id.namespace !== namespace).map(({ of }) => of.id.namespace),
      ),
    );
  }

  private ownBackend(frontend: Service | Of<'gateway'>): Step[][] {
    return frontend.type === 'service' ? frontend.ports.map((port) => backend(frontend, port)) : [];
  }

  /** If nobody's routes decide, the service itself does; clients of a namespace have the producer's routes then. */
  private throughRoutes(frontend: Service | Of<'gateway'>, group: string, isMade: boolean): Step[][] {
    const { namespace } = frontend.id;
    if (frontend.type === 'gateway') {
      const top = step('Gateway', namespace, nameOf(frontend.id));
      const listener = step('Listener', namespace, nameOf(frontend.id), 'web');
      return this.bound(frontend, namespace, 'gateway').map((path) => [top, listener, ...path]);
    }
    return frontend.ports.flatMap((port) => {
      const top = [
        step('Service', namespace, nameOf(frontend.id)),
        step('ServicePort', namespace, nameOf(frontend.id), port),
      ];
      const implicit = [
        ['Route', 'Rule'].map((level) => step(level, namespace, 'implicit', nameOf(frontend.id), port)),
      ];
      const own = group.startsWith('consumer:') ? group.slice('consumer:'.length) : namespace;
      const isBound = (who: string): boolean => this.deciding(frontend, who, 'mesh') !== undefined;
      let paths: Step[][];
      if (isBound(own)) paths = this.bound(frontend, own, 'mesh');
      else if (own !== namespace && !isMade) paths = [];
      else paths = isBound(namespace) ? this.bound(frontend, namespace, 'mesh') : implicit;
      return paths.map((path) => [...top, ...path]);
    });
  }

  /** The routes that name a service or a Gateway as their parent, where its name finds it. */
  private boundTo(frontend: Service | Of<'gateway'>): readonly Route[] {
    const { id } = frontend;
    if (frontend.type === 'service' && !this.visible(id.namespace, id.name).includes(frontend)) return [];
    return this.routes.filter(({ spec }) =>
      (spec.parentRefs ?? []).some(
        ({ kind, namespace, name }) => kind === id.kind && namespace === id.namespace && name === id.name,
      ),
    );
  }

  /** The routes of a namespace that decide: HTTPRoutes before TCPRoutes, of these the oldest alone; a Gateway takes no bytes here. */
  private deciding(
    frontend: Service | Of<'gateway'>,
    of: string,
    side: 'mesh' | 'gateway',
  ): readonly Route[] | undefined {
    const mine = this.boundTo(frontend).filter(({ id }) => side === 'gateway' || id.namespace === of);
    const http = mine.filter(({ id }) => id.kind === 'HTTPRoute');
    if (http.length > 0) return http;
    const [oldest] = side === 'mesh' ? [...mine].sort(byAge) : [];
    return oldest && [oldest];
  }

  private bound(frontend: Service | Of<'gateway'>, of: string, side: 'mesh' | 'gateway'): Step[][] {
    return (this.deciding(frontend, of, side) ?? []).flatMap((route) => {
      const { namespace } = route.id;
      const rules = route.id.kind === 'HTTPRoute' ? route.spec.rules : route.spec.rules?.slice(0, 1);
      return (rules ?? []).flatMap((rule) => {
        const steps = [
          step('Route', namespace, nameOf(route.id)),
          step('Rule', namespace, nameOf(route.id), rule.name ?? ''),
        ];
        if (side === 'mesh') return [steps];
        const allowed = (rule.backendRefs ?? []).filter((ref) => (ref.namespace ?? namespace) === namespace);
        const services = allowed.flatMap((ref) => this.visible(ref.namespace ?? namespace, ref.name));
        return services.map((service) => [...steps, ...backend(service, 80)]);
      });
    });
  }

  /** Returns the services that a name finds in this zone: its own, else all that have the name. */
  private visible(namespace: string, name: string): readonly Service[] {
    const all = this.services.filter(({ id }) => id.namespace === namespace && id.name === name);
    const here = all.filter(({ id }) => id.zone === this.zone);
    return here.length > 0 ? here : all;
  }

  /** Returns the policies of a step that count for these clients, the older first; for a kind that merges nothing, the oldest alone. */
  private standing(
    { name, namespace, level }: Step,
    consumer: string | undefined,
    { crossNamespace, mergeStrategies }: DefinitionSpec,
    policies: readonly Valid[],
  ): readonly Valid[] {
    const counted = policies.filter(({ on, of: { id } }) => {
      if (!on.has(name)) return false;
      if (level === 'Mesh' || level === 'Namespace') return true;
      if (crossNamespace === 'ClientSide' && id.namespace !== namespace) return consumer === id.namespace;
      if (consumer === undefined || level.startsWith('Backend')) return true;
      return id.namespace === consumer || (!level.startsWith('Service') && namespace === consumer);
    });
    const sorted = counted.sort((a, b) => byAge(a.of, b.of));
    return mergeStrategies ? sorted : sorted.slice(0, 1);
  }

  /** A policy and the steps that it is on; none where one of its targets is none that its kind can have. */
  private read(of: Of<'policy'>, definition: DefinitionSpec, levels: readonly string[]): Valid[] {
    const on = new Set<string>();
    const refs = Array.isArray(of.spec['targetRefs']) ? of.spec['targetRefs'] : [];
    for (const given of refs) {
      const { kind, namespace, name, sectionName, selector } = object(given);
      const ref = { kind: text(kind), namespace: text(namespace), name: text(name), sectionName: text(sectionName) };
      const found = this.targets(of.id, { ...ref, selector: object(selector) }, definition, levels);
      if (!found) return [];
      for (const one of found) on.add(one);
    }
    const { defaults, overrides, targetRefs: _, ...bare } = of.spec;
    const { strategy, ...body } = object(defaults ?? overrides ?? bare);
    const how = { isOverride: overrides !== undefined || !definition.mergeStrategies, isPatch: strategy === 'patch' };
    return [{ key: nameOf(of.id), ...how, of, on, body }];
  }

  private targets(
    id: Identity,
    { kind = '', namespace: given, name, sectionName, selector }: Ref,
    { declaredTargets, crossNamespace, kind: policyKind }: DefinitionSpec,
    levels: readonly string[],
  ): readonly string[] | undefined {
    if (!declaredTargets.some((each) => each.kind === kind)) return undefined;
    if (kind === 'Mesh') return [stepName('Mesh', MESH)];
    if (kind === 'Namespace') return [stepName('Namespace', id.namespace)];
    const whole =
      { Gateway: 'Gateway', HTTPRoute: 'Route' }[kind] ?? (levels.includes('Service') ? 'Service' : 'Backend');
    const part = { Gateway: 'Listener', Route: 'Rule' }[whole] ?? `${whole}Port`;
    if (sectionName !== undefined && !levels.includes(part)) return undefined;
    const namespace = given ?? id.namespace;
    if (namespace !== id.namespace) {
      if (crossNamespace === undefined || crossNamespace === 'Forbidden') return undefined;
      const grants = this.granting.has(namespace) && policyKind === 'BackendPolicy';
      if (crossNamespace === 'ReferenceGrant' && !grants) return [];
    }
    const candidates =
      kind === 'HTTPRoute'
        ? this.routes.filter((route) => route.id.kind === kind)
        : kind === 'Gateway'
          ? this.gateways
          : this.services.filter((one) => this.visible(one.id.namespace, one.id.name).includes(one));
    const wanted = object(selector['matchLabels']);
    const isMeant = (one: Service | Of<'gateway'> | Route): boolean =>
      one.id.namespace === namespace &&
      (name !== undefined
        ? one.id.name === name
        : Object.entries(wanted).every(([key, value]) => one.labels[key] === value));
    return [...candidates].filter(isMeant).flatMap((one) => {
      if (sectionName === undefined) return [stepName(whole, nameOf(one.id))];
      const sections = one.type === 'service' ? one.ports.map(String) : one.type === 'gateway' ? ['web'] : rulesOf(one);
      return sections.includes(sectionName) ? [stepName(part, nameOf(one.id), sectionName)] : [];
    });
  }
}

const rulesOf = ({ spec }: Route): readonly string[] => (spec.rules ?? []).map(({ name }) => name ?? '');

function step(level: string, namespace: string, ...of: readonly (string | number)[]): Step {
  return { level, namespace, name: stepName(level, ...of) };
}

const backend = ({ id }: Service, port: number): Step[] => [
  step('Backend', id.namespace, nameOf(id)),
  step('BackendPort', id.namespace, nameOf(id), port),
];

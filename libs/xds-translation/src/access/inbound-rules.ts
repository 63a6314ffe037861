import type { DataplaneResource, ServiceResource } from '@causeway/dataplanes';
import { MeshExternalService, MeshService } from '@causeway/kinds';
import { AccessPolicy, compileAccess, namespacesAsked, type AccessRules } from '@causeway/policies';
import { identityKey, type Identity, type JsonObject, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { callersIn, CallerDirectory, type CallersChange } from './caller-directory';
import type { Reads } from '../reads/recorded-reads';
import { portsServedAt } from './inbound-services';

/** The effective AccessPolicies of services. */
export interface EffectiveAccess {
  /** False before the first load, and while everything is derived again: a service may be in the table before its policies are. */
  readonly isCurrent?: boolean | undefined;
  effectiveOfBackend(kind: string, of: ServicePortRef): { readonly spec: JsonObject } | undefined;
}

/** A port of a service. */
export interface ServicePortRef {
  readonly service: Identity;
  readonly port: number;
}

export interface InboundRulesParts {
  readonly index: Pick<IndexReader, 'get' | 'ofKind'>;
  readonly zone: string;
  readonly policies: EffectiveAccess;
  readonly reads?: Reads;
  /** The services of this zone that select a Dataplane. */
  listServices(dataplane: DataplaneResource): readonly ServiceResource[];
}

/** Dataplanes whose inbounds may accept other callers than before. */
export interface RulesChange {
  /** Services, by identity key. */
  readonly services: ReadonlySet<ResourceKey>;
  /** Meshes whose inbounds without a service may accept other callers. */
  readonly meshes: readonly string[];
}

type DefaultAccess = AccessRules['defaultAccess'];

/** Rules that refuse every caller. */
const NOBODY: readonly AccessRules[] = [{ deny: [], allow: [], defaultAccess: 'Deny' }];
const NONE: readonly AccessRules[] = [];

/**
 * The rules of AccessPolicies at inbounds. An inbound serves ports of services: a call that the rules of one of these services deny is denied, and a
 * service without a policy adds no rule where another service has one. No policy can target an inbound without a service, so in a mesh that has
 * policies nobody may call it. Rules are compiled once for a port, and again when a policy or an id that it names changes.
 */
export class InboundRules {
  private readonly compiled = new Map<ResourceKey, Map<string, AccessRules | undefined>>();
  /** The services whose rules depend on the ids of a namespace, keyed by `callersIn`; keyed by the mesh where they depend on all its namespaces. */
  private readonly asking = new Map<string, Set<ResourceKey>>();
  /** The number of AccessPolicies in each mesh. */
  private readonly counts = new Map<string, number>();

  readonly callers: CallerDirectory;

  constructor(private readonly parts: InboundRulesParts) {
    this.callers = new CallerDirectory(parts.index, parts.zone);
    for (const { id } of parts.index.ofKind(AccessPolicy.kind)) this.count(id.mesh, 1);
  }

  /**
   * Returns the rules at one inbound of a Dataplane, all of which must hold; an empty list where no policy targets it; `pending` while the policy
   * table is behind the index. Linear in the services of the inbound.
   */
  of(dataplane: DataplaneResource, port: number, defaultAccess: DefaultAccess): readonly AccessRules[] | 'pending' {
    if (this.parts.policies.isCurrent === false) return 'pending';
    if (!this.hasPolicies(dataplane.id.mesh)) return NONE;
    const ports = portsServedAt(dataplane, port, this.parts.listServices(dataplane));
    if (ports.length === 0) return NOBODY;
    const found = new Map<string, AccessRules>();
    for (const each of ports) {
      const rules = this.ofPort(each, defaultAccess);
      if (rules) found.set(JSON.stringify(rules), rules);
    }
    return found.size === 0 ? NONE : [...found.values()];
  }

  /** Returns the rules of one port of a service that no Dataplane serves; undefined where no policy targets it; `pending` as for `of`. */
  ofService(
    of: { readonly service: Identity; readonly port: number },
    defaultAccess: DefaultAccess,
  ): AccessRules | undefined | 'pending' {
    return this.parts.policies.isCurrent === false ? 'pending' : this.ofPort(of, defaultAccess);
  }

  /** Returns the ports of services to which one element of the result of `of` belongs. Linear in the services of the inbound. */
  behind(dataplane: DataplaneResource, port: number, rules: AccessRules): readonly ServicePortRef[] {
    const text = JSON.stringify(rules);
    return portsServedAt(dataplane, port, this.parts.listServices(dataplane)).filter(
      (each) => JSON.stringify(this.ofPort(each, rules.defaultAccess)) === text,
    );
  }

  /** The meshes that have AccessPolicies. */
  meshes(): Iterable<string> {
    return this.counts.keys();
  }

  hasPolicies(mesh: string): boolean {
    this.parts.reads?.read(`access-policies ${mesh}`);
    return this.counts.has(mesh);
  }

  /** Loads the directory of callers, one resource a step. */
  load(): Iterable<undefined> {
    return this.callers.load();
  }

  /** Applies changes of the index: rules that depend on them are compiled again. */
  observe(changes: readonly IndexChange[]): RulesChange {
    const meshes = new Set<string>();
    const services = new Set<ResourceKey>(this.askedBy(this.callers.observe(changes)));
    for (const { id, key, before, after } of changes) {
      if (id.kind === MeshService.name && id.zone === this.parts.zone && this.hasPolicies(id.mesh)) services.add(key);
      if (id.kind === MeshExternalService.name) this.forget([key]);
      if (id.kind !== AccessPolicy.kind || (before === undefined) === (after === undefined)) continue;
      const had = this.hasPolicies(id.mesh);
      this.count(id.mesh, after ? 1 : -1);
      if (this.hasPolicies(id.mesh) === had) continue;
      meshes.add(id.mesh);
      this.parts.reads?.changed(`access-policies ${id.mesh}`);
    }
    this.forget(services);
    return { services, meshes: [...meshes] };
  }

  /** The services whose rules depend on these ids. */
  private askedBy(change: CallersChange): Iterable<ResourceKey> {
    return change === 'all' ? this.compiled.keys() : [...change].flatMap((each) => this.askingFor(each));
  }

  /** Drops the compiled rules of these services: they are compiled again at the next read. */
  forget(services: Iterable<ResourceKey> | 'all'): void {
    for (const key of services === 'all' ? [...this.compiled.keys()] : services) {
      this.parts.reads?.changed(`access-rules ${key}`);
      if (!this.compiled.delete(key)) continue;
      for (const [asked, by] of this.asking) if (by.delete(key) && by.size === 0) this.asking.delete(asked);
    }
  }

  private ofPort(of: ServicePortRef, defaultAccess: DefaultAccess): AccessRules | undefined {
    const key = identityKey(of.service);
    this.parts.reads?.read(`access-rules ${key}`);
    const known = this.compiled.get(key) ?? new Map<string, AccessRules | undefined>();
    this.compiled.set(key, known);
    const slot = `${of.port} ${defaultAccess}`;
    if (!known.has(slot)) known.set(slot, this.compile(of, defaultAccess));
    return known.get(slot);
  }

  private compile(of: ServicePortRef, defaultAccess: DefaultAccess): AccessRules | undefined {
    const effective = this.parts.policies.effectiveOfBackend(AccessPolicy.kind, of);
    if (!effective) return undefined;
    const { mesh } = of.service;
    const spec = AccessPolicy.read(effective.spec);
    const asked = spec ? namespacesAsked(spec) : new Set<string>();
    for (const each of asked === 'all' ? [mesh] : [...asked].map((namespace) => callersIn(mesh, namespace))) {
      const by = this.asking.get(each) ?? new Set<ResourceKey>();
      this.asking.set(each, by.add(identityKey(of.service)));
    }
    return compileAccess(spec, defaultAccess, this.callers.of(mesh));
  }

  private askingFor(namespace: string): readonly ResourceKey[] {
    const [mesh = ''] = namespace.split('/');
    return [namespace, mesh].flatMap((each) => [...(this.asking.get(each) ?? [])]);
  }

  private count(mesh: string, by: number): void {
    const count = (this.counts.get(mesh) ?? 0) + by;
    if (count > 0) this.counts.set(mesh, count);
    else this.counts.delete(mesh);
  }
}

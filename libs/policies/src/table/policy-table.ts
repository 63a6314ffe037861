import { ChangeCollector, getOrInsert, type Identity, identityKey, type Labels } from '@causeway/resources';
import type { Affected, Frontend, RouteTable, Service } from '@causeway/routing';
import type { PolicyDefinition } from '../model/definition';
import type { StoredPolicy } from '../model/policy';
import { readPolicy } from '../model/read-policy';
import {
  listConsumers,
  effectiveOfBackend,
  effectiveOfRule,
  type BackendAt,
  type Effective,
  type IsMeant,
  type RuleAt,
} from './effective';
import { KindTable } from './kind-table';
import { NOTHING_AFFECTED, PolicyMarks, type PoliciesAffected } from './marks';
import type { KnownObject, TargetObject } from './objects';
import { Shape } from './paths';
import { ShapeContexts } from './shape-contexts';
import { World } from './targets';

/**
 * All policies of a control plane over the routes of `routes`: where they attach, which meet on a path, what they come to. Incremental;
 * the state depends only on the current resources and routes, never on the order in which they came. It is told of each change of
 * the routes (`routesChanged`) and of what policies can name (`putObject`).
 */
export class PolicyTable {
  readonly world: World;
  private readonly stored = new Map<string, Map<string, StoredPolicy>>();
  private readonly kinds = new Map<string, KindTable>();
  /** By the levels of kinds: kinds of the same levels have the same paths. */
  private readonly shapes = new Map<string, ShapeContexts>();
  private readonly changes = new ChangeCollector(() => new PolicyMarks(), NOTHING_AFFECTED);

  constructor(routes: RouteTable) {
    this.world = new World(routes);
  }

  /** The kinds that are defined, in no order. */
  get definitions(): Iterable<PolicyDefinition> {
    return [...this.kinds.values()].map(({ definition }) => definition);
  }

  /** The policies of a kind that is defined; undefined for others. */
  kind(name: string): KindTable | undefined {
    return this.kinds.get(name);
  }

  /** All kinds that are defined. */
  all(): Iterable<KindTable> {
    return this.kinds.values();
  }

  /** See `effectiveOfRule`. */
  effectiveOfRule(kind: string, at: RuleAt, isMeant?: IsMeant): Effective | undefined {
    return effectiveOfRule(this, kind, at, isMeant);
  }

  /** See `effectiveOfBackend`. */
  effectiveOfBackend(kind: string, at: BackendAt, isMeant?: IsMeant): Effective | undefined {
    return effectiveOfBackend(this, kind, at, isMeant);
  }

  /** See `listConsumers`. */
  consumersOf(frontend: Identity): readonly string[] {
    return listConsumers(this, frontend);
  }

  /** Does several changes as one. Nothing may be read before it returns. */
  batch(changes: () => void): PoliciesAffected {
    return this.change(changes);
  }

  /**
   * Does changes of which nobody is told. With `derive` it fills a new table: counts are made there, one frontend a step.
   */
  fill(changes: () => void): void {
    this.filling = true;
    try {
      this.change(changes);
    } finally {
      this.filling = false;
    }
  }
  private filling = false;

  /** Counts what `fill` put in, one frontend or policy a step. Changes between two steps are applied as all others. */
  *derive(): Generator<undefined> {
    for (const contexts of this.shapes.values()) {
      for (const frontend of this.world.frontends()) {
        contexts.refreshAll(frontend.key, this.world.frontend(frontend.id));
        yield;
      }
    }
    for (const kind of this.kinds.values()) yield* kind.derive();
  }

  /**
   * Defines a kind, or defines it anew: its policies are read again. Linear in them; the first kind of its levels costs all frontends.
   */
  setDefinition(definition: PolicyDefinition): PoliciesAffected {
    return this.change((marks) => {
      this.kinds.get(definition.kind)?.clear(marks);
      const shape = new Shape(definition.levels);
      const contexts = getOrInsert(this.shapes, shape.key, () => {
        const made = new ShapeContexts(shape, this.world.routes);
        if (!this.filling) for (const frontend of this.world.frontends()) made.refreshAll(frontend.key, frontend);
        return made;
      });
      const kind = new KindTable(definition, this.world, contexts);
      this.kinds.set(definition.kind, kind);
      for (const policy of this.stored.get(definition.kind)?.values() ?? []) {
        kind.put(readPolicy(definition, policy), marks, this.filling);
      }
      this.tidyShapes();
    });
  }

  /** Whether a definition needs paths that no kind has yet: `setDefinition` then costs all frontends. */
  isNewShape(definition: PolicyDefinition): boolean {
    return !this.shapes.has(new Shape(definition.levels).key);
  }

  removeDefinition(kind: string): PoliciesAffected {
    return this.change((marks) => {
      this.kinds.get(kind)?.clear(marks);
      this.kinds.delete(kind);
      this.tidyShapes();
    });
  }

  /** Forgets all policies of a kind, whether it is defined or not. */
  removePoliciesOf(kind: string): PoliciesAffected {
    this.stored.delete(kind);
    return this.change((marks) => this.kinds.get(kind)?.clear(marks));
  }

  /** Keeps a policy in place of its older version. One whose kind is not defined waits for its definition. */
  putPolicy(stored: StoredPolicy): PoliciesAffected {
    const { id } = stored;
    getOrInsert(this.stored, id.kind, () => new Map<string, StoredPolicy>()).set(identityKey(id), stored);
    return this.change((marks) => {
      const kind = this.kinds.get(id.kind);
      kind?.put(readPolicy(kind.definition, stored), marks, this.filling);
    });
  }

  removePolicy(id: Identity): PoliciesAffected {
    const key = identityKey(id);
    const stored = this.stored.get(id.kind);
    stored?.delete(key);
    if (stored?.size === 0) this.stored.delete(id.kind);
    return this.change((marks) => this.kinds.get(id.kind)?.remove(key, marks));
  }

  /** Keeps what policies can name: a service, Gateway or route that the table of routes has too, a Namespace, a Mesh. */
  putObject(object: TargetObject): PoliciesAffected {
    const before = this.world.objects.put(object);
    return this.look(object.id, before);
  }

  removeObject(id: Identity): PoliciesAffected {
    return this.look(id, this.world.objects.remove(id));
  }

  /** Keeps an external service, which the table of routes does not have, or forgets it. It is an object too. */
  setExternal(id: Identity, service: Service | undefined): PoliciesAffected {
    this.world.setExternal(id, service);
    return this.routesChanged({ groups: [], routes: [], frontends: [identityKey(id)] });
  }

  /** The labels of a Namespace; undefined when it is gone. */
  setNamespace(name: string, labels: Labels | undefined): PoliciesAffected {
    const id = { kind: 'Namespace', mesh: '', zone: '', namespace: '', name };
    return labels ? this.putObject({ id, labels }) : this.removeObject(id);
  }

  /** The grants of a namespace changed in the table of routes. */
  grantsChanged(mesh: string, namespace: string): PoliciesAffected {
    return this.change((marks) => {
      for (const kind of this.kinds.values()) kind.lookAcross(mesh, namespace, marks, this.filling);
    });
  }

  /** The table of routes changed, and this is what it says of it. Linear in what that names. */
  routesChanged({ groups, routes, frontends }: Affected): PoliciesAffected {
    return this.change((marks) => {
      // While the table is filled nothing is counted: `derive` does that, with what stands then.
      const whole = new Set(frontends);
      const parts = new Map<string, Set<string>>();
      for (const { frontend, group } of groups) {
        if (!whole.has(frontend)) getOrInsert(parts, frontend, () => new Set<string>()).add(group);
      }
      for (const contexts of this.filling ? [] : this.shapes.values()) {
        for (const key of whole) {
          const frontend = this.frontendAt(key);
          this.refresh(contexts, { key, frontend, groups: contexts.refreshAll(key, frontend) }, marks);
        }
        // What ends at a service itself knows no groups of routes.
        if (contexts.shape.side !== 'route') continue;
        for (const [key, of] of parts) {
          const frontend = this.frontendAt(key);
          for (const group of of) contexts.refresh(key, frontend, group);
          this.refresh(contexts, { key, frontend, groups: of }, marks);
        }
      }
      for (const key of [...whole, ...routes]) this.lookAt(this.world.objects.get(key), marks);
    });
  }

  private refresh(contexts: ShapeContexts, { key, frontend, groups }: Changed, marks: PolicyMarks): void {
    for (const kind of this.kinds.values()) {
      if (kind.contexts === contexts) kind.contextsChanged(key, frontend, groups, marks);
    }
  }

  private look(id: Identity, before: KnownObject | undefined): PoliciesAffected {
    return this.change((marks) => {
      this.lookAt(before, marks);
      this.lookAt(this.world.objects.get(identityKey(id)), marks);
      for (const kind of this.kinds.values()) kind.placesChanged(id.mesh, marks);
    });
  }

  private lookAt(object: KnownObject | undefined, marks: PolicyMarks): void {
    if (object) for (const kind of this.kinds.values()) kind.look(object, marks, this.filling);
  }

  private frontendAt(key: string): Frontend | undefined {
    const [kind = '', mesh = '', zone = '', namespace = '', name = ''] = key.split('/');
    return this.world.frontend({ kind, mesh, zone, namespace, name });
  }

  private tidyShapes(): void {
    const used = new Set([...this.kinds.values()].map(({ contexts }) => contexts));
    for (const [key, contexts] of this.shapes) if (!used.has(contexts)) this.shapes.delete(key);
  }

  private change(work: (marks: PolicyMarks) => void): PoliciesAffected {
    return this.changes.collect(work, (marks) => (this.filling ? NOTHING_AFFECTED : marks.affected));
  }
}

/** A frontend of which some groups changed; undefined where it is gone. */
interface Changed {
  readonly key: string;
  readonly frontend: Frontend | undefined;
  readonly groups: Iterable<string>;
}

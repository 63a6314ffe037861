import { findChangingIds } from '@causeway/identity';
import { IdentityPathState } from '@causeway/kinds';
import type { FollowedRoutes, Meshes } from '@causeway/meshes';
import { AccessPolicy, RetryPolicy, TimeoutPolicy, type PolicyChangeSet } from '@causeway/policies';
import {
  identityKey,
  parseIdentityKey,
  jsonEqual,
  type Identity,
  type JsonValue,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { ChangeSet } from '@causeway/routing';
import type { IndexChange, IndexReader } from '@causeway/store';
import { isKeptFromSync } from '@causeway/sync';
import {
  KeyedLoop,
  keysOfTable,
  NO_KEYS,
  RESCAN,
  type KeyedReconciler,
  type Keys,
  type KeySource,
  type ReconcileResult,
  type StaleKeyList,
} from '@causeway/loops';
import { kumaService, findProtocol } from '../routes/kuma-services';
import { effectiveOfGlobal, type PoliciesSource } from './effective-of-global';
import { KumaServerTable } from './kuma-servers';
import {
  isKumaPolicyKind,
  isMadeOfPolicies,
  kumaPolicyId,
  kumaPolicyKinds,
  planKumaPolicy,
  type KumaPolicyKind,
} from './plan-kuma-policy';
import type { KumaPolicies } from '@causeway/controllers';
import { SameNamedServices } from './same-named-services';
import { NOTHING, translateService, type ServiceTranslation } from './service-translation';
import { NotTranslatedPolicies } from './not-translated-policies';

/** Inputs of the policies for zones of Kuma. */
export interface KumaPoliciesOptions {
  readonly meshes: Pick<Meshes, 'served' | 'version'>;
  /** They must follow the index before the loop does. */
  readonly routes: Pick<FollowedRoutes, 'table' | 'hasLoaded' | 'subscribe'>;
  readonly policies: PoliciesSource;
  /** Returns the names of the zones of Kuma, sorted; undefined while unknown. */
  readonly zones: () => readonly string[] | undefined;
}

const SERVICES: readonly string[] = ['MeshService', 'MeshMultiZoneService'];
const KINDS = Object.keys(kumaPolicyKinds).filter(isKumaPolicyKind);
const REQUEST_KINDS: readonly KumaPolicyKind[] = ['MeshTimeout', 'MeshRetry'];
const OF_REQUESTS: readonly string[] = [TimeoutPolicy.kind, RetryPolicy.kind];
const KEPT = 'its label keeps it from sync';
const SAME_NAMES = 'several services may have its name: each zone takes its own first';

/** Kuma's servers end requests after 15 s by default, however long their clients would wait: here only clients set a timeout. */
const SERVERS = {
  targetRef: { kind: 'Mesh', proxyTypes: ['Sidecar'] },
  rules: [{ default: { http: { requestTimeout: '0s', streamIdleTimeout: '0s' } } }],
};

/** The resource under a key: of a service, or for the servers of a Mesh. */
interface Made {
  readonly kind: KumaPolicyKind;
  readonly of: ResourceKey;
}

/**
 * Translates the global's TimeoutPolicies, RetryPolicies and AccessPolicies while there are zones of Kuma: keeps one MeshTimeout, MeshRetry and
 * MeshTrafficPermission for each service whose policies Kuma can express exactly (docs/reference/kuma-interop.md, Policies in zones of Kuma). A
 * change costs the services that it affects; another set of zones of Kuma, or another default of a mesh, costs all services.
 */
export class KumaPolicyReconciler implements KeyedReconciler, KumaPolicies {
  readonly name = 'kuma-policies';
  readonly looksOutside = true;
  readonly sources: readonly KeySource[];
  private readonly made = new Map<ResourceKey, Made>();
  private readonly servers = new KumaServerTable();
  /** Empty without zones of Kuma: nothing is sent then, and the first such zone costs all services. */
  private readonly sameNames = new SameNamedServices();
  private readonly notTranslated = new NotTranslatedPolicies();
  /** By mesh: the keys of the MeshTimeouts that exist. */
  private readonly timeouts = new Map<string, Set<ResourceKey>>();
  /** Keys that were not planned since the loop began; undefined before that. */
  private pending: Set<ResourceKey> | undefined;
  /** Policies whose reason was requested while it was unknown. */
  private readonly asked = new Set<ResourceKey>();
  /** Keys that `reconcile` made stale. */
  private moved = new Set<ResourceKey>();
  private zones: readonly string[] | undefined;
  private defaults: ReadonlyMap<string, 'Allow' | 'Deny'> = new Map();
  private lookedAt = '';
  private index: IndexReader | undefined;

  constructor(private readonly options: KumaPoliciesOptions) {
    this.sources = [
      keysOfTable(options.routes, (change) => this.keysOfRoutes(change)),
      keysOfTable(options.policies, (change) => this.keysOfPolicies(change)),
    ];
  }

  findReason(key: ResourceKey): string | undefined {
    const policy = this.index?.byIdentityKey(key);
    const kind = policy?.id.kind ?? '';
    if (policy && isKeptFromSync(policy)) return KEPT;
    if (kind !== AccessPolicy.kind && !OF_REQUESTS.includes(kind))
      return `a ${kind || 'policy of this kind'} is not translated`;
    if (this.pending?.size === 0) return this.notTranslated.formatReason(key);
    this.asked.add(key);
    return undefined;
  }

  takeChangedReasons(): readonly ResourceKey[] {
    const changed = new Set(this.notTranslated.takeChanged());
    if (this.pending?.size !== 0) return [...changed];
    for (const key of this.asked) changed.add(key);
    this.asked.clear();
    return [...changed];
  }

  *seed(index: IndexReader, reason: 'reset' | 'rescan'): Iterable<Keys> {
    this.index = index;
    if (reason === 'reset') {
      for (const known of [this.made, this.servers, this.notTranslated, this.timeouts]) known.clear();
      this.pending = new Set();
    }
    this.sameNames.clear();
    for (const kind of SERVICES) {
      for (const service of index.ofKind(kind)) {
        const key = identityKey(service.id);
        this.servers.put(key, service);
        if (this.hasZones)
          this.sameNames.put(key, { before: undefined, after: service }, (other) => index.byIdentityKey(other));
        yield this.wait(this.keysFor(service.id));
      }
    }
    for (const { id } of index.ofKind('Mesh')) yield this.wait([this.file('MeshTimeout', id)]);
    for (const kind of KINDS)
      for (const resource of index.ofKind(kind))
        yield isMadeOfPolicies(resource) ? this.wait([identityKey(resource.id)]) : NO_KEYS;
  }

  listKeys({ id, key, before, after }: IndexChange, index: IndexReader): StaleKeyList {
    if (isKumaPolicyKind(id.kind)) return id.zone === '' ? [key] : NO_KEYS;
    if (id.kind === 'Mesh') return [this.file('MeshTimeout', id)];
    if (id.kind === IdentityPathState.name) {
      const isSame = jsonEqual(readChange(before), readChange(after));
      return isSame ? NO_KEYS : this.keysInMesh(id.mesh, ['MeshTrafficPermission']);
    }
    if (!SERVICES.includes(id.kind)) return NO_KEYS;
    const isUnchanged = before !== undefined && after !== undefined && isSame(before, after);
    const others =
      isUnchanged || !this.hasZones
        ? []
        : this.sameNames.put(key, { before, after }, (other) => index.byIdentityKey(other));
    if (this.servers.put(key, after)) return [RESCAN];
    if (isUnchanged) return NO_KEYS;
    const found = others.flatMap((other) => index.byIdentityKey(other)?.id ?? []);
    return [id, ...found].flatMap((one) => this.keysFor(one));
  }

  derivedKeys(): Keys {
    const { moved } = this;
    if (moved.size === 0) return NO_KEYS;
    this.moved = new Set();
    return [...moved];
  }

  outsideKeys(): StaleKeyList {
    const zones = this.options.zones();
    const isMoved = zones !== undefined && this.zones?.join(' ') !== zones.join(' ');
    if (zones) this.zones = zones;
    return this.haveDefaultsMoved() || isMoved ? [RESCAN] : [];
  }

  reconcile(key: ResourceKey, index: IndexReader): ReconcileResult | undefined {
    const { zones } = this;
    if (!zones) return undefined;
    this.pending?.delete(key);
    const held = index.byIdentityKey(key);
    const made = this.made.get(key);
    const of = made && index.byIdentityKey(made.of);
    if (!made || !of) {
      this.made.delete(key);
      this.keep(key, '', NOTHING);
      return held && { change: planKumaPolicy(held.id, held, undefined) };
    }
    const id = kumaPolicyId(made.kind, of.id);
    if (of.id.kind === 'Mesh') {
      const isWanted = zones.length > 0 && this.timeouts.has(of.id.name);
      return { change: planKumaPolicy(id, held, isWanted ? { of, spec: SERVERS } : undefined) };
    }
    const found = zones.length > 0 ? this.translate(made.kind, of, index) : NOTHING;
    const isTaken = found.spec !== undefined && held !== undefined && !isMadeOfPolicies(held);
    this.keep(key, `${of.id.kind} ${of.id.name}`, isTaken ? taken(found, id) : found);
    return { change: planKumaPolicy(id, held, found.spec && { of, spec: found.spec }) };
  }

  private translate(kind: KumaPolicyKind, service: Resource, index: IndexReader): ServiceTranslation {
    const { table } = this.options.routes;
    const frontend = table.frontend(service.id);
    if (!frontend) return NOTHING;
    return translateService(kind, frontend, {
      table,
      policies: effectiveOfGlobal(this.options.policies.table, index),
      findProtocol: (port) => findProtocol(service, port),
      service: (port) =>
        this.meansOthers(service) ? { ok: false, reason: SAME_NAMES } : kumaService(index, service.id, port),
      servers: () => this.servers.of(identityKey(service.id), service, this.zones ?? []),
      defaultAccess: this.defaults.get(service.id.mesh) ?? 'Allow',
      changing: () => findChangingIds(index, service.id.mesh, ''),
    });
  }

  /** Reports whether its name may match another service in another zone. */
  private meansOthers({ id }: Resource): boolean {
    return (id.kind === 'MeshService' && id.zone === '') || this.sameNames.hasOthers(identityKey(id));
  }

  /** Whether there may be zones of Kuma. */
  private get hasZones(): boolean {
    return this.zones?.length !== 0;
  }

  /** Stores the reasons of a key, and whether it needs the MeshTimeout for the servers of its mesh. */
  private keep(key: ResourceKey, where: string, { spec, notTranslated }: ServiceTranslation): void {
    this.notTranslated.set(key, where, notTranslated);
    const { kind, mesh } = parseIdentityKey(key);
    if (kind !== 'MeshTimeout') return;
    const keys = this.timeouts.get(mesh) ?? new Set();
    const hadNone = keys.size === 0;
    if (spec) this.timeouts.set(mesh, keys.add(key));
    else if (keys.delete(key) && keys.size === 0) this.timeouts.delete(mesh);
    if (hadNone !== (keys.size === 0)) this.moveMesh(mesh);
  }

  private moveMesh(mesh: string): void {
    const resource = this.options.meshes.served().find(({ name }) => name === mesh)?.resource;
    if (resource) this.moved.add(this.file('MeshTimeout', resource.id));
  }

  private keysOfPolicies({ rules, backends, meshes }: PolicyChangeSet): Keys {
    return [
      ...rules.flatMap(({ kind, frontend }) =>
        OF_REQUESTS.includes(kind) ? this.keysOfService(frontend, REQUEST_KINDS) : NO_KEYS,
      ),
      ...backends.flatMap(({ kind, service }) =>
        kind === AccessPolicy.kind ? this.keysOfService(service, ['MeshTrafficPermission']) : NO_KEYS,
      ),
      ...meshes.flatMap(({ kind, mesh }) => {
        if (OF_REQUESTS.includes(kind)) return this.keysInMesh(mesh, REQUEST_KINDS);
        return kind === AccessPolicy.kind ? this.keysInMesh(mesh, ['MeshTrafficPermission']) : NO_KEYS;
      }),
    ];
  }

  private keysOfRoutes({ groups }: ChangeSet): Keys {
    return groups.flatMap(({ frontend }) => this.keysOfService(frontend, REQUEST_KINDS));
  }

  private keysInMesh(mesh: string, kinds: readonly KumaPolicyKind[]): Keys {
    const { index } = this;
    if (!index) return NO_KEYS;
    const services = SERVICES.flatMap((kind) => [...index.ofKind(kind)]).filter(({ id }) => id.mesh === mesh);
    return services.flatMap(({ id }) => kinds.map((kind) => this.file(kind, id)));
  }

  private keysOfService(service: ResourceKey, kinds: readonly KumaPolicyKind[]): Keys {
    const id = this.index?.byIdentityKey(service)?.id;
    return id && SERVICES.includes(id.kind) ? kinds.map((kind) => this.file(kind, id)) : NO_KEYS;
  }

  private wait(keys: Keys): Keys {
    for (const key of keys) this.pending?.add(key);
    return keys;
  }

  private keysFor(service: Identity): Keys {
    return KINDS.map((kind) => this.file(kind, service));
  }

  private file(kind: KumaPolicyKind, of: Identity): ResourceKey {
    const key = identityKey(kumaPolicyId(kind, of));
    this.made.set(key, { kind, of: identityKey(of) });
    return key;
  }

  /** Reports whether the default access of a mesh has changed. */
  private haveDefaultsMoved(): boolean {
    const { meshes } = this.options;
    if (meshes.version === this.lookedAt) return false;
    this.lookedAt = meshes.version;
    const before = this.defaults;
    this.defaults = new Map(meshes.served().map(({ name, access }) => [name, access?.defaultAccess ?? 'Allow']));
    return before.size !== this.defaults.size || [...before].some(([name, value]) => this.defaults.get(name) !== value);
  }
}

/** Reports whether a change of a service does not affect its translation: its addresses and counts do not matter. */
function isSame(before: Resource, after: Resource): boolean {
  const fields = ['ports', 'selector'];
  return (
    before.uid === after.uid &&
    jsonEqual(before.labels, after.labels) &&
    fields.every((field) => jsonEqual(before.spec[field], after.spec[field]))
  );
}

/** Returns the part of a zone's IdentityPathState that determines the ids of callers. */
function readChange(state: Resource | undefined): readonly JsonValue[] {
  const { step, namespaces } = state?.spec ?? {};
  return [step === undefined, namespaces ?? null];
}

/** Returns the translation if another author made the resource with its name: nothing is sent. */
function taken({ translated, notTranslated }: ServiceTranslation, { kind, name }: Identity): ServiceTranslation {
  const reason = `a ${kind} that somebody else made has the name ${name}`;
  return { translated: [], notTranslated: [...notTranslated, ...translated.map((each) => ({ ...each, reason }))] };
}

/** Creates the control loop of the policies for zones of Kuma, for one term of the global's leader, which ends with `signal`. */
export function createKumaPolicyLoop(
  options: KumaPoliciesOptions,
  term: { readonly signal: AbortSignal },
): { readonly loop: KeyedLoop; readonly translations: KumaPolicies } {
  const translations = new KumaPolicyReconciler(options);
  return { loop: new KeyedLoop(translations, term), translations };
}

import { AccessPolicy, type Authenticator } from '@causeway/access';
import { Admission } from '@causeway/admission';
import { FollowedPolicies, FollowedRoutes, getRegistry, type Meshes } from '@causeway/meshes';
import type { DnsLookup } from '@causeway/api';
import type { AccessFacts } from '@causeway/queries';
import {
  globalIdentity,
  ownZone,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Labels,
} from '@causeway/resources';
import { createRestServer, type RestServer, type RestServerOptions } from '@causeway/rest/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { restAccess, type TestAccess } from '../support/rest-access';
import { followStore, ResourceIndex, type StoreExport } from '@causeway/store';
import { fillAtOnce, MemoryAudit, MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { meshesOf } from '../support/meshes';

/** A REST server over a memory store with everything real behind it. */
export interface RestFixture {
  readonly server: RestServer;
  readonly store: MemoryStore;
  readonly index: ResourceIndex;
  readonly audit: MemoryAudit;
  /** Writes past admission, as sync and controllers do; the index has it when this resolves. */
  seed(...resources: readonly SeedResource[]): Promise<void>;
  close(): Promise<void>;
}

/** Answers a question as a DNS server that knows no name and forwards nothing. */
export function refuseLookup({ name, type = 'A' }: { readonly name: string; readonly type?: string }): DnsLookup {
  const reason = 'no service holds this name';
  return { name, type, zone: 'east', result: 'REFUSED', authoritative: false, reason, answers: [], holders: [] };
}

export interface SeedResource {
  readonly id: Identity;
  readonly labels?: Labels;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

export type FixtureOptions = Partial<
  Pick<
    RestServerOptions,
    | 'limits'
    | 'insights'
    | 'logger'
    | 'clock'
    | 'zoneAccess'
    | 'userAccess'
    | 'dataplaneAccess'
    | 'authorityAccess'
    | 'agentLeases'
    | 'instances'
    | 'syncDecisions'
    | 'authority'
    | 'tls'
  >
> & {
  readonly cp?: ControlPlane;
  readonly access?: TestAccess;
  /** Makes the facts about callers from the server's sources, and the function that ends them. */
  readonly callers?: (parts: CallerParts) => { readonly facts: AccessFacts; readonly close: () => void };
  /** Makes the authenticator from the server's sources. */
  readonly authenticator?: (parts: AuthenticatorParts) => Authenticator;
};

/** Sources from which the traffic of a fixture is derived. */
export interface CallerParts {
  readonly index: ResourceIndex;
  readonly meshes: Meshes;
  readonly policies: FollowedPolicies;
}

/** Sources of a fixture's authenticator. */
export interface AuthenticatorParts {
  readonly cp: ControlPlane;
  readonly store: MemoryStore;
  readonly index: ResourceIndex;
}

export const ZONE_EAST: ControlPlane = { role: 'zone', zone: 'east', federated: true };

/** Starts a fixture; a mesh `default` exists. */
export async function restFixture(options: FixtureOptions = {}): Promise<RestFixture> {
  const { cp = ZONE_EAST, access = {}, authenticator, callers, ...rest } = options;
  const store = new MemoryStore(new MemoryDisk());
  const audit = new MemoryAudit(store.disk);
  const index = new ResourceIndex();
  const stop = new AbortController();
  const following = followStore(store, index, { clock: systemClock, logger: silentLogger, signal: stop.signal });
  const meshes = meshesOf(index);
  const registry = getRegistry(index);
  const followed = { index, meshes, run: fillAtOnce };
  const routes = new FollowedRoutes({ ...followed, zone: ownZone(cp) });
  const policies = new FollowedPolicies({ ...followed, routes });
  const known = callers?.({ index, meshes, policies });
  const policy = new AccessPolicy({ registry, index, cp });
  const admission = new Admission({
    registry,
    store,
    index,
    meshes,
    controlPlane: cp,
    clock: systemClock,
    access: policy,
  });
  const seed = async (...seeds: readonly SeedResource[]): Promise<void> => {
    const changes = seeds.map(({ id, labels = {}, spec = {}, status }) => ({
      type: 'put' as const,
      id,
      expect: 'any' as const,
      labels: { ...zoneLabel(id), ...labels },
      spec,
      ...(status ? { status } : {}),
    }));
    await index.reached((await store.write({ changes, onRefusal: 'abort' })).revision);
  };
  await seed({ id: meshId('default'), labels: { 'kuma.io/origin': 'global' } });
  const server = await createRestServer({
    registry,
    cp,
    store,
    index,
    meshes,
    policies,
    audit,
    admission,
    clock: systemClock,
    logger: silentLogger,
    backup: emptyExport(store, cp),
    access: restAccess(policy, {
      ...access,
      ...(authenticator && { authenticator: authenticator({ cp, store, index }) }),
    }),
    ...(known && { callers: known.facts }),
    program: { version: '0.1.0', instanceId: 'test-1', config: {} },
    ...rest,
  });
  const close = async (): Promise<void> => {
    await server.close();
    known?.close();
    policy.close();
    policies.close();
    routes.close();
    stop.abort();
    await store.close();
    await following;
  };
  return { server, store, index, audit, seed, close };
}

/** A backup without rows, which are those of a database: libs/store-postgres/src/backup has them. */
function emptyExport(store: MemoryStore, cp: ControlPlane): StoreExport {
  return {
    export: async ({ secrets }, receive) => {
      const head = { ...(await store.head()), floor: 0, creationOrder: 0, epoch: 0, sessionFloor: 0 };
      const counts = { resources: 0, notes: 0, zone_sessions: 0, agent_leases: 0 };
      await receive.facts({ owner: { role: cp.role, zone: ownZone(cp), storeId: 'memory' }, head, secrets, counts });
    },
  };
}

function zoneLabel({ zone }: Identity): Labels {
  return zone === '' ? {} : { 'kuma.io/zone': zone };
}

/** The identity of a Mesh. */
export function meshId(name: string): Identity {
  return globalIdentity('Mesh', name);
}

/** The identity of a MeshService of mesh and namespace `default`. */
export function serviceId(name: string, zone = 'east'): Identity {
  return { kind: 'MeshService', mesh: 'default', zone, namespace: 'default', name };
}

/** Type of a parsed answer: tests read answers without decoding them first. */
export type ParsedJson = ReturnType<typeof JSON.parse>;

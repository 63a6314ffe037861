import { Inject, Module, type DynamicModule, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { parseYaml } from '@causeway/yaml';
import { Meshes, type MeshOwner, type ZoneRanges } from '@causeway/meshes';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { followStore, type ResourceIndex } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend, type PostgresOptions } from '@causeway/store-postgres';
import { CORE, type ControlPlaneCore, type ModuleImports } from '../core.module';
import type { SharedSettings } from '../settings/settings';
import { LeaderAwareWriter } from './leader-aware-writer';
import { retryWhileUnavailable } from './retry-while-unavailable';
import { followPolicies, POLICIES, PoliciesFollower } from './policies-follower';
import { followRoutes, ROUTES, RoutesFollower } from './routes-follower';
import { bindIdentity } from './store-identity';

/** The `ResourceIndex` of this replica. */
export const INDEX = injectionToken<ResourceIndex>('ResourceIndex');

/** The `Meshes` of this replica: the effective settings of each mesh. */
export const MESHES = injectionToken<Meshes>('Meshes');

/** Binds the store to this control plane before anything reads it. */
export class StoreBinding implements OnModuleInit {
  private bound: string | undefined;

  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(POSTGRES_BACKEND) private readonly backend: PostgresBackend,
  ) {}

  /** Id of the store, created at its first start; known once the module has started. */
  get storeId(): string {
    if (this.bound === undefined) throw new Error('the store is not bound yet');
    return this.bound;
  }

  async onModuleInit(): Promise<void> {
    const { cp, clock, logger, shutdown: signal } = this.core;
    const bind = () => bindIdentity(this.backend.store, cp);
    this.bound = (await retryWhileUnavailable(bind, { clock, logger, signal })).storeId;
  }
}

/** Loads the index and keeps it up to date with the store until all its readers have ended. */
class IndexFollower implements OnModuleInit, OnApplicationShutdown {
  private readonly ending = new AbortController();
  private following: Promise<void> | undefined;

  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(POSTGRES_BACKEND) private readonly backend: PostgresBackend,
    @Inject(INDEX) private readonly index: ResourceIndex,
    // Injected for the order only: a store of another control plane is refused before it is read.
    @Inject(StoreBinding) readonly after: StoreBinding,
  ) {}

  async onModuleInit(): Promise<void> {
    const { clock, logger, shutdown } = this.core;
    this.following = followStore(this.backend.store, this.index, { clock, logger, signal: this.ending.signal });
    await this.index.reached(0, shutdown);
  }

  async onApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await this.following;
  }
}

/** Dependencies of the index. */
export interface IndexModuleOptions extends ModuleImports {
  /** On a zone: ranges of virtual IPs with which those of meshes must agree. */
  readonly zoneRanges?: ZoneRanges;
}

/** Index of this replica: it contains the state of the store before any module that imports this one starts. */
@Module({})
export class IndexModule {
  static forRoot({ imports, zoneRanges }: IndexModuleOptions): DynamicModule {
    const index = provideFrom(INDEX, { core: CORE }, ({ core }) => core.index);
    const meshes = provideFrom(MESHES, { core: CORE, index: INDEX }, (sources) => {
      const owner = meshOwner(sources.core.settings);
      return new Meshes({ index: sources.index, owner, parse: parseParameters, ...(zoneRanges && { zoneRanges }) });
    });
    const sources = { core: CORE, index: INDEX, meshes: MESHES };
    const routes = provideFrom(ROUTES, sources, followRoutes);
    const policies = provideFrom(POLICIES, { ...sources, routes: ROUTES }, followPolicies);
    const backend = { backend: POSTGRES_BACKEND };
    const writer = provideFrom(LeaderAwareWriter, backend, (own) => new LeaderAwareWriter(own.backend.store));
    const followers = [StoreBinding, IndexFollower, RoutesFollower, PoliciesFollower];
    return {
      module: IndexModule,
      imports,
      providers: [index, meshes, routes, policies, writer, ...followers],
      exports: [INDEX, MESHES, ROUTES, POLICIES, LeaderAwareWriter, StoreBinding],
    };
  }
}

/** Returns the owner that identifies the Meshes of this control plane. */
function meshOwner(settings: SharedSettings): MeshOwner {
  return { controllerName: settings.CAUSEWAY_MESH_CONTROLLER_NAME, expectedName: settings.CAUSEWAY_MESH_NAME };
}

/** Parses the one YAML document of a ConfigMap, undefined for an empty text; kept small, because every control loop may read it. */
function parseParameters(text: string): unknown {
  const [document, ...more] = parseYaml(text, { nodes: 1_000 });
  if (more.length > 0) throw new Error('it holds more than one document');
  return document?.value;
}

/** Returns the database options of a control plane. */
export function storeOptions({ settings, clock, logger, shutdown }: ControlPlaneCore): PostgresOptions {
  return {
    url: settings.DATABASE_URL,
    clock,
    logger,
    tolerateNewer: settings.CAUSEWAY_DATABASE_TOLERATE_NEWER,
    signal: shutdown,
  };
}

import {
  ACCESS_POLICY,
  AUTHENTICATION,
  INDEX,
  maintainStore,
  meshLoops,
  MESHES,
  POLICIES,
  ROUTES,
  StoreBinding,
  tokenTasks,
  type ControlPlaneCore,
  type LeaderTermFactory,
} from '@causeway/control-plane';
import {
  createConditionsReconciler,
  createDefinitionsLoop,
  createExternalTrustLoop,
  createKeptSecretsLoop,
  createMeshAuthorityLoop,
  createPolicyStatusLoop,
  policyCounts,
  createAppMeshLoops,
  createRouteStatusLoop,
  createTrustCertificatesLoop,
  createTrustLoop,
  createZoneTrustLoop,
  GlobalProgress,
} from '@causeway/controllers';
import { createKumaPolicyLoop, createKumaRouteLoop, type KumaOptions } from '@causeway/kuma';
import { LoopRunner } from '@causeway/loops';
import { createZoneLifecycleLoop, unsupportedByKuma } from '@causeway/kds';
import type { FollowedPolicies, FollowedRoutes, Meshes } from '@causeway/meshes';
import type { Kind } from '@causeway/resources';
import { injectFrom, type Injection } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import type { GlobalSettings } from './config';
import { ZoneSecurity } from './zone-security.module';

const SOURCES = {
  backend: POSTGRES_BACKEND,
  index: INDEX,
  authentication: AUTHENTICATION,
  security: ZoneSecurity,
  rights: ACCESS_POLICY,
  meshes: MESHES,
  binding: StoreBinding,
  routes: ROUTES,
  policies: POLICIES,
};

/**
 * Creates the work of the global's leader for a term: defaults, maintenance of the store and of tokens, lost and
 * deleted zones, conditions.
 */
export function leaderTermFactory(
  core: ControlPlaneCore<GlobalSettings>,
  kuma: KumaOptions,
): Injection<LeaderTermFactory> {
  const { settings } = core;
  const lost = { policy: settings.CAUSEWAY_LOST_ZONE_POLICY, after: settings.CAUSEWAY_LOST_ZONE_AFTER };
  return injectFrom(SOURCES, (sources) => (term) => {
    const { backend, index, authentication, security, rights, meshes, binding, routes, policies } = sources;
    const context = { ...core, store: backend.store, index, meshes, term };
    const zones = createZoneLifecycleLoop({ ...context, sessions: backend.sessions, lost, rights });
    const conditions = createConditionsReconciler({ ...context, unsupportedByKuma: unsupportedByKuma(kuma) });
    const authorities = createMeshAuthorityLoop({ sealing: kuma.sealing, logger: core.logger });
    const keys = authentication.createKeyPublisher();
    const progress = new GlobalProgress({ index, zones: () => zones.zones() });
    const exportDefault = settings.CAUSEWAY_EXPORT_DEFAULT;
    const attached = { ...core, meshes, routes, policies, progress, exportDefault };
    const ofKuma = (): readonly string[] | undefined => zones.zones()?.kuma;
    const tasks = [...tokenTasks(context, authentication.tokens), security.purge];
    const loops = [
      ...meshLoops(core, meshes, binding),
      conditions,
      createDefinitionsLoop(),
      createTrustLoop(),
      createZoneTrustLoop(),
      createTrustCertificatesLoop(),
      createKeptSecretsLoop(core),
      createExternalTrustLoop(core.cp),
      authorities,
      keys,
      ...attachedLoops(attached, ofKuma, term),
    ];
    const runner = new LoopRunner(loops, context);
    return {
      loopStats: runner.stats.loops,
      policies: () => policyCounts(loops),
      run: async () => {
        await Promise.all([maintainStore(core, backend, term, { tasks }), zones.run(), runner.run()]);
      },
    };
  });
}

interface Attached extends Pick<ControlPlaneCore<GlobalSettings>, 'cp' | 'registry'> {
  readonly meshes: Meshes;
  readonly routes: FollowedRoutes;
  readonly policies: FollowedPolicies;
  readonly progress: GlobalProgress;
  readonly exportDefault: GlobalSettings['CAUSEWAY_EXPORT_DEFAULT'];
}

/** Creates the loops of routes and policies: their translation for Kuma zones, and their status. */
function attachedLoops(
  options: Attached,
  zones: () => readonly string[] | undefined,
  term: Parameters<LeaderTermFactory>[0],
) {
  const { cp, registry, meshes, routes, policies, progress } = options;
  const kumaRoutes = createKumaRouteLoop({ ...options, zones }, term);
  const kumaPolicies = createKumaPolicyLoop({ ...options, zones }, term);
  const known = { cp, meshes, progress };
  const findKind = (name: string): Kind | undefined => registry.kind(name);
  return [
    kumaRoutes.loop,
    kumaPolicies.loop,
    ...createAppMeshLoops({ cp, routes }, term),
    createRouteStatusLoop({ ...known, routes, kuma: kumaRoutes.translations }, term),
    createPolicyStatusLoop({ ...known, policies, findKind, kuma: kumaPolicies.translations }, term),
  ];
}

import { compareText } from '@causeway/resources';
import type { MeshState } from './meshes';

/** A feature that a Mesh can publish as supported. */
export interface Feature {
  /** Name as in `pkg/features` of the Gateway API; clients compare it. */
  readonly name: string;
  /** The tests that prove it, as `file › words of the title`; a feature without any is not published. */
  readonly tests: readonly string[];
  /** Whether it needs a Mesh resource of ours: it is off if the Mesh is only assumed (row T000-22). */
  readonly requiresMesh?: true;
}

/** Maximum number of features in a status (row T000-37). */
const MAX_FEATURES = 64;

/**
 * Features that a mesh may support: those of the Gateway API that concern a mesh, and off-cluster gateways. The Mesh
 * resource itself is no feature (row T000-40). To add one, name its tests here; every accepted Mesh then publishes it.
 */
export const FEATURES: readonly Feature[] = [
  { name: 'Mesh', tests: ['test/envoy/routes.spec.ts › MeshBasic'] },
  { name: 'MeshClusterIPMatching', tests: ['test/envoy/routes.spec.ts › MeshFrontend'] },
  { name: 'MeshConsumerRoute', tests: ['test/envoy/routes.spec.ts › MeshConsumerRoute'] },
  { name: 'MeshHTTPRouteRewritePath', tests: ['test/envoy/routes.spec.ts › MeshHTTPRouteRewritePath'] },
  { name: 'MeshHTTPRouteSchemeRedirect', tests: ['test/envoy/routes.spec.ts › MeshHTTPRouteRedirectHostAndStatus'] },
  { name: 'MeshHTTPRouteRedirectPort', tests: ['test/envoy/routes.spec.ts › MeshHTTPRouteRedirectHostAndStatus'] },
  { name: 'MeshHTTPRouteRedirectPath', tests: ['test/envoy/routes.spec.ts › MeshHTTPRouteRedirectHostAndStatus'] },
  {
    name: 'MeshHTTPRouteBackendRequestHeaderModification',
    tests: ['test/envoy/routes.spec.ts › MeshHTTPRouteRequestHeaderModifier'],
  },
  { name: 'MeshHTTPRouteQueryParamMatching', tests: ['test/envoy/routes.spec.ts › MeshHTTPRouteQueryParamMatching'] },
  { name: 'MeshHTTPRouteNamedRouteRule', tests: ['test/envoy/routes.spec.ts › MeshHTTPRouteNamedRule'] },
  { name: 'HTTPRoute', tests: ['test/envoy/routes.spec.ts › MeshHTTPRouteMatching'] },
  { name: 'GRPCRoute', tests: ['test/envoy/grpc-routes.spec.ts › gRPC clients (grpc-js-xds) obey routes'] },
  { name: 'TLSRoute', tests: [] },
  { name: 'TCPRoute', tests: ['test/envoy/routes.spec.ts › TCPRoute'] },
  { name: 'UDPRoute', tests: [] },
  { name: 'OffClusterGateway', tests: [], requiresMesh: true },
];

/**
 * Returns `status.supportedFeatures` of an accepted Mesh (rows T000-12, T000-37): each proven feature once, in order of
 * code units, at most 64.
 */
export function supportedFeatures(features: readonly Feature[] = FEATURES): readonly { readonly name: string }[] {
  const names = new Set(features.filter(({ tests }) => tests.length > 0).map(({ name }) => name));
  return [...names]
    .sort(compareText)
    .slice(0, MAX_FEATURES)
    .map((name) => ({ name }));
}

/**
 * Reports whether a feature may be in use in a mesh: it is proven, and its requirement is met (row T000-22). No feature that requires a Mesh is
 * proven yet.
 * @public
 */
export function isFeatureEnabled({ tests, requiresMesh }: Feature, { claim }: Pick<MeshState, 'claim'>): boolean {
  return tests.length > 0 && (requiresMesh !== true || claim === 'ours');
}

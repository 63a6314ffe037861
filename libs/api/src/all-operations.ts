import type { AnyOperation } from './operation';
import { applyResources } from './operations/apply';
import { listAuditEntries } from './operations/audit';
import { exportStore } from './operations/backup';
import { discoverHosts, discoverTargets } from './operations/discovery';
import {
  explainHostname,
  listServiceDataplanes,
  listHostnames,
  listServiceHostnames,
  lookUpName,
  resolveHostname,
} from './operations/names';
import {
  getDataplaneOverview,
  getZoneOverview,
  listAllDataplaneOverviews,
  listDataplaneOverviews,
  listZoneOverviews,
} from './operations/overviews';
import {
  getPolicyImpact,
  getTopology,
  listAffectingPolicies,
  listPoliciesOfVirtual,
  listPolicyScopes,
  previewPolicyImpact,
} from './operations/policies';
import { getProxy, listLeases, listProxies, releaseLeases } from './operations/proxies';
import {
  deleteResource,
  getResource,
  listResources,
  listResourcesOfMesh,
  patchResource,
  putResource,
} from './operations/resources';
import { explainRequest, listRoutesOfService } from './operations/routes';
import {
  describeServer,
  getByKri,
  listKinds,
  reviewAccess,
  showAuthority,
  showConfig,
  showOpenApi,
  whoAmI,
} from './operations/server';
import { adoptZone, confirmGlobal, confirmZone, diagnose, resetZoneEpoch } from './operations/sync';
import { dataplaneTokens, showZoneAuthority, userTokens, zoneInvites, zoneTokens } from './operations/tokens';
import { rotateWorkloadAuthority, showWorkloadAuthority } from './operations/workload-authority';
import { confirmWorkload, listWorkloads, revokeWorkload } from './operations/workloads';

/** All operations, in the order of the OpenAPI document; the server refuses to start if one has no endpoint. */
export const OPERATIONS: readonly AnyOperation[] = [
  describeServer,
  listKinds,
  getByKri,
  whoAmI,
  showAuthority,
  reviewAccess,
  showConfig,
  showOpenApi,
  diagnose,
  listHostnames,
  lookUpName,
  explainHostname,
  resolveHostname,
  listServiceHostnames,
  listServiceDataplanes,
  listZoneOverviews,
  getZoneOverview,
  listAllDataplaneOverviews,
  listDataplaneOverviews,
  getDataplaneOverview,
  explainRequest,
  listRoutesOfService,
  listAffectingPolicies,
  listPoliciesOfVirtual,
  listPolicyScopes,
  getPolicyImpact,
  previewPolicyImpact,
  getTopology,
  ...Object.values(userTokens),
  ...Object.values(zoneTokens),
  ...Object.values(zoneInvites),
  ...Object.values(dataplaneTokens),
  showZoneAuthority,
  showWorkloadAuthority,
  rotateWorkloadAuthority,
  listWorkloads,
  revokeWorkload,
  confirmWorkload,
  confirmZone,
  adoptZone,
  resetZoneEpoch,
  confirmGlobal,
  applyResources,
  listAuditEntries,
  exportStore,
  listProxies,
  getProxy,
  listLeases,
  releaseLeases,
  discoverTargets,
  discoverHosts,
  listResources,
  listResourcesOfMesh,
  getResource,
  putResource,
  patchResource,
  deleteResource,
];

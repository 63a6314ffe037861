/** Definitions of the REST operations (libs/api/README.md). */
export {
  querySchema,
  requestPath,
  routePath,
  withoutMesh,
  type Activity,
  type AnswerOf,
  type AnyOperation,
  type BodyOf,
  type KindOperation,
  type CalledKind,
  type Operation,
  type OperationAccess,
  type OperationAnswer,
  type OperationBody,
  type PathNames,
  type PathOf,
  type QueryOf,
} from './operation';
export { PAGE_SIZE } from './parameters';
export { NamedMesh } from './schema';
export { OPERATIONS } from './all-operations';
export { AccessVerdict } from './schemas/access-verdict';
export { applyResources } from './operations/apply';
export { AuditEntry, listAuditEntries } from './operations/audit';
export { exportStore } from './operations/backup';
export { discoverHosts, discoverTargets } from './operations/discovery';
export { EXAMPLE_NAME, KubernetesForm, documentName, listedName } from './schemas/documents';
export { Named, ServiceName } from './schemas/named';
export {
  DnsLookup,
  HostnameClaim,
  HostnameEntry,
  HostnameExplanation,
  KINDS_WITH_HOSTNAMES,
  ResolvedHostname,
  explainHostname,
  listServiceDataplanes,
  listHostnames,
  listServiceHostnames,
  lookUpName,
  resolveHostname,
} from './operations/names';
export {
  getDataplaneOverview,
  getZoneOverview,
  listAllDataplaneOverviews,
  listDataplaneOverviews,
  listZoneOverviews,
} from './operations/overviews';
export {
  AffectingPolicies,
  DeclaredTarget,
  EffectivePolicy,
  ImpactOnPath,
  PathNode,
  PathPolicies,
  PolicyImpact,
  PolicyName,
  PolicyOnPath,
  PolicyScope,
  PolicyScopes,
  Topology,
  getPolicyImpact,
  getTopology,
  listAffectingPolicies,
  listPoliciesOfVirtual,
  listPolicyScopes,
  previewPolicyImpact,
} from './operations/policies';
export {
  AgentLease,
  LeaseHold,
  Proxy,
  ProxyFault,
  getProxy,
  listLeases,
  listProxies,
  releaseLeases,
} from './operations/proxies';
export type { ZoneOverview } from './schemas/zone-insight';
export { RequestQuestion } from './schemas/request-question';
export {
  GeneratorDryRun,
  deleteResource,
  getResource,
  listResources,
  listResourcesOfMesh,
  patchResource,
  putResource,
} from './operations/resources';
export { RequestAnswer, ServiceRoutes, ShapedBy, explainRequest, listRoutesOfService } from './operations/routes';
export {
  KindDescription,
  Root,
  describeServer,
  getByKri,
  listKinds,
  reviewAccess,
  showAuthority,
  showConfig,
  showOpenApi,
  showReadiness,
  whoAmI,
} from './operations/server';
export {
  Confirmation,
  Diagnosis,
  type DoctorCheckName,
  EpochReset,
  Finding,
  ZoneAdoption,
  adoptZone,
  confirmGlobal,
  confirmZone,
  diagnose,
  resetZoneEpoch,
} from './operations/sync';
export { dataplaneTokens, showZoneAuthority, userTokens, zoneInvites, zoneTokens } from './operations/tokens';
export { WorkloadAuthority, rotateWorkloadAuthority, showWorkloadAuthority } from './operations/workload-authority';
export { Workload, WorkloadRevocation, confirmWorkload, listWorkloads, revokeWorkload } from './operations/workloads';

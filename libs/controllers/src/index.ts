/** Control loops of a leader (libs/controllers/README.md). */
export { createZoneReconcilers, poolReports } from './zone-reconcilers';
export { createMeshLoops } from './mesh/mesh-reconciler';
export { meshesOfAuthority, TrustPublisher, unspreadDomains } from './trust/trust-publisher';
export { isTrustedHere } from './trust/believed-domains';
export { createSharedIdentityLoop } from './trust/shared-identity-reconciler';
export { certificatesOfTrust, readBundle } from './trust/bundle-certificates';
export { createExternalTrustLoop } from './secrets/external-trust-reconciler';
export { createKeptSecretsLoop } from './secrets/kept-secrets-loop';
export { SecretAccess } from './secrets/secret-access';
export { UpgradedSecrets } from './secrets/upgraded-secrets';
export { createDefinitionsLoop } from './definitions/definitions-reconciler';
export { createTrustCertificatesLoop } from './trust/trust-certificates-reconciler';
export { zonesWithout } from './trust/trust-acceptance';
export { createZoneTrustLoop, TrustAcceptanceReporter } from './trust/trust-acceptance-loops';
export { createTrustLoop } from './trust/trust-reconciler';
export { createMeshAuthorityLoop } from './trust/mesh-authority-loop';
export { createConditionsReconciler } from './conditions/conditions-reconciler';
export { movesMeshAuthority, WorkloadIds } from './availability/workload-ids';
export { tombstoneRetention } from './vip/tombstone-retention';
export {
  applyToClaims,
  fillClaims,
  fillMeshes,
  NAMED_KINDS,
  type ClaimsOf,
  type ServedMeshes,
  type ZoneControlPlane,
} from './hostname/zone-claims';
export { createLeaseConditionsLoop, LeaseHealth } from './leases/lease-conditions';
export { LeaseReaper, leaseHold, releaseLeases, type ReaperHold } from './leases/lease-reaper';
export { createExternalAddressesLoop, type ExternalHosts } from './services/external-addresses';
export { LEASED_BY } from './leases/plan-lease-ends';
export { createIdentityPathLoop } from './identity-paths/identity-path-reconciler';
export { IDENTITY_PATH_REPLICAS, IdentityPathReplicas } from './identity-paths/identity-path-replicas';
export { ENROLMENT_REPLICAS, EnrolmentAdoption } from './enrolments/enrolment-adoption';
export { EnrolmentMaintenance } from './enrolments/enrolment-maintenance';
export { WorkloadRevoker, type RevocationPlan } from './enrolments/workload-revoker';
export { REGISTERED_BY } from './proxies/abandoned-dataplanes';
export { ProxyDirectory } from './proxies/proxy-directory';
export { proxiesWithoutAuthority, type KnownProxy } from './proxies/known-proxies';
export { createPolicyStatusLoop, policyCounts } from './policies/policy-status-loop';
export { type KumaPolicies } from './policies/kuma-policies';
export { reportedPolicies } from './policies/reported-policies';
export { readDataplaneMode } from './progress/dataplane-modes';
export { GlobalProgress } from './progress/global-progress';
export { createProgressReporter } from './progress/progress-reporter';
export { ZoneProgress } from './progress/zone-progress';
export { reportedRoutes } from './routes/route-requirement';
export { createAppMeshLoops } from './appmesh/app-mesh-reconciler';
export { createRouteStatusLoop } from './routes/route-status-loop';

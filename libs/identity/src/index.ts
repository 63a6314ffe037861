/** Identity of workloads, and its proof (libs/identity/README.md). */
export {
  identityFor,
  isIdByPreset,
  sharedIdentities,
  resolveSpiffeId,
  listSpiffeIds,
  resolveTrustDomain,
  readWorkload,
  type MeshIdentityResource,
} from './workload-id';
export {
  changingIds,
  identityPathStateId,
  nextStep,
  readPresetPath,
  wantedForm,
  type PathStep,
} from './identity-paths';
export { changingIdsIn, revokedIdsIn, zoneDomains, type ZoneDomains } from './zone-domains';
export { identitiesByMesh, movesIdentities, movesWorkloadIds } from './mesh-identities';
export { findEgressIdentity } from './egress-identity';
export { bindingProblem, listServedServices, servicesProblem, type WorkloadBinding } from './workload-binding';
export {
  enrolledDataplane,
  enrolmentEpochId,
  enrolmentId,
  findEnrolment,
  Enrolments,
  isEnrolmentInForce,
  oldCredential,
  putEnrolment,
  type EnrolmentResource,
  type JoiningCredential,
  type OldCredential,
} from './enrolments';
export { SealingKeys } from './sealing-keys';
export { ZoneAuthority, type AuthorityStateOfZone } from './zone-authority';
export { listAuthorityIds, BACKDATED, certificatesIn, createMeshAuthority, type AuthorityPair } from './x509';
export {
  enabledBackend,
  isMeshAuthorityKey,
  MeshAuthorities,
  findMeshAuthority,
  meshAuthoritySecrets,
  listKumaSpiffeIds,
  type MeshAuthority,
} from './mesh-authority';
export { openedText, SEALED_LABEL, sealedSpec, sealedWith } from './sealed-secret';
export {
  AuthorityLifecycle,
  listCertificates,
  waitedFor,
  type TrustEvidence,
  type TrustGaps,
} from './authority-lifecycle';
export { checkOrder, RotationRequests, type RotationCommand } from './rotation-requests';
export { joinBundleText, MAX_BUNDLE_LENGTH, readJoinBundle, type JoinBundle } from './join-bundle';
export { createCsr, createWorkloadKey } from './workload-key';
export { WorkloadCertificates, type WorkloadCertificate } from './workload-certificates';

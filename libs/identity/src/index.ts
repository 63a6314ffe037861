/** Identity of workloads and its proof (libs/identity/README.md). */
export {
  selectIdentity,
  isIdByPreset,
  resolveSpiffeId,
  listSpiffeIds,
  resolveTrustDomain,
  readWorkload,
  type MeshIdentityResource,
} from './workload-id';
export {
  changingIds,
  identityPathStateId,
  computeNextStep,
  readPresetPath,
  findWantedForm,
  type PathStep,
} from './identity-paths';
export { findChangingIds, listRevokedIds, computeZoneDomains, type ZoneDomains } from './zone-domains';
export { groupIdentitiesByMesh, changesIdentities, changesWorkloadIds } from './mesh-identities';
export { findEgressIdentity } from './egress-identity';
export { findBindingProblem, listServedServices, findServicesProblem, type WorkloadBinding } from './workload-binding';
export { Enrolments, type JoiningCredential } from './enrolments';
export {
  enrolledDataplane,
  enrolmentEpochId,
  enrolmentId,
  findEnrolment,
  isEnrolmentInForce,
  findOldCredential,
  putEnrolment,
  type EnrolmentResource,
  type OldCredential,
} from './stored-enrolments';
export { SealingKeys } from './sealing-keys';
export { ZoneAuthority, type AuthorityStateOfZone } from './zone-authority';
export { listAuthorityIds, BACKDATED, splitCertificates, createMeshAuthority, type AuthorityPair } from './x509';
export {
  findEnabledBackend,
  isMeshAuthorityKey,
  MeshAuthorities,
  findMeshAuthority,
  meshAuthoritySecrets,
  listKumaSpiffeIds,
  type MeshAuthority,
} from './mesh-authority';
export { openSealedText, SEALED_LABEL, sealSpec, findSealingKeyId } from './sealed-secret';
export {
  AuthorityLifecycle,
  listCertificates,
  listAwaitedPeers,
  type TrustEvidence,
  type TrustGaps,
} from './authority-lifecycle';
export { checkCommand, RotationRequests, type RotationCommand } from './rotation-requests';
export { formatJoinBundle, MAX_BUNDLE_LENGTH, readJoinBundle, type JoinBundle } from './join-bundle';
export { createCsr, createWorkloadKey } from './workload-key';
export { WorkloadCertificates, type WorkloadCertificate } from './workload-certificates';

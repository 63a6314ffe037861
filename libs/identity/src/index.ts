/** Who workloads are, and what proves it (libs/identity/README.md). */
export {
  identityFor,
  isIdByPreset,
  sharedIdentities,
  spiffeIdOf,
  spiffeIdsOf,
  trustDomainOf,
  workloadOf,
  type MeshIdentityResource,
} from './workload-id';
export { changingIds, identityPathStateId, nextStep, presetPathOf, wantedForm, type PathStep } from './identity-paths';
export { changingIdsIn, revokedIdsIn, zoneDomains, type ZoneDomains } from './zone-domains';
export { identitiesByMesh, movesIdentities, movesWorkloadIds } from './mesh-identities';
export { egressIdentityOf } from './egress-identity';
export { bindingProblem, servicesOf, servicesProblem, type WorkloadBinding } from './workload-binding';
export {
  enrolledDataplane,
  enrolmentEpochId,
  enrolmentId,
  enrolmentOf,
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
export { authorityIdsOf, BACKDATED, certificatesIn, createMeshAuthority, type AuthorityPair } from './x509';
export {
  enabledBackend,
  isMeshAuthorityKey,
  MeshAuthorities,
  meshAuthorityOf,
  meshAuthoritySecrets,
  meshUrisOf,
  type MeshAuthority,
} from './mesh-authority';
export { openedText, SEALED_LABEL, sealedSpec, sealedWith } from './sealed-secret';
export {
  AuthorityLifecycle,
  certificatesOf,
  waitedFor,
  type TrustEvidence,
  type TrustGaps,
} from './authority-lifecycle';
export { checkOrder, RotationRequests, type RotationOrder } from './rotation-requests';
export { joinBundleText, MAX_BUNDLE_LENGTH, readJoinBundle, type JoinBundle } from './join-bundle';
export { createCsr, createWorkloadKey } from './workload-key';
export { WorkloadCertificates, type WorkloadCertificate } from './workload-certificates';

/** Who workloads are, and what proves it (libs/identity/README.md). */
export {
  identityFor,
  isIdByPreset,
  isWorkloadLabelled,
  sharedIdentities,
  spiffeIdOf,
  spiffeIdsOf,
  trustDomainOf,
  workloadOf,
  type MeshIdentityResource,
  type PresetPath,
  type SpiffeId,
  type WorkloadId,
} from './workload-id';
export {
  changingIds,
  identityPathState,
  identityPathStateId,
  nextStep,
  presetPath,
  presetPathOf,
  wantedForm,
  type MeshInZone,
  type PathStep,
} from './identity-paths';
export { changingIdsIn, revokedIdsIn, zoneDomains, type ZoneDomains } from './zone-domains';
export { egressIdentityOf } from './egress-identity';
export { bindingProblem, servicesOf, servicesProblem, workloadProblem, type WorkloadBinding } from './workload-binding';
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
  type EnrolmentsOptions,
  type JoiningCredential,
  type OldCredential,
} from './enrolments';
export { SealingKeys, type ParsedSealingKeys, type SealedText } from './sealing-keys';
export { type AuthorityState, type RotationEvidence, type RotationStep } from './authority-rotation';
export {
  ZoneAuthority,
  type AuthorityStateOfZone,
  type CertificateSigner,
  type SignedCertificate,
} from './zone-authority';
export {
  authorityIdOf,
  authorityIdsOf,
  BACKDATED,
  certificatesIn,
  createMeshAuthority,
  type AuthorityPair,
  type CertificateOrder,
} from './x509';
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
export { checkOrder, RotationRequests, type RotationOrder, type RotationRequest } from './rotation-requests';
export { joinBundleText, LONGEST_BUNDLE, readJoinBundle, type JoinBundle, type ReadBundle } from './join-bundle';
export { createCsr, createWorkloadKey, type WorkloadKey } from './workload-key';
export {
  WorkloadCertificates,
  type CertificateRequest,
  type EgressCertificateRequest,
  type WorkloadCertificate,
} from './workload-certificates';

/** The vocabulary: one file for each kind (libs/kinds/README.md). */
export { MeshNaming, MAX_SUFFIXES } from './mesh-naming';
export { MAX_REVOKED } from './authentication-configuration';
export { PARAMETERS_KEY } from './config-map';
export { coreKinds } from './core-kinds';
export { Dataplane } from './dataplane';
export { declaredKind, undeclaredKind } from './declared/declared-kind';
export {
  DefinitionEvaluator,
  MAX_DECLARED_KINDS,
  type DefinitionParts,
  type EvaluatedDefinition,
} from './declared/evaluate-definitions';
export { defaultResources } from './default-resources';
export {
  Enrolment,
  ENROLMENT_EPOCH,
  EnrolmentEpoch,
  MAX_ENDED_ENROLMENTS,
  MAX_ENROLMENT_TOKENS,
  WorkloadRevocation,
  type EnrolmentSpec,
} from './enrolment';
export { HostnameGenerator } from './hostname-generator';
export { HTTPRoute } from './http-route';
export {
  IDENTITY_PATH_STATE,
  IdentityPath,
  IdentityPathState,
  MAX_NAMESPACES_SHARING,
  MAX_SHARED_IDS,
  MAX_STATE_NAMESPACES,
  type IdentityPathStateSpec,
} from './identity-path';
export { Mesh } from './mesh';
export { serviceAddressViolation, serviceAddressViolations, isOwnServiceAddress } from './schema/service-addresses';
export { MeshExternalService } from './mesh-external-service';
export { MeshIdentity } from './mesh-identity';
export { MeshMultiZoneService } from './mesh-multi-zone-service';
export { checkMeshParameters, isMeshParameters, type MeshParametersSpec } from './mesh-parameters';
export { MeshService } from './mesh-service';
export { MeshTrust } from './mesh-trust';
export {
  canBeQualified,
  declaredName,
  declaredNames,
  isQualifiedName,
  MetaresourceDefinition,
} from './metaresource-definition';
export { builtInRoles, verbs } from './role';
export { MAX_COUNTED_ROUTES, RouteInsight, type RouteInsightSpec } from './route-insight';
export { Secret } from './secret';
export { KINDS_WITH_SECRETS, secretReferences, type SecretReference } from './secret-references';
export { certificateBlocks, privateKeyBlocks } from './schema/certificate-rules';
export { decodePem, withSourcesIn, type SourceForm } from './schema/certificate-source';
export { includesUser } from './schema/secret-users';
export {
  clientKeySource,
  readExternalTrust,
  unreadableTrust,
  type AltName,
  type ExternalProblem,
  type ExternalTls,
  type SecretResult,
  type SecretLookup,
  type ServerCheck,
  type TlsVersion,
} from './stored/external-tls';
export { RECORDED_USERS, resolveSecretNames, secretUsers } from './stored/secrets-named';
export { servicePorts, type ServicePort } from './stored/service-ports';
export { foreignReferences } from './stored/foreign-references';
export { readStoredSource } from './stored/stored-app-mesh';
export { storedGateway, storedGrant, storedRoute, storedService } from './stored/stored-routing';
export { protocols } from './schema/schema-parts';
export { TCPRoute } from './tcp-route';
export { TLSRoute } from './tls-route';
export { UDPRoute } from './udp-route';
export { VirtualNode } from './virtual-node';
export { VirtualService } from './virtual-service';
export { Zone } from './zone';

/** Names of services and resources (libs/naming/README.md). */
export { hashedName, keepsNameOnWire, wireName } from './kds-name';
export { kriOf, parseKri } from './kri';
export { checkTemplate, MAX_TEMPLATE_LENGTH, parseTemplate, renderTemplate } from './template';
export {
  DEFAULT_SPIFFE_PATH,
  DEFAULT_TRUST_DOMAIN,
  hasOwnPath,
  MAX_TRUST_DOMAIN_LENGTH,
  NAMESPACED_SPIFFE_PATH,
  parseSpiffePathTemplate,
  parseTrustDomainTemplate,
  presetSpiffePath,
  spiffeIdProblem,
  spiffePathProblem,
  trustDomainProblem,
  type ParsedSpiffeTemplate,
  type SpiffePathForm,
  type SpiffeTemplatePart,
  type SpiffeVariable,
} from './spiffe-id';
export { templateRequirements } from './template-match';
export {
  clashOfAwsName,
  clashReason,
  compareClaims,
  decidingRule,
  type ClaimRank,
  type PrecedenceRule,
} from './precedence';
export {
  hasLabels,
  parseGenerator,
  SERVICE_KINDS,
  type GeneratorSource,
  type ParsedGenerator,
} from './parsed-generator';
export { type ClaimView, type ServiceAddress } from './claim';
export { ClaimTable } from './claim-table';

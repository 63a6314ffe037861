/** Names of services and resources (libs/naming/README.md). */
export { keepsNameOnWire, wireName } from './kds-name';
export { formatKri, parseKri } from './kri';
export { checkTemplate, MAX_TEMPLATE_LENGTH, parseTemplate, renderTemplate } from './template';
export {
  DEFAULT_SPIFFE_PATH,
  DEFAULT_TRUST_DOMAIN,
  hasOwnPath,
  MAX_TRUST_DOMAIN_LENGTH,
  parseSpiffePathTemplate,
  parseTrustDomainTemplate,
  presetSpiffePath,
  spiffeIdProblem,
  spiffePathProblem,
  trustDomainProblem,
  type SpiffePathForm,
  type SpiffeTemplatePart,
} from './spiffe-id';
export { templateRequirements } from './template-match';
export { clashOfAwsName, clashReason, compareClaims, decidingRule, type ClaimRank } from './precedence';
export {
  hasLabels,
  parseGenerator,
  SERVICE_KINDS,
  type GeneratorSource,
  type ParsedGenerator,
} from './parsed-generator';
export { type ClaimView, type ServiceAddress } from './claim';
export { ClaimTable } from './claim-table';

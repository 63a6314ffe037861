/**
 * Names of services and resources: hostnames, claims and their precedence, wire names.
 * Pure functions; no store, no clock.
 */
export { hashedName, keepsNameOnWire, wireName, type WireNamed } from './kds-name';
export { kriOf, parseKri, type Kri, type KriSubject } from './kri';
export { dnsNameProblem } from './dns-name';
export {
  checkTemplate,
  kumaTemplate,
  MAX_TEMPLATE_LENGTH,
  parseTemplate,
  renderTemplate,
  type ParsedTemplate,
  type RenderedTemplate,
  type Template,
  type TemplatePart,
  type TemplateSubject,
  type TemplateVariable,
} from './template';
export {
  clashReason,
  compareClaims,
  compareGenerators,
  decidingRule,
  ruleThatDecided,
  type ClaimRank,
  type GeneratorRank,
  type PrecedenceRule,
  type ServiceRank,
} from './precedence';
export { type ClaimView, type ServiceAddress } from './claim';
export { parseGenerator, SERVICE_KINDS, type ParsedGenerator, type GeneratorSource } from './parsed-generator';
export { ClaimTable } from './claim-table';
export { templateRequirements, type TemplateRequirement } from './template-match';

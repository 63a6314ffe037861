export { IDENTITY_SECRET } from '../src/names/resource-names';
export type { EnvoyResourcesOptions } from '../src/translation/envoy-resources-options';

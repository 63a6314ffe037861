import type { JsonObject } from '@causeway/resources';
import type { KumaTranslation } from './translation';
import { toKumaSelectors } from './selectors';

const SEED_NAME = /\{\{\s*name\s*\}\}/g;

/** Ours understands Kuma's templates and selectors; Kuma does not understand the seed's `labels` and `{{ name }}`. */
export const hostnameGeneratorTranslation: KumaTranslation = {
  toKumaSpec: (spec) => toKumaTemplate(toKumaSelectors(spec)),
};

function toKumaTemplate(spec: JsonObject): JsonObject {
  const { template } = spec;
  if (typeof template !== 'string') return spec;
  const said = template.replace(SEED_NAME, '{{ .DisplayName }}');
  return said === template ? spec : { ...spec, template: said };
}

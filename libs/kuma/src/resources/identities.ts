import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { KumaTranslation } from './translation';

/**
 * A MeshIdentity. Here `Bundled` without `ca` is an authority that each zone makes, and `Spire` needs no settings; Kuma
 * 2.14 refuses both unless they are spelled out, and takes no authority of its own making without
 * `insecureAllowSelfSigned`. What Kuma sends is valid here as it is.
 */
export const meshIdentityTranslation: KumaTranslation = {
  toKumaSpec: (spec) => {
    const { provider } = spec;
    return isJsonObject(provider) ? { ...spec, provider: spelledOut(provider) } : spec;
  },
};

/** Which trust proxies have accepted is sent between zones of Causeway only. */
export const meshTrustTranslation: KumaTranslation = {
  toKumaStatus: ({ proxies: _, ...status }) => status,
};

function spelledOut(provider: JsonObject): JsonObject {
  const { type, bundled, spire } = provider;
  if (type === 'Spire') return { ...provider, spire: isJsonObject(spire) ? spire : {} };
  if (type !== 'Bundled') return provider;
  const given = isJsonObject(bundled) ? bundled : {};
  return given['ca'] === undefined
    ? { ...provider, bundled: { insecureAllowSelfSigned: true, ...given, autogenerate: { enabled: true } } }
    : provider;
}

import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { KumaTranslation } from './translation';

/**
 * Translates a MeshIdentity. Here `Bundled` without `ca` is an authority that each zone creates, and `Spire` needs no settings; Kuma 2.14 requires
 * both to be spelled out, and `insecureAllowSelfSigned` for an authority that it creates itself. A MeshIdentity from Kuma is valid here unchanged.
 */
export const meshIdentityTranslation: KumaTranslation = {
  toKumaSpec: (spec) => {
    const { provider } = spec;
    return isJsonObject(provider) ? { ...spec, provider: spelledOut(provider) } : spec;
  },
};

/** Translates a MeshTrust. The trust that proxies have accepted is sent between zones of Causeway only. */
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

import { meshIdentityTranslation, meshTrustTranslation } from './identities';
import { dataplaneInsightTranslation, zoneProxyInsightTranslation } from './proxy-insights';
import type { KumaTranslation } from './translation';
import {
  configTranslation,
  dataplaneTranslation,
  meshTranslation,
  secretTranslation,
  zoneEgressTranslation,
  zoneIngressTranslation,
} from './proto-kinds';
import {
  hostnameGeneratorTranslation,
  meshExternalServiceTranslation,
  meshMultiZoneServiceTranslation,
  meshServiceTranslation,
} from './services';

const IDENTITY: KumaTranslation = {};

const TRANSLATIONS: ReadonlyMap<string, KumaTranslation> = new Map([
  ['Mesh', meshTranslation],
  ['Dataplane', dataplaneTranslation],
  ['DataplaneInsight', dataplaneInsightTranslation],
  ['ZoneIngressInsight', zoneProxyInsightTranslation('ZoneIngressInsight')],
  ['ZoneEgressInsight', zoneProxyInsightTranslation('ZoneEgressInsight')],
  ['Config', configTranslation],
  ['Secret', secretTranslation],
  ['GlobalSecret', secretTranslation],
  ['HostnameGenerator', hostnameGeneratorTranslation],
  ['MeshService', meshServiceTranslation],
  ['MeshMultiZoneService', meshMultiZoneServiceTranslation],
  ['MeshExternalService', meshExternalServiceTranslation],
  ['MeshIdentity', meshIdentityTranslation],
  ['MeshTrust', meshTrustTranslation],
  ['ZoneIngress', zoneIngressTranslation],
  ['ZoneEgress', zoneEgressTranslation],
]);

/** Returns the translation of a kind; the identity for a kind that is not listed. */
export function kumaTranslation(kind: string): KumaTranslation {
  return TRANSLATIONS.get(kind) ?? IDENTITY;
}

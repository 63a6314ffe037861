import type { KumaTranslation } from './translation';
import {
  configTranslation,
  dataplaneInsightTranslation,
  dataplaneTranslation,
  meshTranslation,
  secretTranslation,
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
  ['Config', configTranslation],
  ['Secret', secretTranslation],
  ['GlobalSecret', secretTranslation],
  ['HostnameGenerator', hostnameGeneratorTranslation],
  ['MeshService', meshServiceTranslation],
  ['MeshMultiZoneService', meshMultiZoneServiceTranslation],
  ['MeshExternalService', meshExternalServiceTranslation],
  ['ZoneIngress', zoneIngressTranslation],
]);

/** Kuma's language for a kind; of a kind that is not listed everything is the same in both. */
export function kumaTranslation(kind: string): KumaTranslation {
  return TRANSLATIONS.get(kind) ?? IDENTITY;
}

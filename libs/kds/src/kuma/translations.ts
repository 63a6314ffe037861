import type { KumaTranslation } from './translation';
import { hostnameGeneratorTranslation } from './hostname-generator';
import {
  configTranslation,
  dataplaneInsightTranslation,
  dataplaneTranslation,
  meshTranslation,
  secretTranslation,
} from './proto-kinds';
import { meshExternalServiceTranslation, meshMultiZoneServiceTranslation, meshServiceTranslation } from './services';
import { zoneIngressTranslation } from './zone-ingress';

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

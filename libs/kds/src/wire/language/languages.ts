import type { KumaLanguage } from './kuma-language';
import { hostnameGeneratorLanguage } from './hostname-generator';
import {
  configLanguage,
  dataplaneInsightLanguage,
  dataplaneLanguage,
  meshLanguage,
  secretLanguage,
} from './proto-kinds';
import { meshExternalServiceLanguage, meshMultiZoneServiceLanguage, meshServiceLanguage } from './services';
import { zoneIngressLanguage } from './zone-ingress';

const SAME: KumaLanguage = {};

const LANGUAGES: ReadonlyMap<string, KumaLanguage> = new Map([
  ['Mesh', meshLanguage],
  ['Dataplane', dataplaneLanguage],
  ['DataplaneInsight', dataplaneInsightLanguage],
  ['Config', configLanguage],
  ['Secret', secretLanguage],
  ['GlobalSecret', secretLanguage],
  ['HostnameGenerator', hostnameGeneratorLanguage],
  ['MeshService', meshServiceLanguage],
  ['MeshMultiZoneService', meshMultiZoneServiceLanguage],
  ['MeshExternalService', meshExternalServiceLanguage],
  ['ZoneIngress', zoneIngressLanguage],
]);

/** Kuma's language for a kind; of a kind that is not listed everything is the same in both. */
export function kumaLanguage(kind: string): KumaLanguage {
  return LANGUAGES.get(kind) ?? SAME;
}

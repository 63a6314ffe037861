import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { KumaLanguage } from './kuma-language';
import { sayServiceSelectors } from './selectors';
import { readServiceStatus, sayExternalStatus, sayMeshServiceStatus, sayMultiZoneStatus } from './service-status';

/** Kuma applies no defaults to what arrives: they are filled in before sending (kds.md §2.7). */
export const meshServiceLanguage: KumaLanguage = {
  saySpec: (spec) => {
    const { export: _, ...said } = withPorts(spec, (port) => ({
      ...port,
      targetPort: port['targetPort'] ?? port['port'],
      appProtocol: port['appProtocol'] ?? 'tcp',
    }));
    return said;
  },
  sayStatus: sayMeshServiceStatus,
  readStatus: readServiceStatus,
};

export const meshMultiZoneServiceLanguage: KumaLanguage = {
  saySpec: (spec) => withPorts(sayServiceSelectors(spec), (port) => ({ ...port, appProtocol: port['appProtocol'] ?? 'tcp' })),
  sayStatus: sayMultiZoneStatus,
  readStatus: readServiceStatus,
};

export const meshExternalServiceLanguage: KumaLanguage = {
  saySpec: (spec) => {
    const { match } = spec;
    return isJsonObject(match) ? { ...spec, match: { type: 'HostnameGenerator', protocol: 'tcp', ...match } } : spec;
  },
  sayStatus: sayExternalStatus,
  readStatus: readServiceStatus,
};

function withPorts(spec: JsonObject, map: (port: JsonObject) => JsonObject): JsonObject {
  const { ports } = spec;
  if (!isJsonArray(ports)) return spec;
  const said: JsonValue[] = ports.map((port) => (isJsonObject(port) ? map(port) : port));
  return { ...spec, ports: said };
}

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { KumaTranslation } from './translation';
import { toKumaSelectors } from './selectors';
import {
  fromKumaServiceStatus,
  toKumaExternalStatus,
  toKumaMeshServiceStatus,
  toKumaMultiZoneStatus,
} from './service-status';

/** Kuma applies no defaults to what arrives: they are filled in before sending (kds.md §2.7). */
export const meshServiceTranslation: KumaTranslation = {
  toKumaSpec: (spec) => withoutExport(withPorts(spec, (port) => withProtocol(withTarget(port)))),
  toKumaStatus: toKumaMeshServiceStatus,
  fromKumaStatus: fromKumaServiceStatus,
};

export const meshMultiZoneServiceTranslation: KumaTranslation = {
  toKumaSpec: (spec) => withPorts(toKumaSelectors(spec), withProtocol),
  toKumaStatus: toKumaMultiZoneStatus,
  fromKumaStatus: fromKumaServiceStatus,
};

export const meshExternalServiceTranslation: KumaTranslation = {
  toKumaSpec: (spec) => {
    const { match } = spec;
    return isJsonObject(match) ? { ...spec, match: { type: 'HostnameGenerator', protocol: 'tcp', ...match } } : spec;
  },
  toKumaStatus: toKumaExternalStatus,
  fromKumaStatus: fromKumaServiceStatus,
};

function withPorts(spec: JsonObject, map: (port: JsonObject) => JsonObject): JsonObject {
  const { ports } = spec;
  if (!isJsonArray(ports)) return spec;
  const said: JsonValue[] = ports.map((port) => (isJsonObject(port) ? map(port) : port));
  return said.every((port, i) => port === ports[i]) ? spec : { ...spec, ports: said };
}

function withTarget(port: JsonObject): JsonObject {
  return port['targetPort'] === undefined ? { ...port, targetPort: port['port'] } : port;
}

function withProtocol(port: JsonObject): JsonObject {
  return port['appProtocol'] === undefined ? { ...port, appProtocol: 'tcp' } : port;
}

/** The rule by which a service is exported is ours alone. */
function withoutExport(spec: JsonObject): JsonObject {
  if (spec['export'] === undefined) return spec;
  const { export: _, ...said } = spec;
  return said;
}

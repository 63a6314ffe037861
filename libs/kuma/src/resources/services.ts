import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import { instancesToReport } from '@causeway/sync';
import {
  fromKumaServiceStatus,
  toKumaExternalStatus,
  toKumaMeshServiceStatus,
  toKumaMultiZoneStatus,
} from './service-status';
import { mapValues, type KumaTranslation } from './translation';

const SEED_NAME = /\{\{\s*name\s*\}\}/g;

/** Translates a MeshService. Kuma applies no defaults to received resources, so they are filled in here (docs/reference/kds-wire.md §2.7). */
export const meshServiceTranslation: KumaTranslation = {
  toKumaSpec: (spec) => withoutOurs(withPorts(spec, (port) => withProtocol(withTarget(port)))),
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

/**
 * Translates a HostnameGenerator. Kuma has no `labels` selectors and no `{{ name }}` of seed 001; its own forms are valid here, so nothing is
 * translated back.
 */
export const hostnameGeneratorTranslation: KumaTranslation = {
  toKumaSpec: (spec) => toKumaTemplate(toKumaSelectors(spec)),
};

/** Returns `labels` selectors as `matchLabels` (docs/design.md §5). */
function toKumaSelectors(spec: JsonObject): JsonObject {
  const { selector } = spec;
  if (!isJsonObject(selector)) return spec;
  const translated = mapValues(selector, toKumaMatchLabels);
  return translated === selector ? spec : { ...spec, selector: translated };
}

function toKumaMatchLabels(selector: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(selector) || selector['labels'] === undefined) return selector;
  const { labels, ...rest } = selector;
  return { matchLabels: labels, ...rest };
}

function toKumaTemplate(spec: JsonObject): JsonObject {
  const { template } = spec;
  if (typeof template !== 'string') return spec;
  const translated = template.replace(SEED_NAME, '{{ .DisplayName }}');
  return translated === template ? spec : { ...spec, template: translated };
}

function withPorts(spec: JsonObject, map: (port: JsonObject) => JsonObject): JsonObject {
  const { ports } = spec;
  if (!isJsonArray(ports)) return spec;
  const translated: JsonValue[] = ports.map((port) => (isJsonObject(port) ? map(port) : port));
  return translated.every((port, i) => port === ports[i]) ? spec : { ...spec, ports: translated };
}

function withTarget(port: JsonObject): JsonObject {
  return port['targetPort'] === undefined ? { ...port, targetPort: port['port'] } : port;
}

function withProtocol(port: JsonObject): JsonObject {
  return port['appProtocol'] === undefined ? { ...port, appProtocol: 'tcp' } : port;
}

/** Removes our fields: Kuma has no export rules, and counts every zone as one instance. */
function withoutOurs(spec: JsonObject): JsonObject {
  if (spec['export'] === undefined && spec['instances'] === undefined) return spec;
  const { export: _, instances: __, ...translated } = spec;
  return translated;
}

/** Returns the spec of a service of a Kuma zone, with the instances of its status; `before`: the stored spec. */
export function withReportedInstances(
  spec: JsonObject,
  status: JsonObject,
  before: JsonObject | undefined,
): JsonObject {
  const { dataplaneProxies } = status;
  const healthy = isJsonObject(dataplaneProxies) ? dataplaneProxies['healthy'] : undefined;
  const instances = instancesToReport(before?.['instances'], typeof healthy === 'number' ? healthy : 0);
  return instances === undefined ? spec : { ...spec, instances };
}

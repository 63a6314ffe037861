import { isJsonArray, isJsonObject, Label, type JsonObject, type JsonValue, type Labels } from '@causeway/resources';

const GENERATOR = 'HostnameGenerator';

/** Returns the status of a MeshService in Kuma's form: zero counts are omitted, the objects around them are not (docs/reference/kuma-2.14.md). */
export function toKumaMeshServiceStatus(status: JsonObject): JsonObject {
  return {
    ...toKumaHostnames(status),
    ...toKumaVips(status),
    tls: isJsonObject(status['tls']) ? status['tls'] : {},
    dataplaneProxies: nonZero(status['dataplaneProxies']),
  };
}

/** Returns the status of a MeshMultiZoneService in Kuma's form. */
export function toKumaMultiZoneStatus(status: JsonObject): JsonObject {
  return { ...toKumaHostnames(status), ...toKumaVips(status) };
}

/** Returns the status of a MeshExternalService in Kuma's form, which has one `vip`. */
export function toKumaExternalStatus(status: JsonObject): JsonObject {
  return { vip: toKumaVip(status), ...toKumaHostnames(status) };
}

/**
 * Returns the status of a service in our form. The VIP of a service on Kubernetes is one of Kubernetes (docs/design.md §1). `tls`, which is not
 * computed here, is kept.
 */
export function fromKumaServiceStatus(status: JsonObject, labels: Labels): JsonObject {
  const ip = firstIp(status);
  const type = labels[Label.env] === 'kubernetes' ? 'Kubernetes' : 'Kuma';
  const failed = objects(status['hostnameGenerators']).flatMap(fromKumaFailure);
  const addresses = [...objects(status['addresses']).map(fromKumaAddress), ...failed];
  return {
    ...(ip === undefined ? {} : { vip: { ip, type } }),
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(isJsonObject(status['dataplaneProxies']) ? { dataplaneProxies: counts(status['dataplaneProxies']) } : {}),
    ...(isJsonObject(status['tls']) && Object.keys(status['tls']).length > 0 ? { tls: status['tls'] } : {}),
  };
}

/** Returns the Available hostnames as `addresses`, and a condition `Generated` for each claim. */
function toKumaHostnames(status: JsonObject): JsonObject {
  const claims = objects(status['addresses']);
  const addresses = claims.filter((claim) => claim['status'] === 'Available').map(toKumaAddress);
  return {
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(claims.length > 0 ? { hostnameGenerators: claims.map(toKumaCondition) } : {}),
  };
}

function toKumaVips(status: JsonObject): JsonObject {
  return isJsonObject(status['vip']) ? { vips: [toKumaVip(status)] } : {};
}

function toKumaVip(status: JsonObject): JsonObject {
  const vip = status['vip'];
  return isJsonObject(vip) && typeof vip['ip'] === 'string' ? { ip: vip['ip'] } : {};
}

function toKumaAddress(claim: JsonObject): JsonObject {
  return { hostname: claim['hostname'], origin: GENERATOR, hostnameGeneratorRef: { coreName: getGenerator(claim) } };
}

/** A claim that lost has a hostname; a claim whose template failed has none. */
function toKumaCondition(claim: JsonObject): JsonObject {
  const generated = claim['status'] === 'Available';
  const failure = claim['hostname'] === undefined ? 'TemplateError' : 'Collision';
  const condition: JsonObject = {
    type: 'Generated',
    status: generated ? 'True' : 'False',
    reason: generated ? 'Generated' : failure,
    message: generated ? '' : text(claim['reason']),
  };
  return { hostnameGeneratorRef: { coreName: getGenerator(claim) }, conditions: [condition] };
}

function fromKumaAddress(address: JsonObject): JsonObject {
  return { hostname: address['hostname'], status: 'Available', origin: toOrigin(address) };
}

function fromKumaFailure(entry: JsonObject): JsonObject[] {
  const failed = objects(entry['conditions']).filter((c) => c['type'] === 'Generated' && c['status'] === 'False');
  return failed.map((c) => ({
    status: 'NotAvailable',
    origin: toOrigin(entry),
    reason: text(c['message']) || text(c['reason']),
  }));
}

function toOrigin(entry: JsonObject): JsonObject {
  const ref = entry['hostnameGeneratorRef'];
  return { kind: GENERATOR, name: isJsonObject(ref) ? text(ref['coreName']) : '' };
}

function getGenerator(claim: JsonObject): string {
  return isJsonObject(claim['origin']) ? text(claim['origin']['name']) : '';
}

function firstIp(status: JsonObject): string | undefined {
  const [vip] = [...objects([status['vip'] ?? null]), ...objects(status['vips'])];
  return typeof vip?.['ip'] === 'string' && vip['ip'] !== '' ? vip['ip'] : undefined;
}

function counts(proxies: JsonObject): JsonObject {
  return { total: proxies['total'] ?? 0, connected: proxies['connected'] ?? 0, healthy: proxies['healthy'] ?? 0 };
}

function nonZero(proxies: JsonValue | undefined): JsonObject {
  if (!isJsonObject(proxies)) return {};
  return Object.fromEntries(Object.entries(proxies).filter(([, count]) => count !== 0));
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

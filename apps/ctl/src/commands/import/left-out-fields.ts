import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** A field that is not stored here, and its equivalent. */
export interface LeftOut {
  /** `spec.listeners[].tls`: `[]` stands for every item. */
  readonly path: string;
  /** `changed` if it has an equivalent here. */
  readonly outcome: 'changed' | 'left out';
  readonly reason: string;
}

export interface LeftOutReport {
  /** The path with the indexes of items. */
  readonly field: string;
  readonly outcome: LeftOut['outcome'];
  readonly reason: string;
}

const changed = (path: string, reason: string): LeftOut => ({ path, outcome: 'changed', reason });
const leftOut = (path: string, reason: string): LeftOut => ({ path, outcome: 'left out', reason });

const EVERYWHERE: readonly LeftOut[] = [
  changed('spec.meshRef', 'the Mesh that selects the namespace says which it is'),
  leftOut('metadata.annotations', 'annotations are not kept'),
];

const MUTUAL_TLS = 'certificates are those of the mesh: docs/guides/mtls.md';

const BY_KIND: Readonly<Record<string, readonly LeftOut[]>> = {
  Mesh: [
    leftOut('spec.egressFilter', 'what leaves the mesh is named by MeshExternalServices'),
    leftOut('spec.meshOwner', 'accounts of AWS are not known here'),
    leftOut('spec.meshServiceDiscovery', 'each service has one virtual IP of version 4'),
  ],
  Namespace: [leftOut('spec', 'a Namespace has labels only')],
  VirtualNode: [
    changed('spec.serviceDiscovery', 'instances are the Dataplanes that podSelector selects'),
    changed('spec.listeners[].healthCheck', 'the agent of each instance checks it: docs/reference/agent.md, health'),
    changed('spec.listeners[].tls', MUTUAL_TLS),
    changed('spec.backends[].virtualService.clientPolicy', MUTUAL_TLS),
    changed('spec.backendDefaults', MUTUAL_TLS),
    leftOut('spec.logging', 'proxies have no access log of a node'),
  ],
};

/** Returns the fields of a kind that an import leaves out. */
export function leftOutFields(kind: string): readonly LeftOut[] {
  return [...EVERYWHERE, ...(BY_KIND[kind] ?? [])];
}

/** Removes fields from a document, and returns those that it had. */
export function withoutFields(
  value: JsonObject,
  fields: readonly LeftOut[],
): { readonly value: JsonObject; readonly reports: readonly LeftOutReport[] } {
  const reports: LeftOutReport[] = [];
  let left: JsonValue = value;
  for (const { path, outcome, reason } of fields) {
    left = without(left, path.split('.'), '', (field) => reports.push({ field, outcome, reason }));
  }
  return { value: isJsonObject(left) ? left : {}, reports };
}

function without(
  value: JsonValue,
  [key = '', ...rest]: readonly string[],
  at: string,
  found: (field: string) => void,
): JsonValue {
  const name = key.replace('[]', '');
  if (!isJsonObject(value)) return value;
  const inside = value[name];
  if (inside === undefined) return value;
  const field = at === '' ? name : `${at}.${name}`;
  if (rest.length === 0) {
    found(field);
    return Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
  }
  if (!key.endsWith('[]')) return { ...value, [name]: without(inside, rest, field, found) };
  if (!isJsonArray(inside)) return value;
  return { ...value, [name]: inside.map((item, i) => without(item, rest, `${field}[${i}]`, found)) };
}

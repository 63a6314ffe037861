import { MeshMultiZoneService, MeshService } from '@causeway/kinds';
import {
  isJsonArray,
  isJsonObject,
  Label,
  labelsMatch,
  type Identity,
  type JsonObject,
  type Labels,
  type Resource,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { isSentDown, type MeshView } from '@causeway/sync';
import type { KumaService, KumaServices } from './mesh-http-route';

/** Protocols of ports whose requests Kuma parses; a port without a protocol is TCP in Kuma. */
const HTTP: readonly unknown[] = ['http', 'http2', 'grpc'];

/** Inputs of the look-up of services. */
export interface KumaServicesOptions {
  readonly index: Pick<IndexReader, 'get' | 'withLabel'>;
  readonly view: MeshView;
  /** The names of the zones of Kuma. */
  readonly zones: readonly string[];
}

/**
 * Returns the look-up of services for zones of Kuma. A route of the global has no zone and no namespace, so it selects services by labels, which must
 * match one service only: of several backends Kuma takes the oldest. Linear in zones and in the services of one name.
 */
export function kumaServices({ index, view, zones }: KumaServicesOptions): KumaServices {
  return (id, port, role) => {
    const known = kumaService(index, id, port);
    const found = index.get(id);
    if (!known.ok || role !== 'backend' || !found) return known;
    const kind = id.kind === MeshService.name ? MeshService : MeshMultiZoneService;
    const without = zones.find((zone) => zone !== id.zone && !isSentDown(kind, found, { zone, causeway: false }, view));
    return without === undefined ? known : { ok: false, reason: `zone ${without} does not get ${id.kind} ${id.name}` };
  };
}

/** Returns how zones of Kuma select an HTTP port of a service that they have. Linear in the services of its name. */
export function kumaService(index: KumaServicesOptions['index'], id: Identity, port: number): KumaService {
  const found = index.get(id);
  const what = `${id.kind} ${id.name}`;
  if (!found) return { ok: false, reason: `${what} is gone` };
  if (!HTTP.includes(findProtocol(found, port))) {
    return { ok: false, reason: `port ${port} of ${what} is not of http: appProtocol must be http, http2 or grpc` };
  }
  const labels = kumaLabels(found);
  const isAlone = listSameNamed(index, found).every((other) => !labelsMatch(labels, other.labels));
  return isAlone
    ? { ok: true, labels }
    : { ok: false, reason: `zones of Kuma cannot tell ${what} from those of other namespaces` };
}

/** Returns the other services of a kind and mesh that have the name. */
function listSameNamed(index: KumaServicesOptions['index'], service: Resource): readonly Resource[] {
  const { id, labels } = service;
  return [...index.withLabel(id.kind, Label.displayName, labels[Label.displayName] ?? '')].filter(
    (other) => other !== service && other.id.mesh === id.mesh,
  );
}

/** Returns the key of the services that one label can match: a change of one of them may change the look-up of all. */
export const nameKey = ({ id, labels }: Pick<Resource, 'id' | 'labels'>): string =>
  serviceKey(id, labels[Label.displayName] ?? id.name);

export const serviceKey = ({ kind, mesh }: Pick<Identity, 'kind' | 'mesh'>, name: string): string =>
  `${kind}/${mesh}/${name}`;

/** Returns the labels by which zones of Kuma select a service. */
export function kumaLabels({ id, labels }: Resource): Labels {
  const { [Label.zone]: zone, [Label.namespace]: namespace } = labels;
  return {
    [Label.displayName]: labels[Label.displayName] ?? id.name,
    ...(zone !== undefined && { [Label.zone]: zone }),
    ...(namespace !== undefined && { [Label.namespace]: namespace }),
  };
}

/** Returns the `appProtocol` of a port of a service. */
export function findProtocol({ spec }: Pick<Resource, 'spec'>, port: number): unknown {
  const { ports } = spec;
  const all: readonly JsonObject[] = isJsonArray(ports) ? ports.filter(isJsonObject) : [];
  return all.find((one) => one['port'] === port)?.['appProtocol'];
}

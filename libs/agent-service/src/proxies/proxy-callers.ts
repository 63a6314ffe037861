import type { DataplaneResource } from '@causeway/dataplanes';
import { Dataplane } from '@causeway/kinds';
import { shortened, type Identity } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { ProxyCaller } from '@causeway/xds-server';
import type { ProxyNode } from './proxy-node';
import { dataplaneProxyId, DEFAULT_NAMESPACE, zoneProxyId } from './proxy-views';

/** The proxy of a Dataplane, ZoneIngress or ZoneEgress; undefined of other kinds. */
export function findProxyId(id: Identity): string | undefined {
  if (id.kind === 'Dataplane') return dataplaneProxyId(id);
  if (id.kind === 'ZoneIngress') return zoneProxyId('ingress', id.name);
  return id.kind === 'ZoneEgress' ? zoneProxyId('egress', id.name) : undefined;
}

/** Returns the name of a proxy's token in messages. */
export function tokenName({ type }: ProxyNode): string {
  return type === 'dataplane' ? 'dataplane token' : `zone token of the scope "${type}"`;
}

/** A text of a caller in quotes, bounded. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text, 200));
}

/** grpc-js sends no credentials to a control plane, so a gRPC client may show its token in the metadata of its node. */
export function getToken({ authorization, metadata }: ProxyCaller, node: ProxyNode): string {
  const { 'causeway.io/token': shown } = metadata;
  const isInNode = authorization === '' && node.type === 'dataplane' && node.wire === 'grpc';
  return (isInNode && typeof shown === 'string' ? shown : authorization).replace(/^bearer +/i, '').trim();
}

/** The stored Dataplane of a zone that a proxy calls by its name, or its `name.namespace`; with `namespace` only that one. */
export function dataplaneNamed(
  { index, zone }: { readonly index: Pick<IndexReader, 'get'>; readonly zone: string },
  { mesh, name, namespace }: { readonly mesh: string; readonly name: string; readonly namespace?: string },
): DataplaneResource | undefined {
  const dot = name.lastIndexOf('.');
  const places = [
    ...(namespace === undefined ? [{ name, namespace: DEFAULT_NAMESPACE }] : []),
    ...(dot > 0 ? [{ name: name.slice(0, dot), namespace: name.slice(dot + 1) }] : []),
  ];
  for (const place of places) {
    const found = index.get({ kind: Dataplane.name, mesh, zone, ...place });
    if (found && Dataplane.is(found)) return found;
  }
  return undefined;
}

import type { DataplaneResource } from '@causeway/dataplanes';
import { Dataplane } from '@causeway/kinds';
import { shortened, type Identity } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { ProxyCaller } from '@causeway/xds-server';
import type { ProxyNode } from './proxy-node';
import { dataplaneProxyId, DEFAULT_NAMESPACE, zoneProxyId } from './proxy-views';

/** Returns the proxy id of a Dataplane, ZoneIngress or ZoneEgress; undefined for other kinds. */
export function findProxyId(id: Identity): string | undefined {
  if (id.kind === 'Dataplane') return dataplaneProxyId(id);
  if (id.kind === 'ZoneIngress') return zoneProxyId('ingress', id.name);
  return id.kind === 'ZoneEgress' ? zoneProxyId('egress', id.name) : undefined;
}

/** Returns the name of a proxy's token in messages. */
export function formatTokenName({ type }: ProxyNode): string {
  return type === 'dataplane' ? 'dataplane token' : `zone token of the scope "${type}"`;
}

/** Quotes and truncates text of a caller. */
export function quoteText(text: string): string {
  return JSON.stringify(shortened(text, 200));
}

/** Returns the token of a caller; gRPC clients send it in the node metadata, since grpc-js sends no header. */
export function getToken({ authorization, metadata }: ProxyCaller, node: ProxyNode): string {
  const { 'causeway.io/token': shown } = metadata;
  const isInNode = authorization === '' && node.type === 'dataplane' && node.wire === 'grpc';
  return (isInNode && typeof shown === 'string' ? shown : authorization).replace(/^bearer +/i, '').trim();
}

/** Finds the stored Dataplane that a proxy calls by name, or by `name.namespace`; with `namespace` only in that one. */
export function findDataplane(
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

import { identityKey, MultiMap, type ResourceKey } from '@causeway/resources';
import type { VirtualRef, RouterRoute, VirtualSource, SourceKind, VirtualRouterSpec } from '../model';
import { deriveAwsName, resolveRef } from '../names';
import { compareRanks, areVisibleTogether } from './rank';

/** Target of a reference: a kind, a namespace and a name. */
export interface SourceRef {
  readonly kind: SourceKind;
  readonly namespace: string;
  readonly name: string;
}

/** Entry of a source in the index. */
export interface Row {
  readonly key: ResourceKey;
  readonly source: VirtualSource;
  readonly awsName: string;
  readonly refs: readonly SourceRef[];
}

const nameKey = ({ kind, namespace, name }: SourceRef): string => `${kind}/${namespace}/${name}`;
const awsKey = ({ source: { kind, id }, awsName }: Row): string => `${kind}/${id.mesh}/${awsName}`;

/** Nodes, routers and services by name, by their references, and by their names at App Mesh. */
export class SourceIndex {
  private readonly rows = new Map<string, Row>();
  private readonly named = new MultiMap<Row>();
  private readonly referring = new MultiMap<Row>();
  private readonly wanting = new MultiMap<Row>();

  get(key: string): Row | undefined {
    return this.rows.get(key);
  }

  all(): Iterable<Row> {
    return this.rows.values();
  }

  put(source: VirtualSource): Row {
    const key = identityKey(source.id);
    this.remove(key);
    const awsName = source.spec.awsName || deriveAwsName(source.kind, source.id);
    const row: Row = { key, source, awsName, refs: listRefs(source) };
    this.rows.set(key, row);
    this.named.add(nameKey(toSourceRef(row)), row);
    this.wanting.add(awsKey(row), row);
    for (const ref of row.refs) this.referring.add(nameKey(ref), row);
    return row;
  }

  remove(key: ResourceKey): Row | undefined {
    const row = this.rows.get(key);
    if (!row) return undefined;
    this.rows.delete(key);
    this.named.delete(nameKey(toSourceRef(row)), row);
    this.wanting.delete(awsKey(row), row);
    for (const ref of row.refs) this.referring.delete(nameKey(ref), row);
    return row;
  }

  /** Returns the sources that refer to this name. */
  referringTo(named: SourceRef): Iterable<Row> {
    return this.referring.get(nameKey(named));
  }

  /** Returns all sources that claim the same name at App Mesh, including this one. */
  rivals(row: Row): Iterable<Row> {
    return this.wanting.get(awsKey(row));
  }

  /**
   * Returns the source that gets the name at App Mesh that `row` claims, as its own zone sees it: `row` itself, or one that ranks before it (T003-08).
   */
  holder(row: Row): Row {
    let best = row;
    for (const rival of this.rivals(row)) {
      const isSeen = areVisibleTogether(rival.source.id.zone, row.source.id.zone);
      if (isSeen && compareRanks(rival.source, best.source) < 0) best = rival;
    }
    return best;
  }

  /**
   * Resolves a reference of `from` to a source created where `from` was, else on the global, in its own mesh. If there
   * is none, returns the mesh that has such a name, if any (T003-12).
   */
  find(from: VirtualSource, named: SourceRef): Row | { readonly elsewhere: string } | undefined {
    let found: Row | undefined;
    let elsewhere: string | undefined;
    for (const row of this.named.get(nameKey(named))) {
      const { mesh, zone } = row.source.id;
      if (zone !== '' && zone !== from.id.zone) continue;
      if (mesh !== from.id.mesh) elsewhere = elsewhere === undefined || mesh < elsewhere ? mesh : elsewhere;
      else if (!found || zone !== '') found = row;
    }
    return found ?? (elsewhere === undefined ? undefined : { elsewhere });
  }
}

export const toSourceRef = ({ source: { kind, id } }: Row): SourceRef => ({
  kind,
  namespace: id.namespace,
  name: id.name,
});

function listRefs(source: VirtualSource): readonly SourceRef[] {
  const to = (kind: SourceKind, ref: VirtualRef): SourceRef => ({ kind, ...resolveRef(source.id, ref) });
  if (source.kind === 'VirtualNode')
    return (source.spec.backends ?? []).map(({ virtualService }) =>
      to('VirtualService', virtualService.virtualServiceRef),
    );
  if (source.kind === 'VirtualRouter') return listTargets(source.spec).map((ref) => to('VirtualNode', ref));
  const { virtualNode, virtualRouter } = source.spec.provider ?? {};
  if (virtualNode) return [to('VirtualNode', virtualNode.virtualNodeRef)];
  return virtualRouter ? [to('VirtualRouter', virtualRouter.virtualRouterRef)] : [];
}

function listTargets({ routes = [] }: VirtualRouterSpec): readonly VirtualRef[] {
  const bodies = ({ http, httpRoute, http2, http2Route, grpc, grpcRoute, tcp, tcpRoute }: RouterRoute) =>
    [http, httpRoute, http2, http2Route, grpc, grpcRoute, tcp, tcpRoute].flatMap((body) => (body ? [body] : []));
  const refs = routes.flatMap(bodies).flatMap(({ action }) => action?.weightedTargets ?? []);
  return refs.map(({ virtualNodeRef }) => virtualNodeRef);
}

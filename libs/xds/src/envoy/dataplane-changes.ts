import { isDeepStrictEqual } from 'node:util';
import { asDataplane } from '@causeway/controllers';
import { identityKey, type Identity } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { serverListeners } from '../grpc/grpc-translation';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import { ChangedNames } from './changed-names';
import { servedInbounds } from './dataplane/inbound';
import { declaredBackends, type DeclaredBackends } from './dataplane/reachable-backends';
import type { ListedNames } from './listed-names';
import * as names from './names';
import type { TrafficChange, TrafficTables } from './traffic-tables';
import type { Translation } from './translation';

const { listener } = RESOURCE_TYPES;

interface DataplaneChangesParts {
  readonly index: Pick<IndexReader, 'ofKind'>;
  readonly tables: () => TrafficTables;
  readonly translation: Translation;
  readonly lists: Pick<ListedNames, 'destinationsIn'>;
}

/** What of a change concerns the proxies of one Dataplane alone. */
export class DataplaneChanges {
  constructor(private readonly parts: DataplaneChangesParts) {}

  /** The changed names by the key of their Dataplane. */
  of(change: TrafficChange): ReadonlyMap<string, ChangedNames> {
    const own = new Map<string, ChangedNames>();
    const { translation } = this.parts;
    const tables = this.parts.tables();
    const of = (id: Identity): ChangedNames => {
      const changed = own.get(identityKey(id)) ?? new ChangedNames();
      own.set(identityKey(id), changed);
      return changed;
    };
    for (const { id, before, after } of change.dataplanes)
      of(id).addIngresses(translation.ingressesOf(before), translation.ingressesOf(after), tables.table);
    for (const { id, before, after } of this.withInbounds(change))
      of(id).addInbounds(
        translation.changedInbounds(before, after),
        [before, after].flatMap((each) => serverListeners(asDataplane(each))),
      );
    for (const dataplane of change.reselected)
      of(dataplane.id).addInboundPolicies(servedInbounds(dataplane).all, serverListeners(dataplane));
    for (const each of change.dataplanes) {
      of(each.id).addOutbounds(tables.explicit.replace(each));
      this.addDeclared(each, of(each.id));
    }
    return own;
  }

  /** A Dataplane that declares other services than before: what joins and what leaves the list of its proxies. */
  private addDeclared({ id: { mesh }, before, after }: IndexChange, changed: ChangedNames): void {
    const tables = this.parts.tables();
    // Without a Dataplane its proxies are not served, so one that comes or goes changes what it declares, and no more.
    const comesOrGoes = !before || !after;
    const none = comesOrGoes ? { refs: [], others: false } : undefined;
    const [old, now] = [before, after].map((each) => declaredBackends(each) ?? none);
    if (isDeepStrictEqual(old, now)) return;
    changed.isRelisting = true;
    // Where both have what does not come from App Mesh, only the rest can differ; one that comes or goes is not listed for.
    const [hadOthers, hasOthers] = [old, now].map((each) => each?.others ?? true);
    const areOthersSame = comesOrGoes || (hadOthers === true && hasOthers === true);
    const namesOf = (declared: DeclaredBackends | undefined): ReadonlySet<string> => {
      const generated = tables.backends.fromAppMesh(mesh);
      const named = declared ? tables.backends.names(mesh, declared.refs) : generated;
      if (areOthersSame || declared?.others === false) return named;
      const all = [...this.parts.lists.destinationsIn(mesh)];
      return new Set(all.filter((name) => named.has(name) || !generated.has(name)));
    };
    const [left, joined] = [namesOf(old), namesOf(now)];
    for (const name of new Set([...left, ...joined]))
      if (left.has(name) !== joined.has(name))
        changed.addDestination({ name, before: undefined, after: tables.model.destination(name) });
    changed.add(listener, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER);
  }

  /** Dataplanes whose inbounds may differ: those that changed, and all of the meshes to which access did. */
  private *withInbounds({ dataplanes, access }: TrafficChange): Iterable<Pick<IndexChange, 'id' | 'before' | 'after'>> {
    yield* dataplanes;
    if (access.length === 0) return;
    const { zone } = this.parts.tables().model;
    for (const after of this.parts.index.ofKind('Dataplane'))
      if (after.id.zone === zone && access.includes(after.id.mesh)) yield { id: after.id, before: undefined, after };
  }
}

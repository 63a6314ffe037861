import { isDeepStrictEqual } from 'node:util';
import { asDataplane } from '@causeway/controllers';
import { identityKey, type Identity } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { serverListeners } from '../grpc/grpc-translation';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import { ChangedNames } from './changed-names';
import { servedInbounds } from './dataplane/inbound';
import { declaredBackends } from './dataplane/reachable-backends';
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

  /** A Dataplane that uses other services than before: what joins and what leaves those that its proxies are told. */
  private addDeclared({ id: { mesh }, before, after }: IndexChange, changed: ChangedNames): void {
    const { backends, model } = this.parts.tables();
    const [old, now] = [before, after].map((each) => declaredBackends(each));
    if (isDeepStrictEqual(old, now)) return;
    const [hadListed, hasListed] = [old, now].map((each) => backends.names(mesh, each?.refs ?? []));
    const touched = differing(hadListed, hasListed);
    // Without a Dataplane its proxies are not served, so one that comes or goes changes what it declares, and no more.
    if (before && after) {
      const [hadWithheld, hasWithheld] = [backends.withheldFrom(before), backends.withheldFrom(after)];
      for (const name of differing(hadWithheld, hasWithheld)) touched.add(name);
      const own = now?.isOwn === true ? hasListed : hadListed;
      // With some captures one that lists nothing is told of all that is not withheld.
      const isAlike = (name: string): boolean =>
        own?.has(name) === true || (hadWithheld.has(name) && hasWithheld.has(name));
      if ((old?.isOwn === true) !== (now?.isOwn === true))
        for (const name of this.parts.lists.destinationsIn(mesh)) if (!isAlike(name)) touched.add(name);
    } else if (touched.size === 0) return;
    changed.isRelisting = true;
    for (const name of touched) changed.addDestination({ name, before: undefined, after: model.destination(name) });
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

/** What one of two sets has and the other has not. */
function differing(a: ReadonlySet<string> = new Set(), b: ReadonlySet<string> = new Set()): Set<string> {
  return new Set([...[...a].filter((each) => !b.has(each)), ...[...b].filter((each) => !a.has(each))]);
}

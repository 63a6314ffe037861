import { Type, type Static } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { Optionals, strict } from './schema/schema-parts';

/** Most routes of which one insight gives counts. */
export const MOST_COUNTED_ROUTES = 100;

const Text = Type.String({ maxLength: 1_024 });
const Count = Type.Integer({ minimum: 0 });
const Names = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 3 });
const Progress = Optionals({ acked: Count, total: Count, waitingFor: Names });

/** Up to which revision of the log of the global all proxies have applied its routes of one kind. */
const Applied = Type.Object({ kind: Text, incarnation: Text, revision: Count }, strict);

/** How many have applied one route. */
const Counted = Type.Object({ route: Text, generation: Count, proxies: Progress, unable: Progress }, strict);

const Spec = Type.Partial(
  Type.Object({
    applied: Type.Array(Applied, { maxItems: 64 }),
    routes: Type.Array(Counted, { maxItems: MOST_COUNTED_ROUTES }),
  }),
  strict,
);

export type RouteInsightSpec = Static<typeof Spec>;

/** What the proxies of a zone have applied of the global's routes: written by the leader of the zone, read by that of the global. */
export const RouteInsight = defineKind({
  name: 'RouteInsight',
  plural: 'routeinsights',
  shortName: 'rinsight',
  scope: 'global',
  sync: Sync.reports,
  bounds: { bytes: 256 * 1024 },
  spec: Spec,
});

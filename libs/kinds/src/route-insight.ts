import { Type, type Static } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { Optionals, strict } from './schema/schema-parts';

/** Maximum number of routes and policies with counts in one insight. */
export const MAX_COUNTED_ROUTES = 100;

const Text = Type.String({ maxLength: 1_024 });
const Count = Type.Integer({ minimum: 0 });
const Names = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 3 });
const Progress = Optionals({ acked: Count, total: Count, waitingFor: Names });

/** Revision of the global's log up to which all proxies have applied its routes of one kind. */
const Applied = Type.Object({ kind: Text, incarnation: Text, revision: Count }, strict);

/**
 * Number of proxies of one dataplane mode that do not support a route. `mode` may also be `noEgress`: zones without an
 * egress, if the route needs one.
 */
const Unsupported = Type.Object(
  { mode: Type.String({ maxLength: 64 }), count: Count, tcpPassthrough: Type.Optional(Type.Boolean()) },
  strict,
);

/**
 * Number of proxies that applied one route. `unable` names some proxies that do not support it. `unsupported` counts
 * them all; absent if there are none or the zone is older.
 */
const Counted = Type.Object(
  {
    route: Text,
    generation: Count,
    proxies: Progress,
    unable: Progress,
    unsupported: Type.Optional(Type.Array(Unsupported, { maxItems: 16 })),
  },
  strict,
);

const Spec = Type.Partial(
  Type.Object({
    applied: Type.Array(Applied, { maxItems: 64 }),
    routes: Type.Array(Counted, { maxItems: MAX_COUNTED_ROUTES }),
  }),
  strict,
);

export type RouteInsightSpec = Static<typeof Spec>;

/** Reports which of the global's routes the proxies of a zone have applied: written by the zone's leader, read by the global's. */
export const RouteInsight = defineKind({
  name: 'RouteInsight',
  plural: 'routeinsights',
  shortName: 'rinsight',
  scope: 'global',
  sync: Sync.reports,
  bounds: { bytes: 256 * 1024 },
  spec: Spec,
});

import { Type, type Static } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { Optionals, strict } from './schema/schema-parts';

/** Routes and policies of which one insight gives counts. */
export const MAX_COUNTED_ROUTES = 100;

const Text = Type.String({ maxLength: 1_024 });
const Count = Type.Integer({ minimum: 0 });
const Names = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 3 });
const Progress = Optionals({ acked: Count, total: Count, waitingFor: Names });

/** The revision of the log of the global up to which all proxies have applied its routes of one kind. */
const Applied = Type.Object({ kind: Text, incarnation: Text, revision: Count }, strict);

/**
 * The number of proxies of one dataplane mode that do not support a route. `mode` is also `noEgress`: zones without an egress for what is
 * outside the mesh.
 */
const Unsupported = Type.Object(
  { mode: Type.String({ maxLength: 64 }), count: Count, tcpPassthrough: Type.Optional(Type.Boolean()) },
  strict,
);

/**
 * How many have applied one route. `unable` names some of the proxies that do not support it; `unsupported` counts all of them, and is
 * absent where there are none or the zone is of an older version.
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

/** Reports what the proxies of a zone have applied of the global's routes: written by the leader of the zone, read by that of the global. */
export const RouteInsight = defineKind({
  name: 'RouteInsight',
  plural: 'routeinsights',
  shortName: 'rinsight',
  scope: 'global',
  sync: Sync.reports,
  bounds: { bytes: 256 * 1024 },
  spec: Spec,
});

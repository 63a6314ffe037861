import { Type } from 'typebox';
import { AnyObject, component, Flag, Integer, Text, type Value } from '../schema';

const Epoch = Type.Integer({ description: 'Milliseconds since 1970.' });

const KindReport = Type.Object(
  {
    kind: Text,
    direction: Type.Enum(['down', 'up'], { description: '`down`: from the global to the zone.' }),
    offered: Type.Optional(
      Type.Integer({ description: 'Newest revision of the sender that was offered, where this side sends.' }),
    ),
    acked: Type.Optional(Type.Integer({ description: 'Newest revision that was answered, where this side sends.' })),
    applied: Type.Optional(
      Type.Integer({ description: 'Newest revision of the sender applied here, where this side receives.' }),
    ),
    appliedAt: Type.Optional(Epoch),
    sent: Type.Optional(Type.Integer({ description: 'Resources sent since the stream began.' })),
    waiting: Type.Integer({ description: 'Resources that wait to be sent or acknowledged.' }),
    lagSeconds: Type.Number({ description: 'Since when something waits; 0 when nothing does. As of `renewedAt`.' }),
    behindSince: Type.Optional(Epoch),
    movedAt: Type.Optional(Epoch),
    held: Type.Integer({ description: 'Resources kept though a new incarnation of the sender does not name them.' }),
    rejected: Type.Integer({ description: 'Rejected since the stream began.' }),
    rejections: Type.Array(Type.Object({ wireKey: Text, reason: Text }), {
      description: 'What stands rejected now, the first 20.',
    }),
  },
  component('KindReport'),
);

const Session = Type.Object({
  session: Integer,
  direction: Type.Enum(['down', 'up']),
  openedAt: Epoch,
  zoneInstanceId: Type.Optional(Text),
});

/** State of a zone's sync. */
const ZoneInsight = Type.Object(
  {
    health: Type.Optional(Type.Enum(['Online', 'Lagging', 'Rejecting', 'Offline'])),
    offline: Type.Optional(
      Type.Object(
        { since: Epoch, reason: Text },
        { description: 'While it is away: since when, and how its session ended.' },
      ),
    ),
    peer: Type.Optional(Type.Enum(['causeway', 'kuma'])),
    version: Type.Optional(Type.String({ description: "Of the zone's control plane." })),
    globalInstanceId: Type.Optional(
      Type.String({ description: 'The replica of the global that has or had the session.' }),
    ),
    globalVersion: Type.Optional(Type.String({ description: 'On a zone.' })),
    renewedAt: Type.Optional(Epoch),
    lastError: Type.Optional(Type.String({ description: 'On a zone without a session: why.' })),
    sessions: Type.Optional(Type.Array(Session)),
    newIncarnation: Type.Optional(
      Type.Object(
        { incarnation: Text, since: Epoch, until: Epoch },
        {
          description:
            'An incarnation of the peer that is not accepted: what it lacks is kept until then, or until confirmed.',
        },
      ),
    ),
    refused: Type.Optional(
      Type.Object(
        { storeId: Text, instance: Text, refusedAt: Epoch },
        { description: 'Another store that comes under the name of this zone and is refused until adopted.' },
      ),
    ),
    doubtful: Type.Optional(
      Type.Object(
        { claim: Type.Enum(['revision', 'epoch']), detail: Text, instance: Text, seenAt: Epoch },
        {
          description: 'The last thing that the zone said of itself and that cannot be so; nothing followed from it.',
        },
      ),
    ),
    token: Type.Optional(
      Type.Object(
        {
          id: Text,
          expiresAt: Epoch,
          renewable: Flag,
          notRenewed: Type.Optional(Type.String({ description: 'On a zone: why its token is not renewed.' })),
        },
        { description: 'The zone token that it shows or showed last.' },
      ),
    ),
    kinds: Type.Optional(Type.Array(KindReport)),
    subscriptions: Type.Optional(Type.Array(AnyObject, { description: "As Kuma says it, for Kuma's tools." })),
  },
  component('ZoneInsight', { description: "What is known of a zone's sync; empty for a zone that never joined." }),
);

/** A zone with the state of its sync. */
export const ZoneOverview = Type.Object(
  {
    type: Text,
    name: Text,
    labels: Type.Optional(AnyObject),
    kri: Type.Optional(Text),
    zone: Type.Unsafe<object>({ type: 'object', description: 'The spec of the Zone.' }),
    zoneInsight: Type.Optional(ZoneInsight),
  },
  component('ZoneOverview'),
);
export type ZoneOverview = Value<typeof ZoneOverview>;

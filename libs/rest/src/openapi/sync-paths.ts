import { BODY_TYPES } from '../http/body-decode';
import { NAME } from './parameters';
import {
  problemResponses,
  jsonContent,
  flag,
  integer,
  list,
  object,
  schema,
  text,
  time,
  type OpenApiObject,
} from './schema-parts';

const epoch: OpenApiObject = { ...integer, description: 'Milliseconds since 1970.' };

const KIND_REPORT = object(
  {
    kind: text,
    direction: { enum: ['down', 'up'], description: '`down`: from the global to the zone.' },
    offered: { ...integer, description: 'Newest revision of the sender that was offered, where this side sends.' },
    acked: { ...integer, description: 'Newest revision that was answered, where this side sends.' },
    applied: { ...integer, description: 'Newest revision of the sender applied here, where this side receives.' },
    appliedAt: epoch,
    sent: { ...integer, description: 'Resources sent since the stream began.' },
    waiting: { ...integer, description: 'Resources that wait to be sent or acknowledged.' },
    lagSeconds: { type: 'number', description: 'Since when something waits; 0 when nothing does. As of `renewedAt`.' },
    behindSince: epoch,
    movedAt: epoch,
    held: { ...integer, description: 'Resources kept though a new incarnation of the sender does not name them.' },
    rejected: { ...integer, description: 'Rejected since the stream began.' },
    rejections: {
      ...list(object({ wireKey: text, reason: text }, ['wireKey', 'reason'])),
      description: 'What stands rejected now, the first 20.',
    },
  },
  ['kind', 'direction', 'waiting', 'lagSeconds', 'held', 'rejected', 'rejections'],
);

/** Schemas of sync as operators see and steer it. */
export const SYNC_SCHEMAS: OpenApiObject = {
  KindReport: KIND_REPORT,
  ZoneInsight: object(
    {
      health: { enum: ['Online', 'Lagging', 'Rejecting', 'Offline'] },
      offline: object({ since: epoch, reason: text }, ['since', 'reason'], {
        description: 'While it is away: since when, and how its session ended.',
      }),
      peer: { enum: ['causeway', 'kuma'] },
      version: { ...text, description: "Of the zone's control plane." },
      globalInstanceId: { ...text, description: 'The replica of the global that has or had the session.' },
      globalVersion: { ...text, description: 'On a zone.' },
      renewedAt: epoch,
      lastError: { ...text, description: 'On a zone without a session: why.' },
      sessions: list(
        object({ session: integer, direction: { enum: ['down', 'up'] }, openedAt: epoch, zoneInstanceId: text }, [
          'session',
          'direction',
          'openedAt',
        ]),
      ),
      newIncarnation: object({ incarnation: text, since: epoch, until: epoch }, ['incarnation', 'since', 'until'], {
        description:
          'An incarnation of the peer that is not accepted: what it lacks is kept until then, or until confirmed.',
      }),
      refused: object({ storeId: text, instance: text, refusedAt: epoch }, ['storeId', 'instance', 'refusedAt'], {
        description: 'Another store that comes under the name of this zone and is refused until adopted.',
      }),
      doubtful: object(
        { claim: { enum: ['revision', 'epoch'] }, detail: text, instance: text, seenAt: epoch },
        ['claim', 'detail', 'instance', 'seenAt'],
        { description: 'The last thing that the zone said of itself and that cannot be so; nothing followed from it.' },
      ),
      kinds: list(schema('KindReport')),
      subscriptions: { ...list({ type: 'object' }), description: "As Kuma says it, for Kuma's tools." },
    },
    [],
    { description: "What is known of a zone's sync; empty for a zone that never joined." },
  ),
  ZoneOverview: object(
    {
      type: text,
      name: text,
      labels: { type: 'object' },
      kri: text,
      zone: { type: 'object', description: 'The spec of the Zone.' },
      zoneInsight: schema('ZoneInsight'),
    },
    ['type', 'name', 'zone'],
  ),
  LifeConfirmation: object(
    {
      confirmed: { ...flag, description: 'False when no new incarnation is pending.' },
      incarnation: text,
      since: time,
    },
    ['confirmed'],
    { additionalProperties: false },
  ),
  ZoneAdoptionOrder: object({ storeId: { type: 'string', pattern: '^[!-~]{1,200}$' } }, [], {
    description: 'Without an id the store that was refused last, else the next one that comes.',
    additionalProperties: false,
  }),
  ZoneAdoption: object(
    {
      zone: text,
      storeId: { ...text, description: 'Empty: the next store that comes.' },
      formerly: { ...text, description: 'Empty where it was bound to none.' },
    },
    ['zone', 'storeId', 'formerly'],
  ),
  EpochReset: object({ zone: text, formerly: { ...integer, description: 'Absent where no epoch stood.' } }, ['zone'], {
    additionalProperties: false,
  }),
  Diagnosis: object(
    {
      total: { ...integer, description: 'Of all checks.' },
      checks: list(
        object(
          {
            check: {
              enum: [
                'rules',
                'references',
                'conditions',
                'claims',
                'stores',
                'incarnations',
                'rejections',
                'lost',
                'quarantine',
                'mesh',
                'leases',
                'names',
                'enrolments',
                'identities',
                'leader',
                'tokens',
                'keys',
              ],
            },
            total: integer,
            findings: {
              ...list(
                object(
                  {
                    resource: object({ type: text, mesh: text, zone: text, namespace: text, name: text }, [
                      'type',
                      'mesh',
                      'zone',
                      'namespace',
                      'name',
                    ]),
                    what: text,
                    advice: text,
                  },
                  ['what', 'advice'],
                ),
              ),
              description: 'The first 100.',
            },
          },
          ['check', 'total', 'findings'],
        ),
      ),
    },
    ['total', 'checks'],
  ),
};

/** Returns the paths of operators' decisions about sync. Those of the other role are 404. */
export function syncPaths(): OpenApiObject {
  const confirmed = jsonContent('What the new incarnation lacks is deleted.', schema('LifeConfirmation'));
  return {
    ...zoneDecisionPaths(confirmed),
    '/_doctor': {
      get: {
        operationId: 'diagnose',
        tags: ['Server'],
        summary: 'What is not as it should be, and what to do',
        responses: { 200: jsonContent('What each check found.', schema('Diagnosis')), ...problemResponses(400, 403) },
      },
    },
    '/global/_confirm': {
      post: {
        operationId: 'confirmGlobal',
        tags: ['Server'],
        summary: "Accept the global's new incarnation (on a zone)",
        responses: { 200: confirmed, ...problemResponses(400, 403, 404) },
      },
    },
  };
}

/** Returns the paths of decisions of the global's operators about one zone. */
function zoneDecisionPaths(confirmed: OpenApiObject): OpenApiObject {
  const order = { schema: schema('ZoneAdoptionOrder'), example: { storeId: '6f1b2c0e-0000-4000-8000-000000000000' } };
  return {
    '/zones/{name}/_confirm': {
      post: {
        operationId: 'confirmZone',
        tags: ['Server'],
        summary: "Accept a zone's new incarnation (on the global)",
        parameters: [NAME],
        responses: { 200: confirmed, ...problemResponses(400, 403, 404) },
      },
    },
    '/zones/{name}/_adopt': {
      post: {
        operationId: 'adoptZone',
        tags: ['Server'],
        summary: 'Bind the name of a zone to another store',
        parameters: [NAME],
        requestBody: { content: { [BODY_TYPES.json[0]]: order, [BODY_TYPES.yaml[0]]: order } },
        responses: {
          200: jsonContent('To which store the name is bound.', schema('ZoneAdoption')),
          ...problemResponses(400, 403, 404, 413, 415, 422),
        },
      },
    },
    '/zones/{name}/_reset-epoch': {
      post: {
        operationId: 'resetZoneEpoch',
        tags: ['Server'],
        summary: "Forget the epoch of a zone's leaders",
        parameters: [NAME],
        responses: {
          200: jsonContent('The next leader that asks is taken.', schema('EpochReset')),
          ...problemResponses(400, 403, 404),
        },
      },
    },
  };
}

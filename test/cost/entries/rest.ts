import { parse as parseQuery } from 'node:querystring';
import type { TProperties } from 'typebox';
import { identityNamed, checkPrecondition } from '@causeway/admission/testing';
import { coreKinds } from '@causeway/kinds';
import { decodeCursor, decodeResumePoint, parseLabelSelector } from '@causeway/queries';
import { AccessPolicy } from '@causeway/access';
import { Invalid, type Kind } from '@causeway/resources';
import { systemClock } from '@causeway/runtime';
import { ResourceIndex } from '@causeway/store';
import { matchesLabels } from '../../../libs/queries/src/list/label-selector';
import { RequestCallers } from '../../../libs/rest/src/http/request-callers';
import { LocalSocket } from '@causeway/rest';
import { readQuery } from '../../../libs/rest/src/http/query-reader';
import { decodeBody } from '../../../libs/rest/src/http/body-decode';
import { DEFAULT_LIMITS } from '../../../libs/rest/src/rest-dependencies';
import { requestLineError } from '../../../libs/rest/src/http/request-hooks';
import { stripQuery, unknownPath } from '../../../libs/rest/src/http/route-table';
import { problemJson, toProblem } from '../../../libs/rest/src/http/problem.filter';
import { readPage, readSelection } from '../../../libs/rest/src/http/request-decoding';
import { listParameters } from '../../../libs/api/src/parameters';
import { restAccess } from '../../support/rest-access';
import type { Prng } from '../../simulation/engine/prng';
import { takesInput, takesText, type EntryPoint } from '../entry-point';
import { numbered, textShapes } from '../shapes/texts';

/** Path, query and headers of a request together (libs/rest/src/http/rest-adapter.ts). */
const HEAD = 16 * 1024;

const RESOURCE = {
  id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' },
  labels: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`k${i}`, 'v'])),
  spec: {},
  uid: 'u',
  generation: 1,
  revision: 1,
  createdAt: 0,
  modifiedAt: 0,
  creationOrder: 1,
  origin: { incarnation: 'i', revision: 1, committedAt: 0 },
  freed: [],
};

/** Entry points of REST: the heads of requests, and refusals. */
export function restEntries(draw: Prng): EntryPoint[] {
  const plain = textShapes(draw);
  const service = kindNamed('MeshService');
  return [
    takesText(
      'label selector of a list',
      HEAD,
      textShapes(draw, [
        ['a in (', ')'],
        ['a=', ''],
      ]),
      (text) => {
        const reading = parseLabelSelector(text);
        return reading.ok && matchesLabels(RESOURCE, reading.requirements);
      },
    ),
    takesText(
      'query of a list',
      HEAD,
      [
        ...textShapes(draw, [
          ['filter[labels.', ']=a'],
          ['name=', ''],
        ]),
        ...queries,
      ],
      (text) => decodeQuery(service, text),
    ),
    takesText('cursor', HEAD, plain, decodeCursor),
    takesText('cursor that is JSON', HEAD, plain, (text) =>
      decodeCursor(Buffer.from(`[${text}]`).toString('base64url')),
    ),
    takesText(
      'event id',
      HEAD,
      textShapes(draw, [
        ['a.', ''],
        ['', '.1'],
      ]),
      decodeResumePoint,
    ),
    takesText('If-Match', HEAD, plain, (text) => checkPrecondition(text, { uid: 'u', generation: 1 })),
    takesText(
      'path',
      HEAD,
      textShapes(draw, [['/meshes/default/meshservices/', '']]),
      (text) => requestLineError(text) ?? unknownPath(stripQuery(text), coreKinds),
    ),
    takesText('name in a path', HEAD, plain, (name) =>
      identityNamed({ kind: service, mesh: 'default', name }, { role: 'zone', zone: 'east', federated: true }),
    ),
    takesInput(
      { name: 'Authorization', largest: HEAD },
      textShapes(draw, [['Bearer ', '']]),
      callWith('authorization'),
      (call) => identify(call),
    ),
    ...['host', 'origin'].map((header) =>
      takesInput(
        { name: `header ${header}`, largest: HEAD },
        textShapes(draw, [
          ['localhost:', ''],
          ['http://', ''],
        ]),
        callWith(header),
        (call) => identify(call),
      ),
    ),
    takesText(
      'Content-Type',
      HEAD,
      textShapes(draw, [
        ['application/json;', ''],
        ['application/json; charset=', ''],
      ]),
      (text) => decodeBody(text, Buffer.from('{}')),
    ),
    takesText(
      'report of violations',
      DEFAULT_LIMITS.body,
      [{ name: 'many', make: (size) => 'x'.repeat(size) }],
      (text) =>
        problemJson(
          toProblem(
            new Invalid(
              Array.from({ length: text.length / 32 }, (_, i) => ({
                field: `spec.a[${i}]`,
                reason: 'is wrong',
                rule: 'invalid' as const,
              })),
            ),
            '',
          ).problem,
        ),
    ),
  ];
}

const LOOPBACK = { remoteAddress: '127.0.0.1' };

const queries = [
  { name: 'many parameters', make: (size: number) => numbered(size, (i) => `p${i}=1`, '&') },
  { name: 'many filters', make: (size: number) => numbered(size, (i) => `filter[labels.k${i}]=1`, '&') },
  { name: 'one parameter again', make: (size: number) => numbered(size, () => 'name=a', '&') },
  { name: 'misspelt parameters', make: (size: number) => numbered(size, (i) => `labelSelecto${i}=1`, '&') },
  {
    name: 'many requirements',
    make: (size: number) => `labelSelector=${numbered(size, (i) => `k${i} in (a%2Cb)`, '%2C')}`,
  },
];

function decodeQuery(kind: Kind, text: string): unknown {
  if (requestLineError(`/?${text}`)) return undefined;
  const call = { method: 'GET', url: '', params: {}, headers: {}, query: { ...parseQuery(text) }, socket: LOOPBACK };
  const known: TProperties = listParameters(kind);
  const query = readQuery(call, known);
  const read = [readSelection(query), readPage(query)];
  query.check();
  return read;
}

function callWith(name: string): (value: string) => Parameters<RequestCallers['identify']>[0] {
  return (value) => ({
    method: 'PUT',
    url: '/',
    params: {},
    query: {},
    headers: { host: 'localhost', [name]: value },
    socket: LOOPBACK,
  });
}

const access = restAccess(
  new AccessPolicy({ registry: coreKinds, index: new ResourceIndex(), cp: { role: 'global' } }),
  { operatorToken: 'x'.repeat(32) },
);

function unserved(): never {
  throw new Error('this server does not listen');
}

const callers = new RequestCallers(access, new LocalSocket(DEFAULT_LIMITS, unserved), systemClock);

/** All that is done before the first verifier of tokens is asked; a refusal is an answer like any other. */
function identify(call: Parameters<RequestCallers['identify']>[0]): void {
  callers.identify(call).catch(() => undefined);
}

function kindNamed(name: string): Kind {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

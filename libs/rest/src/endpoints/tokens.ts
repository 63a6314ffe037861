import {
  dataplaneTokens,
  rotateWorkloadAuthority,
  showWorkloadAuthority,
  showZoneAuthority,
  userTokens,
  zoneInvites,
  zoneTokens,
  type Operation,
} from '@causeway/api';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import { tableBody } from '../answers/responses';
import { readOffsetPage } from '../http/request-decoding';
import type { Call } from '../operations/call';
import { endpoint, readingEndpoint, type Endpoint, type Steps } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of user tokens, zone tokens and dataplane tokens, and of the certificate authorities. */
export function tokenEndpoints(sources: EndpointSources): readonly Endpoint[] {
  const { queries } = sources;
  const { workloadAuthority } = queries;
  const check = (): void => workloadAuthority.checkHere();
  const checkZoneTokens = (): void => queries.zoneTokens.checkHere();
  return [
    ...familyEndpoints(sources, { operations: userTokens, tokens: queries.userTokens, subject: ({ name }) => [name] }),
    ...familyEndpoints(sources, {
      operations: zoneTokens,
      tokens: queries.zoneTokens,
      check: checkZoneTokens,
      subject: ({ zone }) => [zone],
    }),
    ...familyEndpoints(sources, {
      operations: dataplaneTokens,
      tokens: queries.dataplaneTokens,
      check: () => queries.dataplaneTokens.checkHere(),
      subject: ({ mesh, name, workload }) => [mesh, name || workload],
      // Checks the mesh of the order before anything else.
      authorize: (body, rights) => {
        const mesh = isJsonObject(body) && typeof body['mesh'] === 'string' ? body['mesh'] : undefined;
        rights.check('create', { kind: 'DataplaneToken', mesh });
      },
    }),
    ...inviteEndpoints(sources),
    endpoint(showZoneAuthority, () => queries.zoneTokens.authority(), { check: checkZoneTokens }),
    endpoint(showWorkloadAuthority, () => workloadAuthority.status(), { check }),
    endpoint(rotateWorkloadAuthority, ({ rights }, { body }) => workloadAuthority.order(body, rights.caller.user), {
      check,
    }),
  ];
}

/** Endpoints of one type of token. */
interface TokenRoutes extends Pick<Steps, 'check' | 'authorize'> {
  readonly operations: {
    readonly list: Operation;
    readonly issue: Operation;
    readonly revoke: Operation;
    readonly rotate: Operation;
  };
  readonly tokens: {
    issue(order: JsonObject, issuedBy: string): Promise<{ readonly token: string }>;
    list(range: PageRange): Promise<SortedPage<object>>;
    revoke(id: unknown): Promise<readonly string[]>;
    rotate(): Promise<number>;
  };
  /** Returns the parts of the name in the audit log for an order. */
  readonly subject: (order: JsonObject) => readonly unknown[];
}

function familyEndpoints({ audit }: EndpointSources, family: TokenRoutes): readonly Endpoint[] {
  const { operations, tokens, check, authorize, subject } = family;
  const here = check === undefined ? {} : { check };
  return [
    readingEndpoint(operations.list, readOffsetPage, async ({ request }, { more: range }) =>
      tableBody(request, await tokens.list(range), range),
    ),
    endpoint(
      operations.issue,
      async (call, { body }) => {
        const order = isJsonObject(body) ? body : {};
        const issued = await tokens.issue(order, call.rights.caller.user);
        audit.setName(
          call.request,
          subject(order)
            .filter((part) => typeof part === 'string')
            .join('/'),
        );
        return issuedAnswer(call, issued);
      },
      // Rights that depend on the order are checked first; the token service reports where tokens are issued.
      authorize === undefined ? here : { authorize },
    ),
    endpoint(
      operations.revoke,
      async ({ request }, { body }) => {
        const id = isJsonObject(body) ? body['id'] : undefined;
        const warnings = await tokens.revoke(id);
        if (typeof id === 'string') audit.setName(request, id);
        return { warnings };
      },
      here,
    ),
    endpoint(operations.rotate, async () => ({ serial: await tokens.rotate() }), here),
  ];
}

/** Endpoints of invites of zones: for administrators, and for whoever has one. */
function inviteEndpoints({ queries: { zoneInvites: invites }, audit }: EndpointSources): readonly Endpoint[] {
  const here = { check: () => invites.checkHere() };
  return [
    readingEndpoint(
      zoneInvites.list,
      readOffsetPage,
      async ({ request }, { more: range }) => tableBody(request, await invites.list(range), range),
      here,
    ),
    endpoint(
      zoneInvites.issue,
      async ({ request, reply, rights }, { body: { zone } }) => {
        const issued = await invites.issue(zone, rights.caller.user);
        audit.setName(request, `${zone}/${issued.id}`);
        void reply.header('cache-control', 'no-store');
        return issued;
      },
      here,
    ),
    endpoint(
      zoneInvites.revoke,
      async ({ request }, { body: { id } }) => {
        audit.setName(request, id);
        return { warnings: await invites.revoke(id) };
      },
      here,
    ),
    endpoint(
      zoneInvites.redeem,
      async ({ request, reply }, { body: { invite } }) => {
        const redeemed = await invites.redeem(invite);
        audit.setName(request, `${redeemed.zone}/${redeemed.id}`);
        void reply.header('cache-control', 'no-store');
        return redeemed;
      },
      here,
    ),
  ];
}

/** Returns the bare token like Kuma, or with its id and expiry for a client that accepts JSON. */
function issuedAnswer(call: Call, issued: { readonly token: string }): object | string {
  // Set here, because a refusal must not have it.
  void call.reply.header('cache-control', 'no-store');
  if (/\bapplication\/json\b/.test(call.header('accept') ?? '')) return issued;
  void call.reply.type('text/plain; charset=utf-8');
  return issued.token;
}

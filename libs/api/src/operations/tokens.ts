import { Type, type TProperties, type TSchema } from 'typebox';
import { operation } from '../operation';
import { OffsetPage } from '../parameters';
import { component, Flag, Integer, Page, strict, Text, Time } from '../schema';
import { Written } from './resources';

/** Returns the schema of a validity of tokens. */
export function Validity(more: { readonly default: string; readonly description?: string }) {
  return Type.Optional(
    Type.String({
      pattern: '^([0-9]{1,9}(ms|s|m|h|d))+$',
      title: 'a duration such as 720h, 1h30m or 30d',
      description: 'A duration from 1s to 87600h, such as 720h or 30d.',
      ...more,
    }),
  );
}

/** The fields of every listed token. */
const listed = { id: Text, issuedAt: Time, expiresAt: Time, issuedBy: Text, revoked: Flag };
const Groups = Type.Array(Text, { maxItems: 64 });
const OptionalText = Type.Optional(Text);

const PROBLEMS = [400, 403, 404];
const WRITE_PROBLEMS = [...PROBLEMS, 409, 413, 415, 422];

/** Texts and schemas of the tokens of one purpose. */
interface TokenTexts<O extends TProperties, I extends TProperties, L extends TProperties> {
  readonly use: 'zone' | 'user' | 'dataplane';
  /** Kind of the activity, and prefix of schema names: `ZoneToken`. */
  readonly kind: string;
  /** The purpose of such a token, as a continuation of `a token that`. */
  readonly does: string;
  /** Fields of an order; all others are refused. */
  readonly order: O;
  readonly example: object;
  /** Fields of an issued token besides the token, its id and its expiry. */
  readonly issued: I;
  /** Fields of a listed token besides the common ones. */
  readonly listed: L;
  /** The right to issue, if it depends on the order. */
  readonly issueAccess?: 'any-right';
}

type NamedUse = Pick<TokenTexts<TProperties, TProperties, TProperties>, 'use' | 'kind'>;

function revokeOperation({ use, kind }: NamedUse) {
  return operation({
    id: `revoke${kind}`,
    method: 'POST',
    path: `/tokens/${use}/revocations`,
    summary: `Revoke a ${use} token by its id (jti)`,
    access: { verb: 'create', kinds: [kind] },
    body: {
      schema: Type.Object(
        { id: Type.String({ pattern: '^[^\\s,]{1,200}$', title: 'the id of a token, without spaces and commas' }) },
        component(`${kind}Revocation`, strict),
      ),
      example: { id: '6f1b2c0e-0000-4000-8000-000000000000' },
    },
    answer: { description: 'Revoked.', schema: Written },
    problems: WRITE_PROBLEMS,
    audit: { kind, activity: `revoke a ${use} token` },
  });
}

/** Creates a newer signing key. */
function rotateOperation({ use, kind }: NamedUse) {
  return operation({
    id: `rotate${kind}Key`,
    method: 'POST',
    path: `/tokens/${use}/keys`,
    summary: `Make a newer signing key of ${use} tokens`,
    access: { verb: 'create', kinds: [kind] },
    answer: { description: 'New tokens are signed with it.', schema: Type.Object({ serial: Integer }) },
    problems: PROBLEMS,
    audit: { kind, activity: `make a signing key of ${use} tokens` },
  });
}

function tokenOperations<O extends TProperties, I extends TProperties, L extends TProperties>(of: TokenTexts<O, I, L>) {
  const { use, kind, does } = of;
  const access = { verb: 'create', kinds: [kind] } as const;
  const path = `/tokens/${use}`;
  return {
    /** Tokens that are valid or expired within a week, in the order of their expiry. */
    list: operation({
      id: `list${kind}s`,
      method: 'GET',
      path,
      summary: `The ${use} tokens that are valid or expired within a week, the first to expire first`,
      access: { verb: 'list', kinds: [kind] },
      query: OffsetPage,
      answer: {
        description: 'Never the tokens themselves.',
        schema: Page(Type.Object({ ...listed, ...of.listed }, component(`Listed${kind}`))),
      },
      problems: PROBLEMS,
    }),
    /** A new token: the bare token as Kuma returns it, or with its id and expiry for a client that accepts JSON. */
    issue: operation({
      id: `issue${kind}`,
      method: 'POST',
      path,
      summary: `Issue a token that ${does}`,
      access: of.issueAccess ?? access,
      body: { schema: Type.Object(of.order, component(`${kind}Order`, strict)), example: of.example },
      answer: {
        description: 'The token; shown once.',
        schema: Type.Object({ token: Text, id: Text, ...of.issued, expiresAt: Time }, component(kind)),
        also: { 'text/plain': Text },
      },
      problems: WRITE_PROBLEMS,
      audit: { kind, activity: `issue a ${use} token` },
    }),
    revoke: revokeOperation(of),
    rotate: rotateOperation(of),
  };
}

export const userTokens = tokenOperations({
  use: 'user',
  kind: 'UserToken',
  does: 'shows who a user is',
  order: {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    groups: Type.Optional(Groups),
    validFor: Validity({ default: '24h' }),
  },
  example: { name: 'anna', groups: ['developers'], validFor: '30d' },
  issued: { name: Text, groups: Groups },
  listed: { name: Text, groups: Groups },
});

/** Zone tokens; 404 in a federated zone, whose global issues them. */
export const zoneTokens = tokenOperations({
  use: 'zone',
  kind: 'ZoneToken',
  does: 'lets a zone in',
  order: {
    zone: Type.String({ minLength: 1, maxLength: 63 }),
    validFor: Validity({ default: '720h' }),
    scope: Type.Optional(Type.Array(Type.Enum(['cp', 'ingress', 'egress']), { minItems: 1, default: ['cp'] })),
    renew: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether the control plane of the zone may renew it.' }),
    ),
  },
  example: { zone: 'east', validFor: '720h' },
  issued: { zone: Text, scope: Type.Array(Text) },
  listed: { zone: Text, scope: Type.Array(Text) },
});

/** Returns a field of an order that restricts nothing if it is null, as Kuma's clients send it (docs/reference/kuma-rest.md §5.5). */
function Nullable<S extends TSchema>(schema: S, description?: string) {
  return Type.Optional(Type.Union([schema, Type.Null()], description === undefined ? {} : { description }));
}

const Name = Type.String({ maxLength: 253 });
const Texts = Type.Array(Text, { minItems: 1, maxItems: 64 });
const Tags = Type.Record(Type.String(), Texts, { maxProperties: 32 });
const OptionalValidity = Type.String({
  pattern: '^([0-9]{1,9}(ms|s|m|h|d))*$',
  title: 'a duration such as 720h, 1h30m or 30d',
  default: '720h',
});

/** Dataplane tokens; 404 on a global, which has no proxies. The right to issue one is needed in the mesh of the order. */
export const dataplaneTokens = tokenOperations({
  use: 'dataplane',
  kind: 'DataplaneToken',
  does: 'shows which Dataplanes a proxy may be',
  order: {
    mesh: Type.String({ minLength: 1, maxLength: 253 }),
    name: Nullable(
      Name,
      'The Dataplane. Empty: any new one of a group of equal machines, with workload and services. Without the workload, proof of the workload of that name.',
    ),
    namespace: Nullable(Name, 'Of the Dataplane; default where it is left out.'),
    services: Nullable(
      Type.Array(Text, { maxItems: 64 }),
      'The services that it may serve; left out: one of its own name.',
    ),
    machines: Nullable(
      Type.Integer({ minimum: 1, maximum: 10_000, default: 100 }),
      'Without a name: how many machines may be there at once.',
    ),
    workload: Nullable(Name, 'The workload; a service name from the label kuma.io/workload needs it.'),
    tags: Nullable(Tags, 'The values that each tag may have; the Dataplane must have the tag.'),
    type: Nullable(Type.Enum(['', 'dataplane'])),
    validFor: Nullable(OptionalValidity, 'A duration from 1s to 87600h, such as 720h or 30d.'),
  },
  example: { mesh: 'default', name: 'redis-1', workload: 'redis', validFor: '720h' },
  issued: { mesh: Text },
  listed: {
    mesh: Text,
    name: OptionalText,
    workload: OptionalText,
    namespace: OptionalText,
    services: Type.Optional(Type.Array(Text)),
    machines: Type.Optional(Integer),
    tags: Type.Optional(
      Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'string' } },
      }),
    ),
  },
  issueAccess: 'any-right',
});

/** The authority by which zones verify the global. */
export const showZoneAuthority = operation({
  id: 'showZoneAuthority',
  method: 'GET',
  path: '/kds/ca',
  summary: 'What zones verify the global by, in PEM',
  access: 'public',
  answer: { description: 'A certificate.', schema: Text, type: 'application/x-pem-file' },
  problems: [400, 404],
});

const InviteId = Type.String({ pattern: '^[^\\s,]{1,200}$', title: 'the id of an invite, without spaces and commas' });

/** Invites of zones; 404 on a control plane that is no global. The right is that to zone tokens. */
export const zoneInvites = {
  list: operation({
    id: 'listZoneInvites',
    method: 'GET',
    path: '/tokens/zone/invites',
    summary: 'The invites of zones that are valid or expired within a week, the first to expire first',
    access: { verb: 'list', kinds: ['ZoneToken'] },
    query: OffsetPage,
    answer: {
      description: 'Never the invites themselves. One that was used is revoked.',
      schema: Page(Type.Object({ ...listed, zone: Text }, component('ListedZoneInvite'))),
    },
    problems: PROBLEMS,
  }),
  /** A one-time token of 10 minutes. */
  issue: operation({
    id: 'issueZoneInvite',
    method: 'POST',
    path: '/tokens/zone/invites',
    summary: 'Issue an invite, which is exchanged for a token of the zone once within 10 minutes',
    access: { verb: 'create', kinds: ['ZoneToken'] },
    body: {
      schema: Type.Object({ zone: Type.String({ minLength: 1, maxLength: 63 }) }, component('ZoneInviteOrder', strict)),
      example: { zone: 'east' },
    },
    answer: {
      description: 'The invite; shown once.',
      schema: Type.Object({ token: Text, id: Text, zone: Text, expiresAt: Time }, component('ZoneInvite')),
    },
    problems: WRITE_PROBLEMS,
    audit: { kind: 'ZoneToken', activity: 'issue an invite of a zone' },
  }),
  revoke: operation({
    id: 'revokeZoneInvite',
    method: 'POST',
    path: '/tokens/zone/invites/revocations',
    summary: 'Revoke an invite of a zone by its id',
    access: { verb: 'create', kinds: ['ZoneToken'] },
    body: {
      schema: Type.Object({ id: InviteId }, component('ZoneInviteRevocation', strict)),
      example: { id: '6f1b2c0e-0000-4000-8000-000000000000' },
    },
    answer: { description: 'Revoked.', schema: Written },
    problems: WRITE_PROBLEMS,
    audit: { kind: 'ZoneToken', activity: 'revoke an invite of a zone' },
  }),
  /** Needs no right but the invite. */
  redeem: operation({
    id: 'redeemZoneInvite',
    method: 'POST',
    path: '/tokens/zone/invites/redemptions',
    summary: 'Exchange an invite for a token of its zone, once',
    access: 'public',
    body: {
      schema: Type.Object(
        { invite: Type.String({ minLength: 1, maxLength: 4_096 }) },
        component('ZoneInviteRedemption', strict),
      ),
      example: { invite: 'eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl' },
    },
    answer: {
      description:
        'The zone token, shown once, and what verifies the global (PEM), where that is an authority of its own.',
      schema: Type.Object(
        {
          token: Text,
          id: Text,
          zone: Text,
          scope: Type.Array(Text),
          expiresAt: Time,
          authority: OptionalText,
        },
        component('RedeemedZoneInvite'),
      ),
    },
    problems: WRITE_PROBLEMS,
    audit: { kind: 'ZoneToken', activity: 'use an invite of a zone' },
  }),
} as const;

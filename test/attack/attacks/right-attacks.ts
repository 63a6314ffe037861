import { randomUUID } from 'node:crypto';
import { LeaseHolder } from '@causeway/agent/testing';
import type { JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { adminFetch } from '../../support/admin-credential';
import { deltaClient } from '../../support/ads-client';
import { until } from '../../support/until';
import type { Arena, Attack } from '../target';
import { JSON_TYPE, noted } from './rest-blows';

/** Time for which a blow waits for the zone's reaction, ms. */
const PATIENCE = 5_000;
const ROLE = 'more than a role may';
const NAME = "another's name to a proxy";
const CLAIM = "another's Dataplane and service";
const THEFT = "another's lease";
/** Characters that would drive a terminal: its title, its colours, text from right to left. */
const ESCAPES = '\u001b]0;owned\u0007\u001b[31m\u009b2J\u202e';
/** Characters that must not get from an agent to a reader. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Each with a credential that is valid, and good for less than is asked for. */
export function roleAttacks(): readonly Attack[] {
  return [{ name: ROLE, pause: 300, strike: beyondRole }];
}

/** The same of machines. */
export function machineAttacks(): readonly Attack[] {
  return [
    { name: NAME, pause: 500, strike: (arena) => eachZone(arena, asAnother) },
    { name: CLAIM, pause: 1_000, strike: (arena, turn) => eachZone(arena, (zone) => claim(arena, zone, turn)) },
    { name: THEFT, pause: 1_000, strike: (arena) => eachZone(arena, (zone) => steal(arena, zone)) },
  ];
}

async function eachZone(arena: Arena, strike: (zone: string, arena: Arena) => Promise<void>): Promise<void> {
  await Promise.all(Object.keys(arena.target.proxies).map((zone) => strike(zone, arena)));
}

interface Wish {
  readonly method: string;
  readonly path: string;
  readonly body?: JsonObject;
}

/** Returns what an owner of services may try to get from a zone: other people's secrets, rights, hosts and addresses. */
function wishes(turn: number): readonly Wish[] {
  const put = (path: string, type: string, spec: JsonObject): Wish => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return { method: 'PUT', path, body: { type, ...(path.startsWith('/meshes/') && { mesh: 'default' }), name, spec } };
  };
  const inbound = [{ port: 80, tags: { 'kuma.io/service': 'web' } }];
  const at = (networking: JsonObject): Wish =>
    put(`/meshes/default/dataplanes/owned-${turn}`, 'Dataplane', {
      networking: { address: '10.0.0.9', ...networking },
    });
  const crown = { type: 'Secret', secretRef: { kind: 'Secret', name: 'crown' } };
  const external = {
    match: { type: 'HostnameGenerator', port: 443, protocol: 'tcp' },
    endpoints: [{ address: '203.0.113.7', port: 443 }],
    tls: { enabled: true, verification: { caCert: crown } },
  };
  const subjects = [{ kind: 'User', name: 'owner' }];
  return [
    { method: 'GET', path: '/meshes/default/secrets/crown' },
    put('/meshes/default/secrets/crown', 'Secret', { data: 'eA==', usedBy: [{ kind: '*', name: '*' }] }),
    put('/rolebindings/owned', 'RoleBinding', { role: 'admin', subjects }),
    { method: 'POST', path: '/tokens/user', body: { name: 'root', groups: ['causeway:admins'], validFor: '1h' } },
    { method: 'POST', path: '/_workloads/revocations', body: { mesh: 'default', name: 'agent' } },
    { method: 'DELETE', path: '/meshes/default/dataplanes/agent' },
    put('/meshes/default/meshexternalservices/owned', 'MeshExternalService', external),
    at({ address: '169.254.169.254', inbound }),
    at({ inbound: [{ ...inbound[0], serviceAddress: '169.254.169.254' }] }),
    put('/meshes/default/dataplanes/agent', 'Dataplane', { networking: { address: '127.0.0.1', inbound } }),
  ];
}

async function beyondRole(arena: Arena, turn: number): Promise<void> {
  const { rest, owners } = arena.target;
  for (const [zone, owner] of Object.entries(owners)) {
    for (const { method, path, body } of wishes(turn)) {
      const headers = { ...JSON_TYPE, authorization: `Bearer ${owner}` };
      const blow = { base: rest[zone] ?? '', method, path, headers, isAnonymous: true };
      const status = await noted(arena, ROLE, { ...blow, ...(body && { body: JSON.stringify(body) }) });
      if (status >= 200 && status < 300) arena.tally.note('BREACH', `a service owner was let: ${method} ${path}`);
    }
  }
}

/** Requests the resources of the proxy `default.good` with the token of `default.evil`. */
async function asAnother(zone: string, { target, tally }: Arena): Promise<void> {
  const { port = 0, tokens = {} } = target.proxies[zone] ?? {};
  const client = deltaClient(port, 'default.good', tokens['default.evil']);
  try {
    client.send({ typeUrl: RESOURCE_TYPES.secret, resourceNamesSubscribe: ['identity'] });
    await settled(() => client.ended !== undefined || client.responses.length > 0);
    if (client.responses.length > 0) tally.note('BREACH', 'a proxy was told what another is told');
    tally.note(NAME, client.ended ? `ended: ${client.ended.message}` : 'silent, stream open');
  } finally {
    await client.close().catch(() => undefined);
  }
}

/** The attachment of an attacker's agent. */
interface Attachment {
  readonly token: string;
  readonly instance: string;
  readonly secret: string;
  readonly name: string;
  readonly service: string;
}

/** State of an attacker's agent: its attachment, and the last message that it got. */
interface Standing {
  readonly type: string;
  readonly reason?: string | undefined;
}

/** Attaches as an agent while `work` lasts; its words would drive a terminal. */
async function attached(
  { target, tally }: Arena,
  zone: string,
  { token, instance, secret, name, service }: Attachment,
  work: (standing: () => Standing) => Promise<void>,
): Promise<void> {
  const { port = 0, tokens = {} } = target.proxies[zone] ?? {};
  const end = new AbortController();
  const holder = new LeaseHolder({
    instance,
    secret,
    machine: `vm${ESCAPES}`,
    version: `1${ESCAPES}`,
    clock: systemClock,
    logger: silentLogger,
    addresses: () => [`127.0.0.1:${port}`],
    tls: () => undefined,
    authorization: () => `Bearer ${tokens[token]}`,
  });
  const inbound = [{ port: 7_000, tags: { 'kuma.io/service': service, 'kuma.io/protocol': 'http' } }];
  const spec = { networking: { address: '127.0.0.1', inbound } };
  holder.setDataplanes([{ mesh: 'default', name, labels: {}, spec }]);
  const running = holder.run(end.signal);
  try {
    await work(() => {
      const { attachment } = holder;
      const failure = attachment.type === 'detached' ? attachment.failure : undefined;
      const { type, reason = failure }: Standing = holder.states().get(`default/${name}`) ?? { type: 'waiting' };
      if (reason !== undefined && UNPRINTABLE.test(reason))
        tally.note('BREACH', "an agent's text would drive a terminal");
      return { type, reason };
    });
  } finally {
    end.abort();
    await running;
  }
}

/** The host of one Dataplane claims to be another one, or to serve what another one serves. */
async function claim(arena: Arena, zone: string, turn: number): Promise<void> {
  const [name, service] = turn % 2 === 0 ? ['good', 'good'] : ['agent', 'good'];
  const attachment = { token: 'default.agent', instance: randomUUID(), secret: randomUUID(), name, service };
  await attached(arena, zone, attachment, async (standing) => {
    await settled(() => standing().type !== 'waiting' || standing().reason !== undefined);
    const { type, reason } = standing();
    if (type === 'held') arena.tally.note('BREACH', `the machine of agent holds ${name} with the service ${service}`);
    arena.tally.note(CLAIM, `${type}: ${reason ?? 'no answer yet'}`);
  });
}

/** The same in all blows, as the state folder of one machine has it. */
const OWNER = { instance: randomUUID(), secret: randomUUID() };

/** A copy of a machine's bundle, with the public name of its agent too, takes its lease while the machine has it. */
async function steal(arena: Arena, zone: string): Promise<void> {
  const own = { ...OWNER, token: 'default.agent', name: 'agent', service: 'agent' };
  await attached(arena, zone, own, async (ownerOf) => {
    await settled(() => ownerOf().type === 'held');
    if (ownerOf().type !== 'held') return arena.tally.note(THEFT, `the owner is ${ownerOf().type}`);
    await readable(arena, zone);
    await attached(arena, zone, { ...own, secret: randomUUID() }, async (thiefOf) => {
      await settled(() => thiefOf().type !== 'waiting');
      const [owner, thief] = [ownerOf(), thiefOf()];
      if (thief.type === 'held') arena.tally.note('BREACH', 'a lease was taken without its secret');
      if (owner.type !== 'held')
        arena.tally.note('BREACH', `a copy of a bundle made the owner of a lease ${owner.type}`);
      arena.tally.note(THEFT, `${thief.type}: ${thief.reason ?? 'no answer yet'}`);
    });
  });
}

/** Texts that the agent reported are shown without characters that drive a terminal. */
async function readable({ target, tally }: Arena, zone: string): Promise<void> {
  const answer = await adminFetch(`${target.rest[zone]}/meshes/default/dataplanes/agent`);
  const texts: string[] = [];
  JSON.parse(await answer.text(), (_, value: unknown) => (typeof value === 'string' && texts.push(value), value));
  if (texts.some((text) => UNPRINTABLE.test(text))) tally.note('BREACH', "an agent's text would drive a terminal");
}

/** Resolves when it is so, at the latest after PATIENCE. */
function settled(isSo: () => boolean): Promise<unknown> {
  return until('an answer', isSo, PATIENCE).catch(() => undefined);
}

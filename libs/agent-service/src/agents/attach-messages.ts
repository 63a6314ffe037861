import { createHash } from 'node:crypto';
import { LEASED_BY, REGISTERED_BY } from '@causeway/controllers';
import type { Agent, DataplaneName, InboundHealth, Registration } from '@causeway/proto-gen';
import {
  FieldPath,
  Invalid,
  isJsonArray,
  isJsonObject,
  printableText,
  type JsonObject,
  type Labels,
} from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import type { AgentFinding, CheckedInbound, LeaseAgent, LeaseKey } from '@causeway/store';
import { DEFAULT_NAMESPACE } from '../proxies/proxy-views';

/** Dataplane that an agent registers. */
export interface WantedDataplane {
  /** Version of the registration, which its result repeats. */
  readonly version: number;
  readonly labels: Labels;
  /** Spec including the states of its inbounds. */
  readonly spec: JsonObject;
  readonly health: readonly AgentFinding[];
  /** Empty: the token of the call. */
  readonly token: string;
}

/** Maximum lengths, in characters. */
const MAX_LENGTHS = {
  id: 64,
  machine: 256,
  name: 253,
  spec: 128 * 1024,
  token: 16 * 1024,
  check: 256,
  reason: 512,
  part: 256,
  what: 512,
};
const SECRET = { shortest: 32, longest: 128 };
const MAX_LABELS = 128;
const MAX_INBOUNDS = 128;
const MAX_UNSUPPORTED = 64;

/** Agent that attaches, and the secret of its leases. */
export interface AttachedAgent {
  readonly agent: LeaseAgent;
  readonly secretHash?: string;
}

/** Reads the agent that attaches. Throws Invalid with every wrong field. */
export function readAgent({ instance, run, machine, startedAt, secret }: Agent, address: string): AttachedAgent {
  const at = FieldPath.at('agent');
  const violations = [
    ...idProblems(at.field('instance'), instance),
    ...idProblems(at.field('run'), run),
    ...lengthProblems(at.field('machine'), machine, MAX_LENGTHS.machine),
    ...(startedAt > 0 ? [] : [at.field('started_at').violation('must be set', 'required')]),
    ...(secret === '' ? [] : secretProblems(at.field('secret'), secret)),
  ];
  if (violations.length > 0) throw new Invalid(violations);
  const agent = { instance, run, startedAt, machine: printableText(machine, MAX_LENGTHS.machine), address };
  // The secret has 256 random bits, so its hash needs neither salt nor slowness.
  return { agent, ...(secret !== '' && { secretHash: createHash('sha256').update(secret).digest('hex') }) };
}

/** Reads the name of a Dataplane. Throws Invalid. */
export function readName(dataplane: DataplaneName | undefined): LeaseKey {
  const { mesh = '', namespace = '', name = '' } = dataplane ?? {};
  const at = FieldPath.at('dataplane');
  const violations = [
    ...lengthProblems(at.field('mesh'), mesh, MAX_LENGTHS.name),
    ...lengthProblems(at.field('name'), name, MAX_LENGTHS.name),
    ...(namespace === '' ? [] : lengthProblems(at.field('namespace'), namespace, MAX_LENGTHS.name)),
  ];
  if (violations.length > 0) throw new Invalid(violations);
  return { mesh, namespace: namespace === '' ? DEFAULT_NAMESPACE : namespace, name };
}

/** Reads a registration. Throws Invalid; the spec of the Dataplane is not validated here. */
export function readRegistration({
  version,
  labels,
  specJson,
  token,
  inbounds,
  unobeyed,
  clientDataplane,
}: Registration): WantedDataplane {
  const at = FieldPath.at();
  const texts = Object.entries(labels);
  const violations = [
    ...lengthProblems(at.field('spec_json'), specJson, MAX_LENGTHS.spec),
    ...(token === '' ? [] : lengthProblems(at.field('token'), token, MAX_LENGTHS.token)),
    ...(clientDataplane === '' ? [] : lengthProblems(at.field('client_dataplane'), clientDataplane, MAX_LENGTHS.name)),
    ...(texts.length > MAX_LABELS ? [at.field('labels').violation(tooMany(MAX_LABELS, texts), 'too-many')] : []),
    ...(inbounds.length > MAX_INBOUNDS
      ? [at.field('inbounds').violation(tooMany(MAX_INBOUNDS, inbounds), 'too-many')]
      : inbounds.flatMap(({ check, reason }, i) => [
          ...(check === ''
            ? []
            : lengthProblems(at.field('inbounds').index(i).field('check'), check, MAX_LENGTHS.check)),
          ...(reason === ''
            ? []
            : lengthProblems(at.field('inbounds').index(i).field('reason'), reason, MAX_LENGTHS.reason)),
        ])),
    ...(unobeyed.length > MAX_UNSUPPORTED
      ? [at.field('unobeyed').violation(tooMany(MAX_UNSUPPORTED, unobeyed), 'too-many')]
      : unobeyed.flatMap(({ name, what }, i) => [
          ...lengthProblems(at.field('unobeyed').index(i).field('name'), name, MAX_LENGTHS.part),
          ...lengthProblems(at.field('unobeyed').index(i).field('what'), what, MAX_LENGTHS.what),
        ])),
  ];
  if (violations.length > 0) throw new Invalid(violations);
  const checked = inbounds.map(checkedInbound);
  const shared = clientDataplane === '' ? [] : [{ clientDataplane: printableText(clientDataplane, MAX_LENGTHS.name) }];
  const health = [...checked, ...unobeyed.map(readUnsupportedFeature), ...shared];
  const own = texts.filter(([label]) => label !== REGISTERED_BY && label !== LEASED_BY);
  return { version, labels: Object.fromEntries(own), spec: applyHealth(readSpec(specJson), checked), health, token };
}

function readSpec(json: string): JsonObject {
  const at = FieldPath.at('spec_json');
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw new Invalid([at.violation(`must be JSON: ${errorText(cause)}`, 'wrong-form')], { cause });
  }
  if (isJsonObject(parsed)) return parsed;
  throw new Invalid([at.violation('must be an object', 'wrong-form')]);
}

/** Sets inbounds whose check failed to NotReady. */
function applyHealth(spec: JsonObject, health: readonly CheckedInbound[]): JsonObject {
  const down = new Set(health.flatMap(({ inbound, ready }) => (ready ? [] : [inbound])));
  const networking = spec['networking'];
  const inbounds = isJsonObject(networking) ? networking['inbound'] : undefined;
  if (down.size === 0 || !isJsonObject(networking) || !isJsonArray(inbounds)) return spec;
  const inbound = inbounds.map((one, i) =>
    isJsonObject(one) && down.has(i) && one['state'] !== 'Ignored' ? { ...one, state: 'NotReady' } : one,
  );
  return { ...spec, networking: { ...networking, inbound } };
}

function checkedInbound({ inbound, ready, check, reason, since, plaintextReachable }: InboundHealth): CheckedInbound {
  const texts = { check: printableText(check, MAX_LENGTHS.check), reason: printableText(reason, MAX_LENGTHS.reason) };
  return { inbound, ready, ...texts, since, ...(plaintextReachable && { plaintextReachable }) };
}

/** Reads a configured feature that the machine's dataplane does not support. */
function readUnsupportedFeature({ name, what }: { readonly name: string; readonly what: string }) {
  return { name: printableText(name, MAX_LENGTHS.part), what: printableText(what, MAX_LENGTHS.what) };
}

/** Violations never repeat the secret. */
function secretProblems(at: FieldPath, { length }: string) {
  if (length >= SECRET.shortest && length <= SECRET.longest) return [];
  const rule = `must have ${SECRET.shortest} to ${SECRET.longest} characters, has ${length}`;
  return [at.violation(rule, length < SECRET.shortest ? 'too-short' : 'too-long')];
}

/** Refuses an id that is not plain text. It is not normalised, since leases are compared by it. */
function idProblems(at: FieldPath, id: string) {
  const isPlain = printableText(id, MAX_LENGTHS.id) === id;
  return id === '' || id.length > MAX_LENGTHS.id || isPlain
    ? lengthProblems(at, id, MAX_LENGTHS.id)
    : [at.violation('must have printable characters only', 'wrong-form')];
}

function lengthProblems(at: FieldPath, value: string, longest: number) {
  if (value === '') return [at.violation('must not be empty', 'required')];
  if (value.length <= longest) return [];
  return [at.violation(`must have at most ${longest} characters, has ${value.length}`, 'too-long')];
}

function tooMany(most: number, { length }: { readonly length: number }): string {
  return `must have at most ${most}, has ${length}`;
}

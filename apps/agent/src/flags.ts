import { resolve } from 'node:path';

/** Flags of `causeway-agent run` and `ingress`; each overrides the field of the file. */
export interface RunFlags {
  readonly file?: string;
  readonly state?: string;
  readonly bundle?: string;
  readonly controlPlane?: readonly string[];
  readonly tokenFile?: string;
  readonly authorityFile?: string;
  readonly mesh?: string;
  readonly plane?: string;
  readonly capture?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly address?: string;
  readonly service?: readonly string[];
  readonly outbound?: readonly string[];
  readonly mayDial?: readonly string[];
  readonly logLevel?: string;
}

/** Flag that cannot be parsed. */
export class FlagError extends Error {}

/** Converts flags to a partial configuration. Throws FlagError. */
export function flagsToConfig(flags: RunFlags, kind: 'dataplane' | 'ingress'): Readonly<Record<string, unknown>> {
  const { name, bundle, controlPlane, mesh, plane, capture, tokenFile, authorityFile, state, logLevel } = flags;
  return {
    ...(controlPlane && { controlPlanes: controlPlane }),
    ...(bundle !== undefined && { bundle: resolve(bundle) }),
    ...(tokenFile !== undefined && { tokenFile: resolve(tokenFile) }),
    ...(authorityFile !== undefined && { authorityFile: resolve(authorityFile) }),
    ...(state !== undefined && { state: resolve(state) }),
    ...defined({ mesh, plane, capture, logLevel }),
    ...(flags.mayDial && { mayDial: flags.mayDial }),
    ...(kind === 'ingress' ? name !== undefined && { ingress: { name } } : toDataplane(flags)),
  };
}

function toDataplane({
  name,
  namespace,
  address,
  service = [],
  outbound = [],
}: RunFlags): Readonly<Record<string, unknown>> {
  if ([name, namespace, address].every((flag) => flag === undefined) && service.length + outbound.length === 0)
    return {};
  if (name === undefined || address === undefined)
    throw new FlagError('a Dataplane by flags needs --name and --address');
  const named = { name, ...defined({ namespace }) };
  return {
    dataplanes: [{ ...named, address, services: service.map(parseService), outbounds: outbound.map(parseOutbound) }],
  };
}

/** Parses `NAME:PORT[:SERVICE-PORT][/PROTOCOL]`. */
export function parseService(text: string): Readonly<Record<string, unknown>> {
  const [, name, port = '', servicePort, protocol] = /^([^:/]+):(\d+)(?::(\d+))?(?:\/([a-z0-9]+))?$/.exec(text) ?? [];
  if (name === undefined)
    throw new FlagError(`--service: "${text}" is no service; write it like redis:6379, or web:80:8080/http`);
  return {
    name,
    port: parseNumber('--service', port),
    health: { tcp: {} },
    ...(servicePort !== undefined && { servicePort: parseNumber('--service', servicePort) }),
    ...(protocol !== undefined && { protocol }),
  };
}

/** Parses `PORT=SERVICE[:PORT]`. */
function parseOutbound(text: string): Readonly<Record<string, unknown>> {
  const [, port = '', name, of] = /^(\d+)=([^:]+)(?::(\d+))?$/.exec(text) ?? [];
  if (name === undefined) throw new FlagError(`--outbound: "${text}" is no outbound; write it like 10001=redis:6379`);
  return {
    port: parseNumber('--outbound', port),
    backend: { name, ...(of !== undefined && { port: parseNumber('--outbound', of) }) },
  };
}

/** Collects the values of an option that may be repeated. */
export function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function parseNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || text === '') throw new FlagError(`${flag}: "${text}" is no port`);
  return number;
}

function defined(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])),
  );
}

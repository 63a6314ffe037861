import { isIPv6 } from 'node:net';
import { showConfig } from '@causeway/api';
import { formatJoinBundle, type JoinBundle } from '@causeway/identity';
import { UsageError, type CommandContext } from '../../context';
import { textAt, type Output } from '../../render';
import { decodeClaims, describeToken } from '../../settings/token-claims';
import { findProxyAddresses, authorityFor, tokenCommandAtGlobal } from '../proxies/bootstrap';
import { readGiven } from '../proxies/local-files';

/** Options of commands that issue tokens: a join bundle for an agent, instead of the bare token. */
export interface BundleOptions {
  readonly output: Output;
  readonly bundle?: boolean;
  /** Addresses at which the control planes serve proxies. */
  readonly xds?: readonly string[];
  /** Authority that verifies them, PEM. */
  readonly xdsCaFile?: string;
}

/** A bundle without its subject. */
export type JoinPlace = Pick<JoinBundle, 'controlPlanes' | 'authority' | 'zone'>;

/** Throws if options of a bundle are given without it, or exclude each other. */
export function refuseWithoutBundle(
  options: BundleOptions & {
    readonly tokenFile?: string;
    readonly scope?: readonly string[];
    readonly validFor?: string;
  },
): void {
  const { bundle = false, output, xds, xdsCaFile, tokenFile, scope, validFor } = options;
  const given = { '--token-file': tokenFile, '--xds': xds, '--xds-ca-file': xdsCaFile };
  const [stray] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (!bundle && stray !== undefined) throw new UsageError(`${stray} is for --bundle only`);
  if (bundle && output !== 'table') throw new UsageError('--bundle has a form of its own: leave --output out');
  if (tokenFile !== undefined && (scope ?? validFor) !== undefined)
    throw new UsageError('--scope and --valid-for are for a new token: leave them or --token-file out');
}

/** Finds the addresses where an agent joins, and the authority that verifies them. `zone`: the expected zone. */
export async function findJoinPlace(
  context: CommandContext,
  options: BundleOptions,
  zone?: string,
): Promise<JoinPlace> {
  const api = await context.api();
  const settings = await api.rest.call(showConfig);
  const here = textAt(settings, 'CAUSEWAY_ZONE_NAME');
  if (here === '') {
    const first =
      zone === undefined ? '' : ` with a token that this one issues: ${tokenCommandAtGlobal(zone, ['ingress'])}`;
    throw new UsageError(`--bundle is made at the control plane of the zone${first}`);
  }
  if (zone !== undefined && zone !== here)
    throw new UsageError(`this is the control plane of zone ${JSON.stringify(here)}, not of ${JSON.stringify(zone)}`);
  const authority = await authorityFor(api, settings, options);
  const controlPlanes = findProxyAddresses(context, settings, options.xds).map(({ host, port }) =>
    isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`,
  );
  return { controlPlanes, zone: here, ...(authority !== undefined && { authority }) };
}

/** Prints a bundle with the zone token from a file, and the facts of the token on standard error. */
export function printGivenBundle(
  context: CommandContext,
  place: JoinPlace,
  { tokenFile = '' }: { readonly tokenFile?: string },
): number {
  const token = readGiven(tokenFile).trim();
  const claims = decodeClaims(token);
  if (claims?.use !== 'zone' || claims.subject !== `zone ${place.zone}`)
    throw new UsageError(`--token-file: ${tokenFile} holds no token of zone ${place.zone}`);
  context.print(formatJoinBundle({ ...place, mesh: '', token }));
  context.printError(`token ${claims.id}: ${describeToken(token, context.now())}`);
  return 0;
}

import { describeServer, listZoneOverviews, type ZoneOverview } from '@causeway/api';
import { ApiError, connectApi, type ApiClient } from '@causeway/api-client';
import type { ProgramContext } from '../../context';
import { formatApiError } from '../../control-plane';
import { inLines, structured, table, textAt, type Output } from '../../render';
import { resolveConnection } from '../../settings/connection';

/** One program and its version. */
interface Versioned {
  readonly name: string;
  readonly version: string;
  readonly at: string;
}

/** Output form, and the version of the client. */
interface VersionRequest {
  readonly version: string;
  readonly client: boolean;
  readonly output: Output;
}

/** Prints the versions of the client and of the servers; the exit code is 1 if the control plane is unreachable. */
export async function showVersions(
  context: ProgramContext,
  { version, client, output }: VersionRequest,
): Promise<number> {
  const { servers, failure } = client ? { servers: [], failure: undefined } : await listServers(context);
  if (output === 'table') {
    const rows = servers.map((each) => [each.name, each.version, each.at]);
    context.print(table(['PROGRAM', 'VERSION', 'AT'], [['client', version], ...rows]));
  } else context.print(structured({ client: { version }, servers }, output));
  if (failure !== undefined) context.printError(failure);
  for (const warning of skewWarnings(version, servers)) context.printError(warning);
  return failure === undefined ? 0 : 1;
}

interface Servers {
  readonly servers: readonly Versioned[];
  readonly failure: string | undefined;
}

/** Returns the control plane and, if it is the global, the versions of its zones. */
async function listServers(context: ProgramContext): Promise<Servers> {
  const api = await connectApi({ ...resolveConnection(context.config, context.flags()), signal: context.signal });
  try {
    const { zone = '', mode, version } = inLines(await api.rest.call(describeServer));
    const self = { name: zone === '' ? mode : `zone ${zone}`, version, at: api.server.origin };
    return { servers: [self, ...(zone === '' ? await listZones(api) : [])], failure: undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { servers: [], failure: formatApiError(error) };
  }
}

/** Returns the Causeway zones that the global knows; empty for a caller without the right to see them. */
async function listZones(api: ApiClient): Promise<readonly Versioned[]> {
  const items = await api.rest.items(listZoneOverviews).catch((error: unknown): readonly ZoneOverview[] => {
    if (error instanceof ApiError && (error.code === 'unauthenticated' || error.code === 'forbidden')) return [];
    throw error;
  });
  return inLines(items).flatMap(({ name, zoneInsight = {} }) => {
    const { version, peer } = zoneInsight;
    if (!version || peer !== 'causeway') return [];
    return [{ name: `zone ${name}`, version, at: textAt(zoneInsight, 'zoneInstanceId') }];
  });
}

/** Returns a warning for each server of another minor version: one may not know flags and fields of the other. */
export function skewWarnings(client: string, servers: readonly Pick<Versioned, 'name' | 'version'>[]): string[] {
  return servers
    .filter(({ version }) => minorVersion(version) !== minorVersion(client))
    .map(({ name, version }) => `warning: ${name} is ${version}, this program is ${client}: bring them to one version`);
}

function minorVersion(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

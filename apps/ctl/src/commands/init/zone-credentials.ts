import { showAuthority, showConfig, showZoneAuthority, zoneInvites, zoneTokens } from '@causeway/api';
import { ApiError, connectApi } from '@causeway/api-client';
import { UsageError, type CommandContext } from '../../context';
import { parseServer } from '../../settings/connection';
import { formatSha256, parseInvite, readCertificates, type InviteLine } from '../zones/invite-line';
import { findGlobalAddress, isLoopback } from '../zones/zone-invites';

/** The credentials with which a zone joins its global. */
export interface GlobalCredentials {
  readonly zone: string;
  readonly token: string;
  /** `CAUSEWAY_GLOBAL_ADDRESS`. */
  readonly global: string;
  /** The authority that verifies the global (PEM); absent: the machine's own authorities do, or it has no TLS. */
  readonly authority?: string;
}

/** Options that say where the credentials of a zone come from. */
export interface CredentialOptions {
  /** The line of `causeway zones invite`; `-`: on standard input. */
  readonly invite?: string;
  /** The REST interface of the global, in place of the server of the context. */
  readonly global?: string;
  readonly kds?: readonly string[];
}

/** Returns the invite of the options; undefined without one. Throws UsageError if it is of another zone than `zone`. */
export async function readInvite(
  context: CommandContext,
  { invite }: CredentialOptions,
  zone: string | undefined,
): Promise<InviteLine | undefined> {
  if (invite === undefined) return undefined;
  const line = parseInvite(invite === '-' ? await context.stdin() : invite);
  if (zone === undefined || zone === line.zone) return line;
  throw new UsageError(`the invite is for zone ${JSON.stringify(line.zone)}, not for ${JSON.stringify(zone)}`);
}

/**
 * Exchanges an invite for the credentials of its zone. The global is verified by the authority whose SHA-256 the invite has, before
 * anything is sent to it.
 */
export async function redeemInvite(context: CommandContext, line: InviteLine): Promise<GlobalCredentials> {
  const server = parseServer(line.server);
  if (!server || !(server.protocol === 'https:' || isLoopback(server)))
    throw new UsageError('the invite names a global without TLS: anyone in between could read the token');
  const ca = line.sha256 === undefined ? undefined : await fetchPinned(context, server, line.sha256);
  const client = await connectApi({ server, ...(ca !== undefined && { ca }), signal: context.signal });
  try {
    const { token, zone, authority } = await client.rest.call(zoneInvites.redeem, { body: { invite: line.token } });
    return { zone, token, global: line.global, ...(authority !== undefined && { authority }) };
  } finally {
    client.close();
  }
}

/** Fetches the authority of a server, and returns it if it is the one with this SHA-256. Sends nothing but the question. */
async function fetchPinned({ signal }: CommandContext, server: URL, sha256: string): Promise<string> {
  const client = await connectApi({ server, insecure: true, signal });
  try {
    const found = readCertificates(await client.rest.text(showAuthority));
    const pinned = found.find((one) => one.sha256 === sha256);
    if (pinned) return pinned.certificate;
    const shown = found.map((one) => formatSha256(one.sha256)).join(', ') || 'none';
    throw new ApiError(
      'forbidden',
      `${server.href} is not the global that the invite is of: its authority has the SHA-256 ${shown}, the invite ${formatSha256(sha256)}; nothing was sent to it`,
    );
  } finally {
    client.close();
  }
}

/** Issues the credentials of a zone as an administrator of the global. */
export async function issueCredentials(
  context: CommandContext,
  zone: string,
  { global, kds }: CredentialOptions,
): Promise<GlobalCredentials> {
  const flags = context.flags();
  const api = await context.api(global === undefined ? flags : { ...flags, server: global });
  const settings = await api.rest.call(showConfig);
  const address = findGlobalAddress(api.server, settings, kds);
  const authority = await api.rest.text(showZoneAuthority).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not-found') return undefined;
    throw error;
  });
  const { token } = await api.rest.call(zoneTokens.issue, { body: { zone } });
  return { zone, token, global: address, ...(authority !== undefined && { authority }) };
}

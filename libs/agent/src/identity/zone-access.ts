import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_BUNDLE_LENGTH, readJoinBundle, type JoinBundle } from '@causeway/identity';
import { isJsonArray, isJsonObject } from '@causeway/resources';
import { errorText, type Logger } from '@causeway/runtime';
import type { AgentConfig } from '../config/schema';

/** Credentials of a connection to a control plane. */
export interface ZoneCredentials {
  /** `host:port`, the preferred one first; empty if none is known. */
  readonly addresses: readonly string[];
  /** Certificates of the authority, PEM; absent: plaintext. */
  readonly authority?: string;
  /** Name of the zone, if a bundle contains it. */
  readonly zone?: string;
  /** For joining, and while no certificate is valid. */
  readonly token?: string;
}

type ZoneSources = Pick<AgentConfig, 'controlPlanes' | 'bundle' | 'tokenFile' | 'authorityFile'>;

/** File in the state folder that caches the zone's addresses and authority, without the token. */
const KEPT_FILE = 'control-planes.json';

/**
 * Addresses of the zone's control planes and the agent's credentials, from its configuration and its bundle. Files are
 * read again for each connection, so a new bundle is enough for a machine that was away for too long. If a file cannot
 * be read, the former content is used, also across restarts: an agent that has joined no longer needs its bundle.
 */
export class ZoneClientAccess {
  private last: ZoneCredentials;
  private kept: string | undefined;
  /** Tokens by file, as last read, and why the newest could not be read. */
  private readonly tokens = new Map<string, { readonly token?: string | undefined; readonly problem?: string }>();
  /** Why the newest files could not be read; undefined if they could. */
  problem: string | undefined;

  constructor(
    private readonly config: ZoneSources,
    private readonly folder: string,
    private readonly logger: Logger,
  ) {
    this.last = this.readKept();
  }

  /** Returns the current, else the cached credentials; without addresses if there are none. Never throws. */
  current(): ZoneCredentials {
    try {
      this.last = this.read();
      this.problem = undefined;
      this.keep(this.last);
    } catch (error) {
      const problem = errorText(error);
      if (this.problem !== problem)
        this.logger.warn('the addresses and certificates of the zone cannot be read', { reason: problem });
      this.problem = problem;
    }
    return this.last;
  }

  /**
   * Returns the token in `file`, or that of the agent. If it cannot be read, that is logged once and the former token
   * is returned, if any. Never throws.
   */
  token(file: string | undefined): string | undefined {
    if (file === undefined) return this.current().token;
    const before = this.tokens.get(file);
    try {
      const token = readToken(file);
      this.tokens.set(file, { token });
      return token;
    } catch (error) {
      const problem = errorText(error);
      if (before?.problem !== problem) this.logger.warn('a token cannot be read', { reason: problem });
      this.tokens.set(file, { token: before?.token, problem });
      return before?.token;
    }
  }

  /** Reads credentials and token files, so that an invalid one is logged before it is needed. */
  readTokens(files: readonly string[]): void {
    this.current();
    for (const file of files) this.token(file);
  }

  private read(): ZoneCredentials {
    const { controlPlanes, bundle: file, tokenFile, authorityFile } = this.config;
    const bundle = file === undefined ? undefined : readBundle(file);
    const token = tokenFile === undefined ? bundle?.token : readToken(tokenFile);
    const authority = authorityFile === undefined ? bundle?.authority : readSourceFile(authorityFile, 'authorityFile');
    return {
      addresses: controlPlanes ?? bundle?.controlPlanes ?? [],
      ...(bundle && { zone: bundle.zone }),
      ...(token !== undefined && { token }),
      ...(authority !== undefined && { authority }),
    };
  }

  /** Stores the addresses of the zone, without the token, when they have changed. A disk failure is logged once. */
  private keep({ addresses, authority, zone }: ZoneCredentials): void {
    const text = JSON.stringify({ source: this.source(), addresses, authority, zone });
    if (text === this.kept) return;
    this.kept = text;
    const file = join(this.folder, KEPT_FILE);
    try {
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch (error) {
      this.logger.warn('the addresses of the zone cannot be stored: a restart needs the bundle', {
        reason: errorText(error),
      });
    }
  }

  /** Returns the cached content if it belongs to the same fields of the configuration. */
  private readKept(): ZoneCredentials {
    const text = readTextIfPresent(join(this.folder, KEPT_FILE));
    const value = parseJson(text);
    if (!isJsonObject(value) || value['source'] !== this.source()) return { addresses: [] };
    this.kept = text;
    const { addresses, authority, zone } = value;
    return {
      addresses: isJsonArray(addresses) ? addresses.filter((one) => typeof one === 'string') : [],
      ...(typeof authority === 'string' && { authority }),
      ...(typeof zone === 'string' && { zone }),
    };
  }

  private source(): string {
    const { controlPlanes = [], bundle = '', authorityFile = '' } = this.config;
    return [...controlPlanes, bundle, authorityFile].join(' ');
  }
}

/** Returns why configured files cannot be read, one line each, with the field. */
export function listUnreadable({
  bundle,
  tokenFile,
  authorityFile,
}: Omit<ZoneSources, 'controlPlanes'>): readonly string[] {
  const reads: readonly (() => unknown)[] = [
    () => bundle !== undefined && readBundle(bundle),
    () => tokenFile !== undefined && readToken(tokenFile),
    () => authorityFile !== undefined && readSourceFile(authorityFile, 'authorityFile'),
  ];
  return reads.flatMap((read) => {
    try {
      read();
      return [];
    } catch (error) {
      return [errorText(error)];
    }
  });
}

function readTextIfPresent(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readBundle(file: string): JoinBundle {
  const read = readJoinBundle(readSourceFile(file, 'bundle'));
  if (!read.ok) throw new Error(`bundle: ${file} ${read.violation.reason}`);
  return read.bundle;
}

/** Reads a bearer token (RFC 6750 §2.1). Throws with the field if the file contains none. */
function readToken(file: string): string {
  const token = readSourceFile(file, 'tokenFile').trim();
  if (token === '') throw new Error(`tokenFile: ${file} is empty`);
  if (!/^[\w.~+/-]+=*$/.test(token)) throw new Error(`tokenFile: ${file} must hold one token and nothing else`);
  return token;
}

/** Throws with the field that names the file. */
function readSourceFile(file: string, field: keyof ZoneSources): string {
  try {
    const stat = statSync(file);
    if (!stat.isFile() || stat.size > MAX_BUNDLE_LENGTH)
      throw new Error(`must be a file of at most ${MAX_BUNDLE_LENGTH} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${field}: ${formatReason(error, file)}`, { cause: error });
  }
}

function formatReason(error: unknown, file: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return `there is no file ${file}`;
  return code === 'EACCES' ? `${file} cannot be read by this user` : `${file}: ${errorText(error)}`;
}

import { zoneTokenFacts } from '@causeway/access';
import { boundedText, type ControlPlaneCore, type Validity } from '@causeway/control-plane';
import { CredentialsMissing, type ZoneTokenSource } from '@causeway/kds';
import { errorText, type Logger } from '@causeway/runtime';
import { zoneTokenFault, type ZoneSettings } from '../config';
import type { KeptToken, KeptZoneToken } from './kept-zone-token';

/** Maximum size of a token file, KiB. */
const MAX_KIB = 64;

/** The settings that locate the token, and the zone that it must belong to. */
type ZoneTokenSettings = Pick<ZoneSettings, 'CAUSEWAY_ZONE_NAME' | 'CAUSEWAY_ZONE_TOKEN' | 'CAUSEWAY_ZONE_TOKEN_FILE'>;

/** The token that a zone shows, for its renewal. */
export interface TokenLife {
  readonly text: string;
  readonly id: string | undefined;
  /** Since when its life counts, by this machine's clock, ms since 1970. */
  readonly from: number;
  /** ms. */
  readonly validity: number;
  /** ms since 1970. */
  readonly expiresAt: number;
  readonly isRenewable: boolean;
}

/**
 * The zone token: that of the settings, whose value and file are both read again, or the renewed one that the zone's store keeps, if the former was
 * not issued later. A text that is not a token of this zone is ignored and logged once. If
 * the global refuses a new token, the previous token that it accepted is used until the global refuses that too: a mistake of the operator has no
 * effect before the previous token expires.
 */
export class ZoneToken implements ZoneTokenSource {
  private readonly listeners = new Set<() => void>();
  /** Reason for which the token was not renewed when that was due; undefined if it was, or is not due. Set by the leader. */
  notRenewed: string | undefined;
  /** The token of the settings. */
  private given: string | undefined;
  /** The renewed one. */
  private kept: KeptToken | undefined;
  private source: Pick<KeptZoneToken, 'read'> | undefined;
  /** The last token that the global accepted. */
  private proven: string | undefined;
  private isNewestRefused = false;
  private lastFault: Error | undefined;

  constructor(
    private readonly settings: ZoneTokenSettings,
    private readonly logger: Logger,
  ) {
    this.given = settings.CAUSEWAY_ZONE_TOKEN;
  }

  /** The token of the settings, or the kept one unless the former was issued later. */
  private get newest(): string | undefined {
    const { given, kept } = this;
    if (given === undefined || kept === undefined) return given ?? kept?.token;
    return readIssue(given) > readIssue(kept.token) ? given : kept.token;
  }

  /** Creates the token of a program, which follows its settings. */
  static follow({ settings, logger, reload }: ControlPlaneCore<ZoneSettings>): ZoneToken {
    const token = new ZoneToken(settings, logger);
    reload.on('CAUSEWAY_ZONE_TOKEN', (given) => token.replace(given));
    reload.onCheck(() => {
      token.checkFile();
      void token.refresh();
    });
    return token;
  }

  /** The reason why the newest token of the settings is not used; undefined if it is. */
  get fault(): string | undefined {
    return this.lastFault && errorText(this.lastFault);
  }

  /** Validity period of the token in use; undefined if it has none. */
  get validity(): Validity | undefined {
    const { issuedAt, expiresAt } = (this.shown === undefined ? undefined : zoneTokenFacts(this.shown)) ?? {};
    return issuedAt === undefined || expiresAt === undefined ? undefined : { start: issuedAt, end: expiresAt };
  }

  /** The token that is shown; undefined if there is none, or its times are unknown. */
  get life(): TokenLife | undefined {
    const text = this.shown;
    const {
      id,
      issuedAt,
      expiresAt,
      isRenewable = false,
    } = (text === undefined ? undefined : zoneTokenFacts(text)) ?? {};
    if (text === undefined || issuedAt === undefined || expiresAt === undefined) return undefined;
    const from = text === this.kept?.token ? this.kept.receivedAt : issuedAt;
    return { text, id, from, validity: expiresAt - issuedAt, expiresAt, isRenewable };
  }

  /** Reads the kept token from now on. */
  useKept(source: Pick<KeptZoneToken, 'read'>): void {
    this.source = source;
  }

  async refresh(): Promise<void> {
    try {
      const kept = await this.source?.read();
      if (kept) this.keep(kept);
    } catch (error) {
      this.logger.debug('the kept zone token could not be read', { error: errorText(error) });
    }
  }

  /** Applies a renewed token. */
  keep(kept: KeptToken): void {
    if (kept.token === this.kept?.token || this.faultOf(kept.token) !== undefined) return;
    const before = this.newest;
    this.kept = kept;
    if (this.replaced(before)) this.notifyListeners();
  }

  /** Returns why a text is no token of this zone; undefined if it is one. */
  faultOf(text: string): string | undefined {
    try {
      checkedToken(text, this.settings.CAUSEWAY_ZONE_NAME);
      return undefined;
    } catch (error) {
      return errorText(error);
    }
  }

  current(): string | undefined {
    this.readFile();
    if (this.newest === undefined && this.lastFault) throw this.lastFault;
    return this.shown;
  }

  accepted(token: string | undefined): void {
    this.proven = token;
  }

  refused(token: string | undefined, reason: string): void {
    const { newest, proven, given } = this;
    const kept = this.kept?.token;
    const other = newest === kept ? given : kept;
    if (token === newest && proven === undefined && other !== undefined && other !== newest) {
      this.proven = other;
      this.isNewestRefused = true;
      this.logger.error('the global refuses the zone token: the other one of settings and store is shown', { reason });
    } else if (token === proven) {
      this.proven = undefined;
      this.isNewestRefused = false;
    } else if (token === newest && proven !== undefined) {
      this.isNewestRefused = true;
      this.logger.error('the global refuses the new zone token: the former one is shown', { reason });
    }
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Reads the file. Never throws. */
  checkFile(): void {
    if (this.readFile()) this.notifyListeners();
  }

  /** Applies another value of CAUSEWAY_ZONE_TOKEN. */
  replace(given: string | undefined): void {
    if (given === undefined)
      this.logger.warn('the zone token was taken away: the former one is shown until the next start', {
        setting: 'CAUSEWAY_ZONE_TOKEN',
      });
    else if (this.take('CAUSEWAY_ZONE_TOKEN', () => given)) this.notifyListeners();
  }

  private get shown(): string | undefined {
    return this.isNewestRefused ? this.proven : this.newest;
  }

  /** Returns whether the file has another token than before. */
  private readFile(): boolean {
    const { CAUSEWAY_ZONE_TOKEN_FILE: file } = this.settings;
    return file !== undefined && this.take('CAUSEWAY_ZONE_TOKEN_FILE', () => tokenIn(file));
  }

  /** Returns whether a source has another token than before; an invalid one is ignored. */
  private take(setting: string, read: () => string): boolean {
    const before = this.newest;
    try {
      const token = checkedToken(read(), this.settings.CAUSEWAY_ZONE_NAME);
      this.lastFault = undefined;
      if (token === this.given) return false;
      this.given = token;
    } catch (error) {
      this.failed(setting, error);
      return false;
    }
    if (before === this.newest)
      this.logger.info('the zone token of the settings was not issued after the renewed one, which is shown', {
        id: readId(this.given),
        shownId: readId(this.newest),
      });
    return this.replaced(before);
  }

  /** Returns whether another token is shown than `before`, and logs that. */
  private replaced(before: string | undefined): boolean {
    const { newest } = this;
    if (newest === undefined || newest === before) return false;
    this.isNewestRefused = false;
    if (before === undefined) return false;
    const { id, expiresAt } = zoneTokenFacts(newest) ?? {};
    const ends = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
    this.logger.info('the zone token was replaced', { id, formerId: readId(before), ...ends });
    return true;
  }

  private failed(setting: string, cause: unknown): void {
    const reason = `${setting}: ${errorText(cause)}`;
    if (reason === this.fault) return;
    const Failure = cause instanceof CredentialsMissing ? CredentialsMissing : Error;
    this.lastFault = new Failure(reason, { cause });
    // Without any token yet, the session that waits for one logs that.
    if (this.newest !== undefined) this.logger.error('the zone token stays as it was', { reason });
  }

  private notifyListeners(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

/** Returns when a token was issued, ms since 1970; 0 if it does not say. */
function readIssue(token: string): number {
  return zoneTokenFacts(token)?.issuedAt ?? 0;
}

function readId(token: string | undefined): string | undefined {
  return token === undefined ? undefined : zoneTokenFacts(token)?.id;
}

/** Throws `CredentialsMissing` if there is no file: the token is expected later. */
function tokenIn(file: string): string {
  try {
    return boundedText(file, MAX_KIB).trim();
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw isMissing ? new CredentialsMissing(errorText(cause), { cause }) : cause;
  }
}

/** Returns the token if it belongs to this zone. Only the global knows whether it is valid. */
function checkedToken(token: string, zone: string): string {
  const fault = token === '' ? 'must not be empty' : zoneTokenFault(token);
  if (fault !== undefined) throw new Error(fault);
  const { zone: of } = zoneTokenFacts(token) ?? {};
  if (of !== zone) throw new Error(`must be a token of zone "${zone}"; got one of zone "${of}"`);
  return token;
}

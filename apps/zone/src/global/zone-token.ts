import { zoneTokenFacts } from '@causeway/access';
import { boundedText, type ControlPlaneCore, type Validity } from '@causeway/control-plane';
import { CredentialsMissing, type ZoneTokenSource } from '@causeway/kds';
import { errorText, type Logger } from '@causeway/runtime';
import { zoneTokenFault, type ZoneSettings } from '../config';

/** Maximum size of a token file, KiB. */
const MAX_KIB = 64;

/** The settings that locate the token, and the zone that it must belong to. */
type ZoneTokenSettings = Pick<ZoneSettings, 'CAUSEWAY_ZONE_NAME' | 'CAUSEWAY_ZONE_TOKEN' | 'CAUSEWAY_ZONE_TOKEN_FILE'>;

/**
 * The zone token of the settings; both the value and the file are read again. A text that is not a token of this zone is ignored and logged once. If
 * the global refuses a new token, the previous token that it accepted is used until the global refuses that too: a mistake of the operator has no
 * effect before the previous token expires.
 */
export class ZoneToken implements ZoneTokenSource {
  private readonly listeners = new Set<() => void>();
  private newest: string | undefined;
  /** The last token that the global accepted. */
  private proven: string | undefined;
  private isNewestRefused = false;
  private lastFault: Error | undefined;

  constructor(
    private readonly settings: ZoneTokenSettings,
    private readonly logger: Logger,
  ) {
    this.newest = settings.CAUSEWAY_ZONE_TOKEN;
  }

  /** Creates the token of a program, which follows its settings. */
  static follow({ settings, logger, reload }: ControlPlaneCore<ZoneSettings>): ZoneToken {
    const token = new ZoneToken(settings, logger);
    reload.on('CAUSEWAY_ZONE_TOKEN', (given) => token.replace(given));
    reload.onCheck(() => token.checkFile());
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

  current(): string | undefined {
    this.readFile();
    if (this.newest === undefined && this.lastFault) throw this.lastFault;
    return this.shown;
  }

  accepted(token: string | undefined): void {
    this.proven = token;
  }

  refused(token: string | undefined, reason: string): void {
    const { newest, proven } = this;
    if (token === proven) {
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
      if (token === before) return false;
      this.newest = token;
    } catch (error) {
      this.failed(setting, error);
      return false;
    }
    this.isNewestRefused = false;
    if (before === undefined) return false;
    const { id, expiresAt } = zoneTokenFacts(this.newest) ?? {};
    const ends = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
    this.logger.info('the zone token was replaced', { id, ...ends });
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

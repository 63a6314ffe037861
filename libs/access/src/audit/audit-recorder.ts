import { Invalid, type DomainError } from '@causeway/resources';
import {
  errorText,
  TokenBuckets,
  type Clock,
  type Logger,
  type Rate,
  type RequestTrace,
  type Timer,
} from '@causeway/runtime';
import { auditFields, auditSource, auditText, type AuditLog, type AuditRecord } from '@causeway/store';
import type { AuditInterface, AuditSource, AuditSubject } from '@causeway/store';
import type { Caller } from '../authorization/caller';

/** Maximum number of queued refusals, and of refusals in one statement. */
const MAX_WAITING = 1_000;
const BATCH = 500;
/**
 * Delay between the first queued refusal and the statement, ms. With BATCH it bounds the load of refusals on the
 * database.
 */
const BATCH_DELAY = 500;

/** Rate of recorded refusals of one address, so that one caller cannot displace the refusals of others. */
const RATE_PER_ADDRESS: Rate = { perSecond: 20, burst: 100 };

/** Maximum number of fields of a refused document that the reason names. */
const MAX_FIELDS = 5;

/** Origin of a request, as its connection shows it. */
export interface CallerOrigin {
  readonly address: string;
  readonly via: AuditInterface;
  readonly userAgent: string | undefined;
  /** The id of the request. */
  readonly requestId?: string | undefined;
  readonly trace?: RequestTrace | undefined;
}

/** Entries that the recorder has not stored. */
export interface AuditRecorderStatus {
  readonly waiting: number;
  /** Refusals that were not recorded since the start: too many arrived, or the database was unavailable. */
  readonly dropped: number;
}

/** Dependencies of an AuditRecorder. */
export interface AuditRecorderParts {
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface WaitingRefusal {
  readonly record: AuditRecord;
  /** By `Clock.elapsed`. */
  readonly at: number;
}

/** Returns caller and origin of a request, for the context of a write and for the recorder. */
export function toAuditSource({ user, groups, by, tokenId }: Caller, origin: CallerOrigin): AuditSource {
  const { address, via, userAgent = '', requestId, trace } = origin;
  const ids = { tokenId, requestId, traceId: trace?.traceId };
  return auditSource({ user, groups, recognizedBy: by, address, via, userAgent, ...ids });
}

/**
 * Formats why a request was refused for the audit log. For Invalid it names the fields and repeats no value, since a
 * value may be a secret; `confidential` leaves out the fields too: their names may come from the user.
 */
export function refusalReason(error: DomainError, confidential: boolean): string {
  if (!(error instanceof Invalid)) return auditText(`${error.type}: ${error.message}`);
  const fields = error.violations.slice(0, MAX_FIELDS).map(({ field }) => field);
  const more = error.total > fields.length ? ', …' : '';
  const named = confidential || fields.length === 0 ? '' : `: ${fields.join(', ')}${more}`;
  return auditText(`Invalid: ${error.total} field${error.total === 1 ? '' : 's'}${named}`);
}

/**
 * Records in the audit log what no write records: activities before their response is sent, and refusals without
 * delaying the response. Interfaces share one recorder.
 */
export class AuditRecorder {
  private readonly waiting: WaitingRefusal[] = [];
  private readonly rates: TokenBuckets;
  private dropped = 0;
  private reported = 0;
  private timer: Timer | undefined;
  private storing: Promise<void> | undefined;

  constructor(private readonly parts: AuditRecorderParts) {
    this.rates = new TokenBuckets(RATE_PER_ADDRESS, parts.clock);
  }

  /** Queues a refusal; drops and counts it if too many are queued or come from one address. */
  refused(source: AuditSource, subject: AuditSubject, reason: string): void {
    if (this.waiting.length >= MAX_WAITING || this.rates.take(source.address) !== undefined) {
      this.dropped += 1;
      return;
    }
    const record = {
      ...source,
      ...boundedSubject(subject),
      result: 'refused',
      reason: auditText(reason),
      age: 0,
    } as const;
    this.waiting.push({ record, at: this.parts.clock.elapsed() });
    this.parts.logger.info('audit', auditFields(source, record, { result: 'refused', reason: record.reason }));
    this.schedule();
  }

  /**
   * Records an activity that has happened. Throws Unavailable if it cannot be recorded: then the caller must not report
   * success.
   */
  async done(source: AuditSource, subject: AuditSubject): Promise<void> {
    const record = { ...source, ...boundedSubject(subject), result: 'done', reason: '', age: 0 } as const;
    this.parts.logger.info('audit', auditFields(source, record, { result: 'done' }));
    await this.parts.log.record([record]);
  }

  status(): AuditRecorderStatus {
    return { waiting: this.waiting.length, dropped: this.dropped };
  }

  /** Stores queued entries; call it when no more are recorded. */
  async close(): Promise<void> {
    this.timer?.cancel();
    await this.storing;
    while (this.waiting.length > 0) await this.store();
  }

  private schedule(): void {
    if (this.timer || this.storing) return;
    this.timer = this.parts.clock.after(BATCH_DELAY, () => {
      this.timer = undefined;
      this.storing = this.store().finally(() => {
        this.storing = undefined;
        if (this.waiting.length > 0) this.schedule();
      });
    });
  }

  /** Drops refusals that cannot be stored; the log of the program has them. */
  private async store(): Promise<void> {
    const { log, clock, logger } = this.parts;
    const batch = this.waiting.splice(0, BATCH);
    try {
      await log.record(batch.map(({ record, at }) => ({ ...record, age: Math.max(0, clock.elapsed() - at) })));
    } catch (error) {
      this.dropped += batch.length;
      logger.warn('refusals could not be written to the audit log', {
        refusals: batch.length,
        error: errorText(error),
      });
    }
    if (this.dropped > this.reported) logger.warn('refusals are missing in the audit log', { dropped: this.dropped });
    this.reported = this.dropped;
  }
}

function boundedSubject({ verb, kind, mesh, zone, namespace, name, activity }: AuditSubject): AuditSubject {
  return {
    verb: auditText(verb),
    kind: auditText(kind),
    mesh: auditText(mesh),
    zone: auditText(zone),
    namespace: auditText(namespace),
    name: auditText(name),
    activity: auditText(activity),
  };
}

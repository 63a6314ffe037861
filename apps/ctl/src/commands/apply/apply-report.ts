import type { ApplyResult } from '@causeway/api-client';
import type { CommandContext } from '../../context';
import { formatApiError } from '../../control-plane';
import { unifiedDiff } from '../../diff';
import { StatusLine } from '../../printer';
import { printWarnings } from '../delete';
import type { BatchProgress, DocumentResult } from './batches';

/** Maximum number of documents whose results are listed one by one; above it only refused ones and a summary. */
const MAX_LISTED = 100;
/** Maximum number of listed refused documents. */
const MAX_REFUSED = 50;

/** Prints the results of an apply, and counts them. */
export class ApplyReport {
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly context: CommandContext,
    private readonly documents: number,
    private readonly dryRun: boolean,
  ) {}

  get failures(): number {
    return this.count('refused') + this.count('skipped');
  }

  /** Prints a result; `more` prints the lines below its first one. */
  async result(reported: DocumentResult, more: () => Promise<void>): Promise<void> {
    const { result } = reported;
    const { outcome } = result;
    this.counts.set(outcome, this.count(outcome) + 1);
    if (outcome === 'refused') return this.refused(reported);
    const isShort = this.documents > MAX_LISTED && (!this.dryRun || outcome === 'unchanged');
    if (outcome === 'skipped' || isShort) return;
    this.context.print(`${whoIs(result)} ${outcome}${this.dryRun ? ' (dry run)' : ''}`);
    printWarnings(this.context, result.warnings);
    await more();
    if (this.dryRun) this.diff(result);
  }

  /** Prints the number of documents by outcome, if they were not all listed or nothing was written. */
  end(): void {
    const [refused, skipped] = [this.count('refused'), this.count('skipped')];
    if (refused > MAX_REFUSED) this.context.printError(`... and ${refused - MAX_REFUSED} more documents are refused`);
    if (this.documents > MAX_LISTED) {
      const counts = [...this.counts].map(([outcome, count]) => `${count} ${outcome}`);
      this.context.print(`${this.documents} documents: ${counts.join(', ')}${this.dryRun ? ' (dry run)' : ''}`);
    }
    if (skipped > 0) this.context.printError(`nothing was written: ${refused} of ${this.documents} documents refused`);
  }

  private refused({ document, result, same }: DocumentResult): void {
    if (this.count('refused') > MAX_REFUSED) return;
    const who = whoIs(result);
    const name = who === '' ? '' : `${who}: `;
    const { file } = document;
    if (same) {
      this.context.printError(
        `${file}:${document.placeOf('name')}: ${name}stands twice; the other is at ${same.file}:${same.placeOf('name')}`,
      );
      return;
    }
    const { error } = result;
    for (const { field, reason } of error?.violations ?? []) {
      this.context.printError(
        `${file}:${document.placeOf(field)}: ${name}${field === '' ? '' : `${field}: `}${reason}`,
      );
    }
    if (error?.violations.length === 0)
      this.context.printError(`${file}:${document.placeOf('')}: ${name}${formatApiError(error)}`);
  }

  private diff({ diff }: ApplyResult): void {
    if (!diff?.before) return;
    for (const each of unifiedDiff(diff.before, diff.after, this.context.paint)) this.context.print(each);
  }

  private count(outcome: string): number {
    return this.counts.get(outcome) ?? 0;
  }
}

/** Returns `MeshService redis`; empty for a document that names no resource. */
export function whoIs({ id }: ApplyResult): string {
  return id ? `${id.kind} ${id.name}` : '';
}

/** A progress line of a batch on the terminal; nothing if standard error is not a terminal. */
export class ProgressLine {
  private readonly line = new StatusLine();

  show({ checked, written, total }: BatchProgress): void {
    this.line.show(`${checked} of ${total} checked, ${written} written`);
  }

  clear(): void {
    this.line.clear();
  }
}

import type { FinishedAnswer } from '../answer/finished-answer';
import { nameText, type WireName } from '../wire/wire-name';

/** The top of names that we answer for: a suffix, or a hostname outside all suffixes. */
export class Apex {
  readonly text: string;
  /** Serial the finished answers below carry. */
  serial = -1;
  noData: FinishedAnswer | undefined;
  nxDomain: FinishedAnswer | undefined;

  constructor(
    readonly name: WireName,
    readonly isSuffix: boolean,
  ) {
    this.text = nameText(name);
  }
}

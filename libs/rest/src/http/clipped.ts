import { shortened } from '@causeway/resources';

/** How much of what a client sent its error answer repeats. */
const LONGEST = 200;

/** A text as an error answer may repeat it: its first characters, 200 unless told. */
export function clipped(text: string, longest = LONGEST): string {
  return shortened(text, longest + 1, '…');
}

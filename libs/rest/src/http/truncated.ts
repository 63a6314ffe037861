import { shortened } from '@causeway/resources';

/** How much of what a client sent its error answer repeats. */
const MAX_ECHOED = 200;

/** A text as an error answer may repeat it: its first characters, 200 unless told. */
export function truncated(text: string, longest = MAX_ECHOED): string {
  return shortened(text, longest + 1, '…');
}

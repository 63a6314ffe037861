/** How much of what a client sent its error answer repeats. */
const LONGEST = 200;

/** A text as an error answer may repeat it: at most 200 characters of it. */
export function clipped(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

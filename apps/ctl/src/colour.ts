import { randomBytes } from 'node:crypto';

/** The colours of a terminal that the output uses. */
export type Colour = 'green' | 'yellow' | 'red';

/** Colours a text; returns it unchanged if the output has no colours. */
export type Paint = (colour: Colour | undefined, text: string) => string;

const CODES: Readonly<Record<Colour, number>> = { green: 32, yellow: 33, red: 31 };

/** The code that ends a colour. */
const PLAIN = 39;

/** The secret in the marks of colours, drawn in each run: no text of a server contains it, so only the program's own colours are printed. */
const NONCE = randomBytes(12).toString('hex');
const mark = (code: number): string => `\uE000${NONCE}:${code}\uE001`;
const MARKS = new RegExp(`\uE000${NONCE}:(\\d+)\uE001`, 'gu');

/** Returns the painter of texts: colours on terminals, unless `NO_COLOR` is set (https://no-color.org). */
export function painter(on: boolean): Paint {
  return (colour, text) => (on && colour && text !== '' ? `${mark(CODES[colour])}${text}${mark(PLAIN)}` : text);
}

/** Returns the text without the marks of its colours, at its printed width. */
export const withoutColours = (text: string): string => text.replace(MARKS, '');

/** Replaces the marks of colours by terminal codes. */
export const withColours = (text: string): string => text.replace(MARKS, (_, code: string) => `\u001B[${code}m`);

const GOOD = /^(Available|Online|Ready|Active|True|true|yes)\b/;
const BAD = /^(Unavailable|NotAvailable|Offline|NotReady|Rejecting|False|false|no)\b/;
const UNSURE = /^(Lagging|Unknown|Ignored|PartiallyReady|away)\b/;

/** Returns the colour of a state: green for good, red for bad, yellow for unknown or partly good. */
export function chooseColour(state: string): Colour | undefined {
  if (GOOD.test(state)) return 'green';
  if (BAD.test(state)) return 'red';
  return UNSURE.test(state) ? 'yellow' : undefined;
}

/** The colours of a terminal that the output uses. */
export type Colour = 'green' | 'yellow' | 'red';

/** Colours a text, or returns it as it is where the output has no colours. */
export type Paint = (colour: Colour | undefined, text: string) => string;

const CODES: Readonly<Record<Colour, number>> = { green: 32, yellow: 33, red: 31 };

/** How a text is coloured: on terminals, unless `NO_COLOR` is set (https://no-color.org). */
export function painter(on: boolean): Paint {
  return (colour, text) => (on && colour && text !== '' ? `\u001B[${CODES[colour]}m${text}\u001B[39m` : text);
}

const GOOD = /^(Available|Online|Ready|Active|True|true|yes)\b/;
const BAD = /^(Unavailable|NotAvailable|Offline|NotReady|Rejecting|False|false|no)\b/;
const UNSURE = /^(Lagging|Unknown|Ignored|PartiallyReady|away)\b/;

/** The colour of a state: green where all is well, red where not, yellow where it is not known or only in part so. */
export function colourOf(state: string): Colour | undefined {
  if (GOOD.test(state)) return 'green';
  if (BAD.test(state)) return 'red';
  return UNSURE.test(state) ? 'yellow' : undefined;
}

import { shortened } from './violation';

/**
 * Characters that do something to a terminal or to the order of a line instead of being shown: controls (C0, DEL, C1), half surrogates,
 * formats (bidi controls, tags, invisible ones) and separators of lines. Joiners (U+200C, U+200D) are letters' business and are kept.
 */
const UNPRINTABLE = /(?![\u200C\u200D])[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The same but line feeds and tabs, which texts of several lines have. */
const UNPRINTABLE_IN_LINES = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/gu;

const WHITE_SPACE = /[\n\r\t]/;

/**
 * A text of an agent, a proxy or a peer as a control plane takes it in: at most `most` characters in one line, each of them printable.
 * White space is a blank and any other control a question mark. With `lines` line feeds and tabs stay.
 */
export function printableText(text: string, most: number, { lines = false } = {}): string {
  const unprintable = lines ? UNPRINTABLE_IN_LINES : UNPRINTABLE;
  return shortened(text, most, '…').replace(unprintable, (found) => (WHITE_SPACE.test(found) ? ' ' : '?'));
}

/** A text of others as it is shown: in one line, controls as `\n`, `\u001b`. Returns the text itself where it has none. */
export function escapedLine(text: string): string {
  return text.replace(UNPRINTABLE, (found) => SHORT[found] ?? escapeUnits(found));
}

/** As `escapedLine`, of a text of several lines: line feeds and tabs stay. JSON that went through it is the same value. */
export function escapedLines(text: string): string {
  return text.replace(UNPRINTABLE_IN_LINES, escapeUnits);
}

/** As `escapedLines`, in the escapes that YAML reads in double quotes. */
export function escapedYaml(text: string): string {
  return text.replace(UNPRINTABLE_IN_LINES, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : escapeUnits(found);
  });
}

/** Whether a text has anything that `escapedLines` escapes. */
export function hasUnprintable(text: string): boolean {
  return text.search(UNPRINTABLE_IN_LINES) >= 0;
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One character as the escapes of its code units. */
function escapeUnits(found: string): string {
  const units = Array.from({ length: found.length }, (_, i) => found.charCodeAt(i).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\u${unit}`).join('');
}

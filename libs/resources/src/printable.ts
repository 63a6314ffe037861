import { shortened } from './violation';

/**
 * Characters that control a terminal or the order of a line instead of being shown: controls (C0, DEL, C1), lone surrogates,
 * formats (bidi controls, tags, invisible ones) and line separators. Joiners (U+200C, U+200D) are parts of words and allowed.
 */
const UNPRINTABLE = /(?![\u200C\u200D])[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The same set without line feeds and tabs, for multi-line texts. */
const UNPRINTABLE_IN_LINES = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/gu;

const WHITE_SPACE = /[\n\r\t]/;

/**
 * Cleans a text of an agent, a proxy or a peer: at most `most` printable characters in one line. White space becomes a
 * blank, other controls a question mark. With `lines`, line feeds and tabs stay.
 */
export function printableText(text: string, most: number, { lines = false } = {}): string {
  const unprintable = lines ? UNPRINTABLE_IN_LINES : UNPRINTABLE;
  return shortened(text, most, '…').replace(unprintable, (found) => (WHITE_SPACE.test(found) ? ' ' : '?'));
}

/** Escapes foreign text for display in one line, controls as `\n`, `\u001b`. Returns the text itself if it has none. */
export function escapedLine(text: string): string {
  return text.replace(UNPRINTABLE, (found) => SHORT[found] ?? escapeUnits(found));
}

/** Like `escapedLine` for multi-line text: line feeds and tabs stay. Escaped JSON still has the same value. */
export function escapedLines(text: string): string {
  return text.replace(UNPRINTABLE_IN_LINES, escapeUnits);
}

/** Like `escapedLines`, with the escapes of double-quoted YAML. */
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

/** Returns one character as the escapes of its code units. */
function escapeUnits(found: string): string {
  const units = Array.from({ length: found.length }, (_, i) => found.charCodeAt(i).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\u${unit}`).join('');
}

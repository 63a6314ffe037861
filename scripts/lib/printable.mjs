/** Characters that a terminal interprets instead of showing them, as in libs/resources/src/printable.ts; this runs before anything is built. */
const UNPRINTABLE = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text of servers and services as it is shown: controls as their escapes. Line feeds and tabs stay. */
export function printable(text) {
  return String(text).replace(UNPRINTABLE, (found) =>
    Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
}

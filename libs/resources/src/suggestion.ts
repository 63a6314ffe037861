/** Maximum length of a word: longer ones are no typing errors, and comparing two words costs the product of their lengths. */
const MAX_WORD_LENGTH = 64;

/**
 * Returns the candidate nearest to `word` if `word` is likely a typing error of it, or one that contains `word`
 * (`protocol` in `appProtocol`); otherwise undefined.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return (
    best ?? candidates.find((candidate) => word.length >= 4 && candidate.toLowerCase().includes(word.toLowerCase()))
  );
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap));
    }
    row = next;
  }
  return row[b.length] ?? limit;
}

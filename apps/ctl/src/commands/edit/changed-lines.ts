/** Lines of a text that are compared; beyond them only the head is. */
const MAX_LINES = 2_000;

/** What changed between two texts, line by line: `- ` before a line that went, `+ ` before one that came. */
export function changedLines(before: string, after: string): readonly string[] {
  const [a, b] = [before, after].map((text) => text.trimEnd().split('\n').slice(0, MAX_LINES));
  return a && b ? walk(a, b, commonLengths(a, b)) : [];
}

/** For each pair of ends of both texts: how many lines the longest common subsequence has. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint16Array[] {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    const [row, below] = [rows[i], rows[i + 1]];
    if (!row || !below) continue;
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return rows;
}

function walk(a: readonly string[], b: readonly string[], common: readonly Uint16Array[]): string[] {
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0))) {
      lines.push(`- ${a[i++]}`);
    } else lines.push(`+ ${b[j++]}`);
  }
  return lines;
}

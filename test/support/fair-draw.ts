/** Standard deviations within which 99.9 % of all fair draws are. */
const BOUND = 3.2905;

/** Returns the bounds that the count of a share of `total` keeps in so many fair draws in 99.9 % of all cases. */
function fairBounds(draws: number, weight: number, total: number): readonly [least: number, most: number] {
  const share = weight / total;
  const around = BOUND * Math.sqrt(draws * share * (1 - share));
  return [Math.max(0, Math.floor(draws * share - around)), Math.min(draws, Math.ceil(draws * share + around))];
}

/** The shares that are outside of these bounds, in words; empty where the draw is fair. An answer without a weight is unfair. */
function unfairShares(answers: readonly string[], weights: Readonly<Record<string, number>>): readonly string[] {
  const counts = new Map<string, number>(Object.keys(weights).map((name) => [name, 0]));
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  return [...counts].flatMap(([name, count]) => {
    const [least, most] = fairBounds(answers.length, weights[name] ?? 0, total);
    return count < least || count > most ? [`${name}: ${count} of ${answers.length}, not ${least} to ${most}`] : [];
  });
}

/**
 * Draws until one draw is fair, at most three times: an unfair sharer is found each time, a fair one is missed once in 10^8. Returns the deviation of
 * the last draw.
 */
export async function drawnFairly(
  draw: () => Promise<readonly string[]>,
  weights: Readonly<Record<string, number>>,
): Promise<readonly string[]> {
  let unfair: readonly string[] = [];
  for (let tries = 0; tries < 3; tries += 1) {
    unfair = unfairShares(await draw(), weights);
    if (unfair.length === 0) return unfair;
  }
  return unfair;
}

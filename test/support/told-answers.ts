import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Answers requests as their header `x-do` says: `hold` leaves one without an answer, `503` answers so; with a number after it only the first so many
 * attempts of the request of this `x-id`. Any other attempt is answered at once.
 */
export class ToldAnswers {
  private readonly attempts = new Map<string, number>();
  private readonly held = new Set<() => void>();

  /** Returns how often processes got the request of this id. */
  attemptsOf(id: string): number {
    return this.attempts.get(id) ?? 0;
  }

  /** Answers a request by `answer`, or in the way that it asks for. */
  take({ headers }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    const id = String(headers['x-id'] ?? '');
    const attempt = this.attemptsOf(id) + 1;
    if (id !== '') this.attempts.set(id, attempt);
    const [what = '', most = 'Infinity'] = String(headers['x-do'] ?? '').split(' ');
    if (what === '' || attempt > Number(most)) return answer();
    if (what !== 'hold') return void response.writeHead(Number(what)).end();
    this.held.add(answer);
    response.once('close', () => this.held.delete(answer));
  }

  /** Returns how many requests wait. */
  get waiting(): number {
    return this.held.size;
  }

  /** Answers all that wait. */
  release(): void {
    for (const answer of this.held) answer();
    this.held.clear();
  }
}

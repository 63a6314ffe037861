import { setTimeout as pause } from 'node:timers/promises';
import type { ReplicatedPlane } from './replicated-plane';
import type { Findings } from './findings';
import { adminFetch } from '../support/admin-credential';

/** The label with the number of a resource's write. */
export const WRITE = 'upgrade/write';
/** The bound of every wait, ms: for an answer, with another replica by turns, and for a write at another place. A busy machine is no failure. */
export const LONGEST = 180_000;
/** Before another replica is asked, ms. */
const AGAIN = 50;

/** A resource as a write is to leave it. */
export interface Document {
  readonly type: string;
  readonly name: string;
  readonly mesh?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: unknown;
}

/** The writes of one user at one control plane, one after the other, and their answers. */
export class AnsweredWrites {
  /** By path, the number of its newest answered write; undefined where that deleted it. */
  private readonly last = new Map<string, string | undefined>();
  private turn = 0;

  constructor(
    private readonly plane: ReplicatedPlane,
    private readonly findings: Findings,
  ) {}

  get entries(): ReadonlyMap<string, string | undefined> {
    return this.last;
  }

  /** Puts a resource, at another replica where one does not answer; the number of the write is a label of it. */
  async put(path: string, document: Document): Promise<void> {
    const write = String(++this.turn);
    const labels = { ...document.labels, [WRITE]: write };
    await this.answered(path, { method: 'PUT', body: JSON.stringify({ ...document, labels }) }, [200, 201]);
    this.last.set(path, write);
  }

  /** Deletes one. A second try finds that the first, which was not answered, has done it. */
  async delete(path: string): Promise<void> {
    this.turn += 1;
    await this.answered(path, { method: 'DELETE' }, [200, 404]);
    this.last.set(path, undefined);
  }

  private async answered(path: string, request: RequestInit, good: readonly number[]): Promise<void> {
    const deadline = performance.now() + LONGEST;
    let said = '';
    for (let n = this.turn; performance.now() < deadline; n++) {
      const { status, text } = await send(this.plane.any(n).restUrl + path, request);
      if (good.includes(status)) return this.findings.count('writes');
      if (status >= 400 && status < 500 && status !== 409 && status !== 429)
        throw new Error(`${this.plane.name} refused ${request.method} ${path}: ${status} ${text}`);
      said = `${status} ${text}`;
      this.findings.count('writes_sent_again');
      await pause(AGAIN);
    }
    throw new Error(`${this.plane.name} did not answer ${request.method} ${path} for ${LONGEST} ms: ${said}`);
  }
}

/** Status 0 if no server answered. */
async function send(url: string, request: RequestInit): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const headers = { 'content-type': 'application/json' };
    const answer = await adminFetch(url, { ...request, headers });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

import { ExhaustedError } from './call-error';

/** Limits concurrent streams of one type, in total and per client; further ones are refused. */
export class ConcurrentStreams {
  private open = 0;
  private readonly clients = new Map<string, number>();

  constructor(
    private readonly most: number,
    /** Noun for messages, as in "64 lists are under way". */
    private readonly what: string,
    private readonly maxPerClient = most,
  ) {}

  /** Counts a stream of a client, by its address, until the returned function is called. Throws ExhaustedError. */
  enter(client = ''): () => void {
    const own = this.clients.get(client) ?? 0;
    if (this.open >= this.most) throw new ExhaustedError(`${this.open} ${this.what} under way; try again`);
    if (own >= this.maxPerClient) throw new ExhaustedError(`${own} ${this.what} under way from this address`);
    this.open += 1;
    this.clients.set(client, own + 1);
    return () => this.leave(client);
  }

  private leave(client: string): void {
    this.open -= 1;
    const left = (this.clients.get(client) ?? 1) - 1;
    if (left > 0) this.clients.set(client, left);
    else this.clients.delete(client);
  }
}

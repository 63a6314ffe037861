/** One server-sent event as a client sees it. */
export interface SeenEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: { readonly name?: string; readonly revision?: number };
}

/** Reads a watch like an EventSource; `next` waits for the next event that is no heartbeat. */
export class EventReader {
  private readonly stop = new AbortController();
  private text = '';
  heartbeats = 0;

  private constructor(
    readonly response: Response,
    private readonly body: ReadableStreamDefaultReader<Uint8Array>,
    private readonly decoder = new TextDecoder(),
  ) {}

  static async open(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const response = await fetch(url, { headers });
    if (!response.body) throw new Error('no body');
    return new EventReader(response, response.body.getReader());
  }

  /** The next event; undefined when the stream has ended. */
  async next(): Promise<SeenEvent | undefined> {
    for (;;) {
      const end = this.text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.text.slice(0, end);
        this.text = this.text.slice(end + 2);
        if (!block.startsWith(':')) return parse(block);
        this.heartbeats++;
        continue;
      }
      const { done, value } = await this.body.read();
      if (done) return undefined;
      this.text += this.decoder.decode(value, { stream: true });
    }
  }

  /** The next `count` events. */
  async take(count: number): Promise<SeenEvent[]> {
    const seen: SeenEvent[] = [];
    while (seen.length < count) {
      const event = await this.next();
      if (!event) break;
      seen.push(event);
    }
    return seen;
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.body.cancel();
  }
}

function parse(block: string): SeenEvent {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  return {
    event: fields.get('event') ?? 'message',
    id: fields.get('id'),
    data: JSON.parse(fields.get('data') ?? '{}'),
  };
}

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/** Joins calls: one batch runs at a time, and the calls that arrive meanwhile are the next one. */
export class BatchQueue<Input, Output> {
  private readonly waiting: Waiting<Input, Output>[] = [];
  private isRunning = false;

  /** `work` returns an output for each input, in their order; `size`: maximum number of inputs of a batch. */
  constructor(
    private readonly work: (inputs: readonly Input[]) => Promise<readonly Output[]>,
    private readonly size: number,
  ) {}

  /** Resolves with the output of this input; rejects like the work of its batch. */
  add(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    // Calls of one turn of the event loop share a batch.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.runBatch(this.waiting.splice(0, this.size));
    this.isRunning = false;
  }

  private async runBatch(batch: readonly Waiting<Input, Output>[]): Promise<void> {
    try {
      const outputs = await this.work(batch.map(({ input }) => input));
      batch.forEach(({ resolve, reject }, i) => {
        const output = outputs[i];
        if (output === undefined) reject(new Error('a batch has too few results'));
        else resolve(output);
      });
    } catch (error) {
      batch.forEach(({ reject }) => reject(error));
    }
  }
}

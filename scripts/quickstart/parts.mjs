import { Failure } from '../lib/failure.mjs';

/** Parts that end within this time are told of together. */
const TOGETHER_MS = 500;

/** Parts in the order of their needs: the stores of the control planes, the control planes, the traffic. */
export const STAGES = { stores: 0, controlPlanes: 1, traffic: 2 };

/**
 * The processes of the demo by name. One that ends unasked is down until it is started again; the others go on. Until
 * `keepGoing` is called the end of a store or a control plane is a failure: `failed` rejects.
 */
export class Parts {
  failed;
  #fail;
  #parts = new Map();
  #onDown = undefined;
  #news = [];
  #stopping = false;

  constructor() {
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    this.failed.catch(() => {}); // whoever waits for it sees it
  }

  /**
   * Starts a part and resolves with what `launch` gives, a program like `startProgram`'s, or a promise of one.
   * Rejects as `launch` does.
   */
  start(name, launch, { stage }) {
    const part = { name, launch, stage, isDown: true };
    this.#parts.set(name, part);
    return this.#inTurn(part, () => this.#run(part));
  }

  /** From now on no end of a part is a failure; `onDown` gets those that have ended, each as `{ name, words }`. */
  keepGoing(onDown) {
    this.#onDown = onDown;
    if (this.#news.length > 0) this.#tell();
  }

  /** Every part in the order of its start: `{ name, pid, isUp }`. */
  list() {
    return [...this.#parts.values()].map(({ name, program, isDown }) => ({ name, pid: program?.pid, isUp: !isDown }));
  }

  has(name) {
    return this.#parts.has(name);
  }

  /** Starts a part again, also one that is up, and resolves as `start` does; rejects with a Failure where it does not start. */
  restart(name) {
    const part = this.#parts.get(name);
    return this.#inTurn(part, async () => {
      await part.program?.stop(); // also where it has ended: it may have left something behind
      return this.#stopping ? undefined : this.#run(part);
    });
  }

  /** Ends all parts, those of the last stage first. */
  async stop() {
    this.#stopping = true;
    for (const stage of Object.values(STAGES).reverse()) {
      const those = [...this.#parts.values()].filter((part) => part.stage === stage);
      await Promise.all(those.map((part) => this.#inTurn(part, () => part.program?.stop())));
    }
  }

  /** Nobody starts a part while another does, or ends it while it starts. */
  #inTurn(part, work) {
    const before = part.turn ?? Promise.resolve();
    const turn = before.then(work);
    part.turn = turn.catch(() => {}); // whoever asked for it sees it
    return turn;
  }

  async #run(part) {
    part.isDown = true;
    const program = await part.launch();
    Object.assign(part, { program, isDown: false });
    void program.ended.then((words) => {
      if (this.#stopping) return;
      part.isDown = true;
      if (part.stage !== STAGES.traffic && !this.#onDown)
        this.#fail(new Failure(`${part.name} ended by itself ${words}`));
      this.#news.push({ name: part.name, words });
      if (this.#onDown && this.#news.length === 1) setTimeout(() => this.#tell(), TOGETHER_MS).unref();
    });
    return program;
  }

  #tell() {
    const news = this.#news;
    this.#news = [];
    if (!this.#stopping) void this.#onDown(news);
  }
}

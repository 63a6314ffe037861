import { ExhaustedError } from './call-error';

/** A bounded number of streams of one sort at once; more are refused. */
export class ConcurrentStreams {
  private open = 0;

  constructor(
    private readonly most: number,
    /** As in "64 lists are under way". */
    private readonly what: string,
  ) {}

  /** Counts a stream until the returned function is called. Throws ExhaustedError. */
  enter(): () => void {
    if (this.open >= this.most) throw new ExhaustedError(`${this.open} ${this.what} under way; try again`);
    this.open += 1;
    return () => void (this.open -= 1);
  }
}

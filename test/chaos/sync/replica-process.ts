import { ProcessPlane, type PlaneEnvironment } from '../../support/process-plane';

/** A replica that is killed and started again, with the same settings and, on the global, the same port for zones. */
export class ReplicaProcess {
  private current: ProcessPlane | undefined;
  private toEnd: ProcessPlane | undefined;
  /** Answers nothing: stopped, or killed and not started again yet. */
  down = false;
  /** Each time that it ended by itself, with its last output. */
  readonly falls: string[] = [];

  constructor(
    private readonly app: 'global' | 'zone',
    /** Of the control plane. */
    readonly owner: string,
    private env: PlaneEnvironment,
  ) {}

  async start(): Promise<void> {
    const plane = await ProcessPlane.start(this.app, this.owner, this.env);
    this.current = plane;
    void plane.exited.then(() => this.heedEnd(plane));
    if (this.app === 'global') this.env = { ...this.env, CAUSEWAY_KDS_PORT: String(this.kdsPort) };
    this.down = false;
  }

  get restUrl(): string {
    return this.current?.restUrl ?? '';
  }

  /** The process that runs now, or ran last; undefined before the first start. */
  get plane(): ProcessPlane | undefined {
    return this.current;
  }

  /** Its last output, for messages. */
  get lastLines(): readonly string[] {
    return this.current?.lastLines ?? [];
  }

  get kdsPort(): number {
    return Number(this.current?.kdsAddress.split(':')[1]);
  }

  async kill(): Promise<void> {
    this.down = true;
    this.toEnd = this.current;
    await this.current?.kill();
  }

  pause(): void {
    this.down = true;
    this.current?.signal('SIGSTOP');
  }

  resume(): void {
    this.current?.signal('SIGCONT');
    this.down = false;
  }

  async end(): Promise<void> {
    this.toEnd = this.current;
    await this.current?.stop();
  }

  private heedEnd(plane: ProcessPlane): void {
    if (plane !== this.toEnd)
      this.falls.push(`${this.owner} ended by itself: ${plane.lastLines.slice(-5).join(' | ')}`);
  }
}

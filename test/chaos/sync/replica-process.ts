import { ProcessPlane, type PlaneEnvironment } from '../../support/process-plane';

/** A replica that is killed and started again, with the same settings and, on the global, the same port for zones. */
export class ReplicaProcess {
  private current: ProcessPlane | undefined;
  /** Answers nothing: stopped, or killed and not started again yet. */
  down = false;

  constructor(
    private readonly app: 'global' | 'zone',
    /** Of the control plane. */
    readonly owner: string,
    private env: PlaneEnvironment,
  ) {}

  async start(): Promise<void> {
    this.current = await ProcessPlane.start(this.app, this.owner, this.env);
    if (this.app === 'global') this.env = { ...this.env, CAUSEWAY_KDS_PORT: String(this.kdsPort) };
    this.down = false;
  }

  get restUrl(): string {
    return this.current?.restUrl ?? '';
  }

  /** What it said last, for messages. */
  get lastLines(): readonly string[] {
    return this.current?.lastLines ?? [];
  }

  get kdsPort(): number {
    return Number(this.current?.kdsAddress.split(':')[1]);
  }

  async kill(): Promise<void> {
    this.down = true;
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
    await this.current?.stop();
  }
}

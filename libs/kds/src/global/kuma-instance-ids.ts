/**
 * The lives of plain Kuma zones, by the control-plane id in their node metadata: said on one stream and needed on the
 * other (design.md §5 A new life is not a deletion either).
 */
export class KumaInstanceIds {
  private readonly ids = new Map<string, string>();
  private readonly waiting = new Map<string, () => void>();

  of(zone: string): string | undefined {
    return this.ids.get(zone);
  }

  learn(zone: string, life: string): void {
    if (life === '' || this.ids.get(zone) === life) return;
    this.ids.set(zone, life);
    this.waiting.get(zone)?.();
  }

  /** Calls back when the life of a zone is learnt, until the returned function is called. */
  onLearnt(zone: string, learnt: () => void): () => void {
    this.waiting.set(zone, learnt);
    return () => {
      if (this.waiting.get(zone) === learnt) this.waiting.delete(zone);
    };
  }
}

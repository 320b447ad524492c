import { randomUUID } from 'node:crypto';

/**
 * How many changed snitches are remembered for readers that reconnect. If there are more, they must read
 * everything again.
 */
const MOST_REMEMBERED = 200_000;

/**
 * Which snitches changed, in the order of their last changes. The id of an event is the position up to which its reader
 * is up to date. It is valid for one run of the daemon: a reader with an id from another run gets `reset`.
 */
export class ChangeLog {
  #run = randomUUID();
  #position = 0;
  /**
   * By case and token: the position of the last change. The token alone does not do, because a snitch may be deleted in
   * one case and imported into another one, and the readers of both must hear of it.
   */
  readonly #last = new Map<string, { caseId: string; token: string; position: number }>();

  get id(): string {
    return `${this.#run}:${this.#position}`;
  }

  add(caseId: string, token: string): void {
    this.#position += 1;
    const key = `${caseId} ${token}`;
    this.#last.delete(key);
    this.#last.set(key, { caseId, token, position: this.#position });
    if (this.#last.size <= MOST_REMEMBERED) return;
    this.forget();
  }

  /** Every reader must read everything again. */
  forget(): void {
    this.#last.clear();
    this.#run = randomUUID();
  }

  /** The snitches that changed after the event `id`, or null if that is no longer known. */
  since(caseId: string, id: string): string[] | null {
    const [run, position] = id.split(':');
    if (run !== this.#run || !/^\d+$/.test(position ?? '')) return null;
    const changed: string[] = [];
    for (const last of this.#last.values()) {
      if (last.caseId === caseId && last.position > Number(position)) changed.push(last.token);
    }
    return changed;
  }
}

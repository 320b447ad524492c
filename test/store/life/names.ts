/** Names in place of what is random, or differs between the databases: tokens, ids, keys and the numbers of rows. */

/** A token, an id with its kind, an API key, the secret of a webhook, or the hash of a key. */
const RANDOM =
  /\b(?:(case|key|hook|chan|sil|badge|alert)_[a-z2-7]{16}|snk_\w{40}|whsec_[\w+/=]{32}|[0-9a-f]{64}|[a-z2-7]{26})(?!\w)/g;

const KINDS: Readonly<Record<string, string>> = { hook: 'webhook', chan: 'channel', sil: 'silence' };

export class Names {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** The text with everything random replaced. */
  in(text: string): string {
    return text.replace(RANDOM, (found, kind: string | undefined) => this.of(kindOf(found, kind), found));
  }

  /** The name of the row of a kind with this number: they are numbered anew in the order in which they appear. */
  ofRow(kind: string, id: number): string {
    return this.of(kind, `${kind} ${id}`);
  }

  /** Gives the name itself, such as that of a snitch, instead of one made from the kind. */
  give(id: string, name: string): void {
    this.#names.set(id, name);
  }

  of(kind: string, id: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `${kind} ${count}`;
    this.#names.set(id, name);
    return name;
  }
}

function kindOf(found: string, kind: string | undefined): string {
  if (kind !== undefined) return KINDS[kind] ?? kind;
  if (found.startsWith('snk_')) return 'secret key';
  if (found.startsWith('whsec_')) return 'secret';
  return found.length === 64 ? 'hash' : 'snitch';
}

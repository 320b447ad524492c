/** What it takes to make the case be as the file says. */
import type { WireCase, WireCaseSettings, WireImported, WireOwnership, WireSnitch } from '../api/wire.ts';

/** What the server has now. */
export interface Present {
  case: WireCase;
  snitches: readonly WireSnitch[];
  ownership: readonly WireOwnership[];
}

/** What the file wants, as the server understands it. */
export interface Wanted {
  owner: string;
  case: Partial<WireCaseSettings>;
  snitches: readonly WireImported[];
}

export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

export interface SnitchChange {
  token: string;
  name: string;
  fields: FieldChange[];
  /** It was there already, and is kept in the file from now on. */
  adopted: boolean;
}

export interface Plan {
  owner: string;
  case: FieldChange[];
  create: WireImported[];
  change: SnitchChange[];
  /** What an earlier apply of the file kept, and what the file no longer names. */
  gone: WireSnitch[];
  unchanged: number;
  /** What cannot be done, by the position of the snitch in the file. */
  conflicts: { index: number; attribute: string; message: string }[];
}

const FIELDS = ['name', 'interval', 'alert_type', 'alert_email', 'notes', 'tags'] as const;
const CASE_FIELDS = ['name', 'timezone', 'members', 'reminders'] as const;

/**
 * An entry with a token means the snitch that has it. One without means the snitch of its name that the file keeps,
 * else the one of its name that nothing keeps; those of other files are left to them.
 */
export function planOf(present: Present, wanted: Wanted): Plan {
  const plan: Plan = {
    owner: wanted.owner,
    case: differences(CASE_FIELDS, present.case, wanted.case),
    create: [],
    change: [],
    gone: [],
    unchanged: 0,
    conflicts: [],
  };
  const index = new Index(present, wanted);
  const meant = new Set<string>();
  for (const [position, entry] of wanted.snitches.entries()) {
    const found = index.find(entry);
    if (typeof found === 'string') {
      const attribute = entry.token === null ? 'name' : 'token';
      plan.conflicts.push({ index: position, attribute, message: found });
    } else if (found === null) plan.create.push(entry);
    else {
      meant.add(found.token);
      addChange(plan, entry, found, index.ownerOf(found) !== wanted.owner);
    }
  }
  plan.gone = present.snitches.filter(
    (snitch) => index.ownerOf(snitch) === wanted.owner && !meant.has(snitch.token),
  );
  return plan;
}

function addChange(plan: Plan, entry: WireImported, found: WireSnitch, adopted: boolean): void {
  const fields = differences(FIELDS, found, entry);
  if (fields.length === 0 && !adopted) plan.unchanged += 1;
  else plan.change.push({ token: found.token, name: found.name, fields, adopted });
}

class Index {
  readonly #owner: string;
  readonly #owners: Map<string, string>;
  readonly #byToken: Map<string, WireSnitch>;
  readonly #byName: Map<string, WireSnitch[]>;

  constructor({ snitches, ownership }: Present, wanted: Wanted) {
    this.#owner = wanted.owner;
    this.#owners = new Map(ownership.map(({ token, owner }) => [token, owner]));
    this.#byToken = new Map(snitches.map((snitch) => [snitch.token, snitch]));
    const named = new Set(wanted.snitches.map(({ token }) => token));
    const free = snitches.filter(({ token }) => !named.has(token));
    this.#byName = Map.groupBy(free, ({ name }) => name);
  }

  ownerOf({ token }: WireSnitch): string | null {
    return this.#owners.get(token) ?? null;
  }

  /** The snitch that is meant, null for a new one, or what is wrong in words. */
  find({ token, name }: WireImported): WireSnitch | string | null {
    if (token !== null) return this.#withToken(token);
    const candidates = this.#byName.get(name) ?? [];
    for (const owner of [this.#owner, null]) {
      const [first, ...others] = candidates.filter((snitch) => this.ownerOf(snitch) === owner);
      if (first && others.length === 0) return first;
      if (first)
        return `${others.length + 1} snitches have this name: give the token of the one that is meant`;
    }
    return null;
  }

  #withToken(token: string): WireSnitch | string | null {
    const found = this.#byToken.get(token);
    const owner = found ? this.ownerOf(found) : null;
    if (owner === null || owner === this.#owner) return found ?? null;
    return `is kept by another file, whose owner is "${owner}"`;
  }
}

function differences<Field extends string>(
  fields: readonly Field[],
  from: Readonly<Record<Field, unknown>>,
  to: Readonly<Partial<Record<Field, unknown>>>,
): FieldChange[] {
  return fields
    .filter((field) => to[field] !== undefined && JSON.stringify(from[field]) !== JSON.stringify(to[field]))
    .map((field) => ({ field, from: from[field], to: to[field] }));
}

/** Whether an apply would change anything; `prune` tells whether it would delete what is gone from the file. */
export function differs({ case: settings, create, change, gone }: Plan, prune: boolean): boolean {
  return settings.length + create.length + change.length > 0 || (prune && gone.length > 0);
}

/** Works out what has to be done to make the case match the file. */
import type {
  WireCase,
  WireCaseSettings,
  WireImported,
  WireOwnership,
  WireSchedule,
  WireSnitch,
} from '../../api/wire.ts';
import { type ChannelPlan, channelsDiffer } from './channel-plan.ts';
import { differences, type FieldChange } from './field-change.ts';
import { circleIn } from './file-circle.ts';
import { type Met, type NeedsChange, planNeeds } from './file-needs.ts';
import { RUN_FIELDS, watchesRuns } from './run-fields.ts';

/** What the server has now. */
export interface Present {
  case: WireCase;
  snitches: readonly WireSnitch[];
  ownership: readonly WireOwnership[];
}

/** What the file wants, as the server understands it. */
export interface Wanted {
  /** Snitches of this owner are deleted when the file no longer names them; null for none. */
  owner: string | null;
  /** The owner whose snitches the file takes over as if they had none. */
  takeOver: string | null;
  case: Partial<WireCaseSettings>;
  snitches: readonly WantedSnitch[];
}

export interface WantedSnitch extends WireImported {
  /** Null for a snitch that no file keeps. */
  owner: string | null;
  /**
   * Which of these the file itself mentions: the interval, the other fields of when it is due, and those of its runs.
   */
  says?: { interval: boolean; due: boolean; runs: boolean; publicName?: boolean };
  /** What it needs, if the file mentions that. */
  needsNamed?: readonly string[] | undefined;
}

export interface Creation extends Omit<WantedSnitch, 'says' | 'needsNamed'> {
  /** The owner of another snitch with the same name, so that there will be two; null if there is none. */
  beside: string | null;
}

export interface SnitchChange {
  token: string;
  name: string;
  fields: FieldChange[];
  /** Whether a snitch that was there already is kept by `owner` from now on. */
  adopted: boolean;
  owner: string | null;
  /** Sent with the changes, because an interval alone would drop the schedule. */
  keeps?: { schedule: WireSchedule };
  /** Who kept it before; null for nobody. */
  takenFrom: string | null;
}

/** Something in the file that cannot be done. */
export interface Conflict {
  /** The position of the snitch in the file. */
  index: number;
  attribute: string;
  message: string;
  /** The other owner that keeps the snitch; null for any other conflict. */
  keeper: string | null;
}

export interface Plan {
  owner: string | null;
  case: FieldChange[];
  create: Creation[];
  /** By the names of new snitches: the tokens that the file gives for other snitches of the same name. */
  sameNamed: Readonly<Record<string, readonly string[]>>;
  change: SnitchChange[];
  /** Snitches that the file kept when it was last applied, and no longer names. */
  gone: WireSnitch[];
  unchanged: number;
  conflicts: Conflict[];
  /** Changes to what snitches need, which are written last. */
  needs: NeedsChange[];
  /** Null if the file leaves the channels alone. */
  channels: ChannelPlan | null;
  /** The names of snitches with a schedule or a grace that the file does not mention and that they keep. */
  dueElsewhere: string[];
  /** The same for rules about their runs. */
  runsElsewhere: string[];
}

/** These come after the name and the fields of when the job is due. */
const OTHER_FIELDS = ['alert_type', 'alert_email', 'notes', 'tags'] as const;
const CASE_FIELDS = ['name', 'timezone', 'members', 'reminders'] as const;

/**
 * An entry with a token means the snitch that has it. An entry without one means the snitch of its name that its owner
 * keeps, or else the one that nobody keeps. Snitches of other owners are left alone.
 */
export function planOf(present: Present, wanted: Wanted): Plan {
  const plan: Plan = {
    owner: wanted.owner,
    case: differences(CASE_FIELDS, present.case, wanted.case),
    create: [],
    sameNamed: {},
    change: [],
    gone: [],
    unchanged: 0,
    conflicts: [],
    needs: [],
    channels: null,
    dueElsewhere: [],
    runsElsewhere: [],
  };
  const index = new Index(present, wanted);
  const meant = new Set<string>();
  const met: Met[] = [];
  for (const [position, entry] of wanted.snitches.entries()) {
    const found = index.find(entry);
    if (found === null) {
      const { says: _, needsNamed: _named, ...created } = entry;
      const creation = { ...created, beside: index.otherKeeperOf(entry) };
      plan.create.push(creation);
      met.push({ ...metBy(entry, position), is: creation });
    } else if ('message' in found) plan.conflicts.push({ index: position, ...found });
    else {
      meant.add(found.token);
      addChange(plan, entry, found, index.keeperOf(found));
      met.push({ ...metBy(entry, position), is: found });
    }
  }
  addNeeds(plan, present, met);
  plan.sameNamed = sameNamedIn(wanted.snitches, plan.create);
  plan.gone = present.snitches.filter(
    (snitch) => wanted.owner !== null && index.keeperOf(snitch) === wanted.owner && !meant.has(snitch.token),
  );
  return plan;
}

function sameNamedIn(entries: readonly WantedSnitch[], created: readonly Creation[]): Plan['sameNamed'] {
  const names = new Set(created.filter(({ token }) => token === null).map(({ name }) => name));
  const others = entries.filter(({ token, name }) => token !== null && names.has(name));
  const byName = Map.groupBy(others, ({ name }) => name);
  return Object.fromEntries([...byName].map(([name, same]) => [name, same.map(({ token }) => token ?? '')]));
}

function metBy({ needsNamed: needs, name, tags, token }: WantedSnitch, position: number) {
  return { position, needs, name, tags, token };
}

/** Shows what snitches need among their changes; it is written once everything that they name exists. */
function addNeeds(plan: Plan, { snitches, ownership }: Present, met: readonly Met[]): void {
  const { changes, faults, refs } = planNeeds(snitches, met);
  const circle = faults.length === 0 ? circleIn(snitches, met, refs) : null;
  if (circle) faults.push(circle);
  const owners = new Map(ownership.map(({ token, owner }) => [token, owner]));
  for (const { position, message } of faults) {
    plan.conflicts.push({ index: position, attribute: 'needs', message, keeper: null });
  }
  for (const { of, needs, from, to } of changes) {
    if ('beside' in of) {
      of.needs = to;
      plan.needs.push({ of, needs });
      continue;
    }
    plan.needs.push({ of: of.token, needs });
    const field = { field: NEEDS, from, to };
    const change = plan.change.find(({ token }) => token === of.token);
    if (change) change.fields.push(field);
    else {
      const owner = owners.get(of.token) ?? null;
      const { token, name } = of;
      plan.change.push({ token, name, fields: [field], adopted: false, owner, takenFrom: null });
      plan.unchanged -= 1;
    }
  }
}

/** The one field whose change is not sent with the others. */
export const NEEDS = 'needs';

function addChange(plan: Plan, entry: WantedSnitch, found: WireSnitch, keeper: string | null): void {
  const { owner } = entry;
  const fields = [
    ...differences(['name'], found, entry),
    ...(entry.says?.publicName === false ? [] : differences(['public_name'], found, entry)),
    ...dueDifferences(found, entry),
    ...(entry.says?.runs === false ? [] : differences(RUN_FIELDS, found, entry)),
    ...differences(OTHER_FIELDS, found, entry),
  ];
  if (entry.says?.due === false && (found.schedule || found.grace)) plan.dueElsewhere.push(found.name);
  if (entry.says?.runs === false && watchesRuns(found)) plan.runsElsewhere.push(found.name);
  const adopted = owner !== null && keeper !== owner;
  if (fields.length === 0 && !adopted) plan.unchanged += 1;
  else {
    const takenFrom = adopted ? keeper : null;
    const keeps = kept(found, fields);
    plan.change.push({ token: found.token, name: found.name, fields, adopted, owner, takenFrom, ...keeps });
  }
}

/**
 * An entry that names none of the fields of when a job is due leaves them as they are: it may be from before they
 * existed, and its interval must not drop a schedule by accident. The interval that follows from a schedule changes
 * over time, so it counts only if the file names it.
 */
function dueDifferences(found: WireSnitch, entry: WantedSnitch): FieldChange[] {
  const { says = { interval: true, due: true, runs: true } } = entry;
  if (!says.due) return found.schedule ? [] : differences(['interval'], found, entry);
  const fields = ['schedule', 'timezone', 'grace'] as const;
  return differences(says.interval ? ['interval', ...fields] : fields, found, entry);
}

function kept({ schedule }: WireSnitch, fields: readonly FieldChange[]): Pick<SnitchChange, 'keeps'> {
  const changed = new Set(fields.map(({ field }) => field));
  return schedule && changed.has('interval') && !changed.has('schedule') ? { keeps: { schedule } } : {};
}

type Fault = Omit<Conflict, 'index'>;

class Index {
  readonly #takeOver: string | null;
  readonly #owners: Map<string, string>;
  readonly #byToken: Map<string, WireSnitch>;
  readonly #byName: Map<string, WireSnitch[]>;

  constructor({ snitches, ownership }: Present, wanted: Wanted) {
    this.#takeOver = wanted.takeOver;
    this.#owners = new Map(ownership.map(({ token, owner }) => [token, owner]));
    this.#byToken = new Map(snitches.map((snitch) => [snitch.token, snitch]));
    const named = new Set(wanted.snitches.map(({ token }) => token));
    const free = snitches.filter(({ token }) => !named.has(token));
    this.#byName = Map.groupBy(free, ({ name }) => name);
  }

  keeperOf({ token }: WireSnitch): string | null {
    return this.#owners.get(token) ?? null;
  }

  /** The snitch that is meant, null if it has to be made, or what is wrong. */
  find({ token, name, owner }: WantedSnitch): WireSnitch | Fault | null {
    if (token !== null) return this.#withToken(token, owner);
    const candidates = this.#byName.get(name) ?? [];
    for (const keeper of owner === null ? [null] : [owner, null]) {
      const [first, ...others] = candidates.filter((snitch) => this.#inTheWay(snitch) === keeper);
      if (first && others.length === 0) return first;
      if (first) {
        const message = `${others.length + 1} snitches have this name: give the token of the one you mean`;
        return { attribute: 'name', message, keeper: null };
      }
    }
    return null;
  }

  /** Who else keeps a snitch of this name. */
  otherKeeperOf({ name }: WantedSnitch): string | null {
    const [first] = this.#byName.get(name) ?? [];
    return first ? this.keeperOf(first) : null;
  }

  #withToken(token: string, owner: string | null): WireSnitch | Fault | null {
    const found = this.#byToken.get(token);
    const keeper = found ? this.#inTheWay(found) : null;
    if (keeper === null || keeper === owner) return found ?? null;
    const message = `is kept by another file, whose owner is "${keeper}"`;
    return { attribute: 'token', message, keeper };
  }

  /** The owner that keeps the snitch, unless the file takes over what that owner has. */
  #inTheWay(snitch: WireSnitch): string | null {
    const keeper = this.keeperOf(snitch);
    return keeper === this.#takeOver ? null : keeper;
  }
}

/** Whether applying would change anything. With `prune` it deletes what is gone from the file. */
export function differs(plan: Plan, prune: boolean): boolean {
  const { case: settings, create, change, gone, channels } = plan;
  const isChanged = settings.length + create.length + change.length > 0 || (prune && gone.length > 0);
  return isChanged || (channels !== null && channelsDiffer(channels, prune));
}

/** Whether an apply sends secrets. Only the server knows whether they differ from those it has. */
export function sendsSecrets({ channels }: Plan): boolean {
  return channels?.change.some(({ secretFiles }) => Object.keys(secretFiles).length > 0) ?? false;
}

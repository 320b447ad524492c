/** The cases and snitches of a random life, and what can be chosen from them. */
import type { Case, CaseSettings } from '../../../src/core/case.ts';
import type { SnitchFields } from '../../../src/core/snitch.ts';
import { randomSnitch } from './choices.ts';
import type { World } from './world.ts';

export interface Known {
  token: string;
  caseId: string;
}

/** Names of snitches in the order in which they are made: an id or a token in the text is more than anybody can read. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** What no store has. */
const NOBODY: Known = { token: 'a'.repeat(26), caseId: `case_${'a'.repeat(16)}` };

export class Team {
  readonly world: World;
  readonly cases: string[] = [];
  /** Those that were deleted: what was decided before is still sent. */
  readonly formerCases: string[] = [];
  readonly snitches: Known[] = [];
  #made = 0;

  constructor(world: World) {
    this.world = world;
  }

  async makeCase(settings: Partial<CaseSettings> = {}): Promise<Case | null> {
    const { world } = this;
    const made = await world.ask(
      'createCase',
      {
        name: `Case ${this.cases.length + 1}`,
        timezone: 'UTC',
        members: ['ann@x.org', 'bob@x.org'],
        reminders: 'period',
        errorNotices: true,
        maxSnitches: null,
        onHold: false,
        ...settings,
      },
      world.now,
    );
    if (made) this.cases.push(made.id);
    return made;
  }

  /** @param fields on top of random ones */
  async makeSnitch(caseId: string, fields: Partial<SnitchFields> = {}): Promise<string | null> {
    const { world } = this;
    const wanted = { ...randomSnitch(world.dice, this.tokensOf(caseId)), name: this.#nextName(), ...fields };
    const made = await world.askFor(wanted.name, 'createSnitch', caseId, wanted, world.now);
    if (made) this.add({ token: made.token, caseId });
    return made?.token ?? null;
  }

  /** A name that no other snitch was given. */
  #nextName(): string {
    const count = this.#made;
    this.#made += 1;
    return `${LETTERS[count % LETTERS.length]}${Math.floor(count / LETTERS.length) || ''}`;
  }

  add(snitch: Known): void {
    if (!this.snitches.some(({ token }) => token === snitch.token)) this.snitches.push(snitch);
  }

  remove(tokens: readonly string[]): void {
    for (const token of tokens) {
      const index = this.snitches.findIndex((one) => one.token === token);
      if (index >= 0) this.snitches.splice(index, 1);
    }
  }

  tokensOf(caseId: string): string[] {
    return this.snitches.filter((one) => one.caseId === caseId).map(({ token }) => token);
  }

  someCase(): string {
    return this.cases.length > 0 ? this.world.dice.oneOf(this.cases) : NOBODY.caseId;
  }

  /** Seldom one that its case does not have. */
  someSnitch(): Known {
    const { dice } = this.world;
    const known =
      this.snitches.length > 0 ? dice.oneOf(this.snitches) : { ...NOBODY, caseId: this.someCase() };
    return dice.isHit(0.04) ? { ...known, caseId: this.someCase() } : known;
  }
}

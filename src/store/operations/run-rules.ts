/** What a run must look like, as the row of a snitch stores it: one column, which is null for most. */
import { ANY_RUN, isSameRules, type RunRules } from '../../core/judgement/rules.ts';

/** The same snitches check in again and again, and parsing JSON costs more than looking it up. */
const READ = new Map<string, RunRules>();
const REMEMBERED = 4_000;

export function rulesIn(text: string | null): RunRules {
  if (text === null) return ANY_RUN;
  const known = READ.get(text);
  if (known) return known;
  const rules = Object.freeze({ ...ANY_RUN, ...(JSON.parse(text) as Partial<RunRules>) });
  if (READ.size >= REMEMBERED) READ.clear();
  READ.set(text, rules);
  return rules;
}

export function rulesText({ minRuntime, failuresBeforeAlert, expect }: RunRules): string | null {
  const rules = { minRuntime, failuresBeforeAlert, expect };
  return isSameRules(rules, ANY_RUN) ? null : JSON.stringify(rules);
}
